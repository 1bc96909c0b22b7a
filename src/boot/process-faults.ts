import type { Logger } from '../observability/logger.js';

/** How long the runs of a process may take to be handed back after an exception that nobody caught, milliseconds. */
const HAND_BACK_MS = 5000;

/**
 * Errors that reach nobody. A rejected promise is told to the log, and the process goes on. After an exception nobody
 * knows in what state the process is: it hands its runs back and ends with exit code 1.
 */
export class ProcessFaults {
  private isEnding = false;

  /** @param handBack stops claiming and gives every run away at once */
  constructor(
    private readonly handBack: () => Promise<void>,
    private readonly logger: Logger,
    private readonly exit: () => void = () => process.exit(),
  ) {}

  watch(): void {
    process.on('unhandledRejection', (error) => this.rejected(error));
    process.on('uncaughtException', (error) => void this.thrown(error));
  }

  rejected(error: unknown): void {
    this.logger.error('a promise was rejected and nobody looked', { error });
  }

  /** Resolves once the process was told to end. */
  async thrown(error: unknown): Promise<void> {
    // what follows from the first one, and what the log itself throws, must not go round in a circle
    if (this.isEnding) return;
    this.isEnding = true;
    process.exitCode = 1;
    const limit = setTimeout(() => this.exit(), HAND_BACK_MS);
    try {
      this.logger.error('an exception was not caught: runs are handed back, and the process ends', { error });
      await this.handBack();
    } catch (failure) {
      this.logger.error('runs could not be handed back', { error: failure });
    } finally {
      clearTimeout(limit);
      this.exit();
    }
  }
}
