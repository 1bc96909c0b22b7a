import { readFileSync } from 'node:fs';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly httpVersion?: string;
}

/** What the wire said: only the parts that are compared. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly frames?: readonly string[];
}

export interface StoredBody {
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** One recorded exchange with the peer, values that change replaced by placeholders. */
export interface Recording {
  readonly id: string;
  /** How the peer was started; absent = its plain start. */
  readonly needs?: string;
  /** Long prose of the peer was cut out: `<…>` stands for any text. */
  readonly masked?: boolean;
  /** Timing decides what was sent: judged by assertions of its own. */
  readonly racing?: boolean;
  readonly setup?: readonly RecordedRequest[];
  readonly request: RecordedRequest;
  readonly expect: Answer & {
    /** Frames in the middle were left out. */
    readonly omitted?: boolean;
    /** The body is longer than what is kept. */
    readonly cut?: boolean;
  };
  readonly stored?: readonly StoredBody[];
}

const FOLDER = new URL('../../wire/adk/', import.meta.url);

const readJson = (name: string): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'));

export const readArea = (area: string): readonly Recording[] =>
  readJson(`recordings/${area}.json`) as readonly Recording[];

/** Cases that wait for a feature: case id → feature. */
export const readNotYet = (): Readonly<Record<string, string>> =>
  readJson('not-yet.json') as Readonly<Record<string, string>>;
