import type { Writable } from 'node:stream';

const COLOURS: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 };

/** Turns the logger's JSON lines into lines for people: `12:00:01.123 info  run finished  runId=r1 execMs=12`. */
export class PrettyStream {
  constructor(
    private readonly output: Pick<Writable, 'write'>,
    private readonly isColoured: boolean,
  ) {}

  write(line: string): void {
    this.output.write(this.format(line));
  }

  private format(line: string): string {
    const { level, time, msg, error, ...fields } = JSON.parse(line) as Record<string, unknown>;
    const word = String(level);
    const head = `${this.paint(String(time).slice(11, 23), 90)} ${this.paint(word.padEnd(5), COLOURS[word] ?? 0)} ${String(msg)}`;
    const pairs = Object.entries(fields).map(([name, value]) => `${this.paint(`${name}=`, 90)}${shown(value)}`);
    return `${[head, pairs.join(' ')].filter((part) => part !== '').join('  ')}\n${errorLines(error)}`;
  }

  private paint(text: string, colour: number): string {
    return this.isColoured ? `\u001B[${colour}m${text}\u001B[0m` : text;
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** The stack of an error and of its causes, indented. */
function errorLines(error: unknown): string {
  if (error === undefined) return '';
  if (typeof error !== 'object' || error === null) return `    ${JSON.stringify(error)}\n`;
  const { stack, message, cause } = error as Record<string, unknown>;
  const text = typeof stack === 'string' ? stack : typeof message === 'string' ? message : JSON.stringify(error);
  const own = text
    .split('\n')
    .map((line) => `    ${line}\n`)
    .join('');
  return cause === undefined ? own : `${own}    caused by\n${errorLines(cause)}`;
}
