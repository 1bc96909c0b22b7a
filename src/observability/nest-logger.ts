import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/** What the framework says while it wires itself up; of interest only to who debugs the wiring. */
const WIRING: ReadonlySet<string> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'NestMicroservice',
  'RouterExplorer',
  'RoutesResolver',
]);

/** Lets Nest log through our logger: `app.useLogger(new NestLogger(logger))`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    const context = contextOf(rest);
    this.logger[WIRING.has(context ?? '') ? 'debug' : 'info'](textOf(message), { context });
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn(textOf(message), { context: contextOf(rest) });
  }

  /** Nest calls it with an error, or with a text and a stack. */
  error(message: unknown, ...rest: unknown[]): void {
    const [stack] = rest.length > 1 || looksLikeStack(rest[0]) ? rest : [];
    const error = message instanceof Error ? message : stack;
    this.logger.error(textOf(message), { context: contextOf(rest), error });
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.error(message, ...rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(textOf(message), { context: contextOf(rest) });
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.debug(message, ...rest);
  }
}

/** The context, a class name, is the last thing Nest passes. */
function contextOf(rest: readonly unknown[]): string | undefined {
  const last = rest.at(-1);
  return typeof last === 'string' && !looksLikeStack(last) ? last : undefined;
}

function looksLikeStack(value: unknown): boolean {
  return typeof value === 'string' && /\n\s+at /.test(value);
}

function textOf(message: unknown): string {
  if (message instanceof Error) return message.message;
  return typeof message === 'string' ? message : JSON.stringify(message);
}
