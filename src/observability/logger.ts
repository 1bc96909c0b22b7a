/** Facts of one log line; times and sizes carry their unit in the name. `error` takes any thrown value. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line per fact. Secrets never reach a line, whatever the fields hold. */
export abstract class Logger {
  abstract debug(message: string, fields?: LogFields): void;
  abstract info(message: string, fields?: LogFields): void;
  abstract warn(message: string, fields?: LogFields): void;
  abstract error(message: string, fields?: LogFields): void;
  /** A logger whose lines all carry these fields too: `logger.child({ runId, traceId })`. */
  abstract child(fields: LogFields): Logger;
}
