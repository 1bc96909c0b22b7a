import type { EngineEvent } from '../../events/harness-event.js';
import { EventLog } from '../ports/event-log.port.js';
import type { HeldRun } from './held-runs.js';

const MAX_WAITING_BYTES = 64 * 1024;

/** What a waiting event counts beside its text, bytes. */
const EVENT_BYTES = 256;

/**
 * After these nothing happens outside that could not be repeated: the engine goes on while they are written. Any
 * other event is durable first: a tool starts after its `tool_call_start`, and with it all that came before.
 */
const MAY_WAIT: ReadonlySet<EngineEvent['type']> = new Set([
  'run_start',
  'context_size',
  'reason_start',
  'reason_delta',
  'reason_end',
  'action_start',
  'action_end',
]);

/** Writes an executor's events into the log in their order; up to 64 KiB may be on their way there. */
export class RunWriter {
  private waitingBytes = 0;
  private newest: Promise<void> = Promise.resolve();
  private failure: { readonly error: unknown } | undefined;
  private text = '';
  private isNewAnswer = true;

  constructor(
    private readonly log: EventLog,
    private readonly held: HeldRun,
  ) {}

  /** The newest text that the model said, whole or partial: a failed run keeps it. */
  get lastText(): string {
    return this.text;
  }

  /** @throws what the log refused, this event or one before it */
  async write(event: EngineEvent): Promise<void> {
    if (this.failure !== undefined) throw this.failure.error;
    this.follow(event);
    const bytes = EVENT_BYTES + ('text' in event && event.text !== undefined ? Buffer.byteLength(event.text) : 0);
    this.waitingBytes += bytes;
    this.newest = this.log.append(this.held.lease, event).then(
      () => {
        this.waitingBytes -= bytes;
      },
      (error: unknown) => this.refused(error),
    );
    if (!MAY_WAIT.has(event.type) || this.waitingBytes > MAX_WAITING_BYTES) await this.settled();
  }

  /**
   * Resolves when every event written so far is durable.
   * @throws what the log refused
   */
  async settled(): Promise<void> {
    await this.newest;
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** Nothing later of the run may count: whoever executes it stops at once. */
  private refused(error: unknown): void {
    this.failure ??= { error };
    this.held.abort(error);
  }

  private follow(event: EngineEvent): void {
    if (event.parent !== undefined) return;
    if (event.type === 'reason_start') {
      this.isNewAnswer = true;
    } else if (event.type === 'reason_delta' && event.kind === 'text') {
      this.text = (this.isNewAnswer ? '' : this.text) + (event.text ?? '');
      this.isNewAnswer = false;
    } else if (event.type === 'reason_end' && event.text !== '') {
      this.text = event.text;
    }
  }
}
