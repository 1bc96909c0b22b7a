import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger as Pino } from 'pino';
import type { Config } from '../config/config.js';
import { secretsOf } from '../config/printable.js';
import { Logger, type LogFields } from './logger.js';
import { PrettyStream } from './pretty-stream.js';
import { Redactor } from './redaction.js';

/** The logger of the server: JSON lines, or lines for people on a terminal. */
export class PinoLogger extends Logger {
  private constructor(
    private readonly pino: Pino,
    private readonly redactor: Redactor,
  ) {
    super();
  }

  /** @param output default: the standard output */
  static create(config: Config, output: DestinationStream = standardOutput(config)): PinoLogger {
    const logger = pino(
      {
        level: config.log.level,
        base: null,
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (level) => ({ level }) },
      },
      output,
    );
    return new PinoLogger(logger, new Redactor(secretsOf(config)));
  }

  debug(message: string, fields: LogFields = {}): void {
    this.write('debug', message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.write('info', message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.write('warn', message, fields);
  }

  error(message: string, fields: LogFields = {}): void {
    this.write('error', message, fields);
  }

  child(fields: LogFields): PinoLogger {
    return new PinoLogger(this.pino.child(this.redactor.fields(fields)), this.redactor);
  }

  private write(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: LogFields): void {
    if (!this.pino.isLevelEnabled(level)) return;
    this.pino[level](this.redactor.fields(fields), this.redactor.text(message));
  }
}

function standardOutput(config: Config): DestinationStream {
  const isTerminal = process.stdout.isTTY === true;
  const { format } = config.log;
  if (format === 'json' || (format === 'auto' && !isTerminal)) return destination(1);
  return new PrettyStream(process.stdout, isTerminal && process.env['NO_COLOR'] === undefined);
}
