import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Worker as Thread } from 'node:worker_threads';
import type { Worker } from 'tesseract.js';
import { abortable, pause } from '../../../common/abort.js';
import { readingOf } from './ocr-lines.js';
import { TextReader, type TextReading } from './text-reader.port.js';

const LANGUAGES = ['eng', 'chi_sim'] as const;
/** The edges between which letters are read best, pixels. */
const SMALL_EDGE = 800;
const LARGE_EDGE = 2000;

const require = createRequire(import.meta.url);

export interface TesseractReaderOptions {
  /** For one picture, the engine's start included; milliseconds, default 20,000. */
  readonly limitMs?: number;
  /** Finds a package's `package.json`; throws when it is not installed. */
  readonly resolve?: (packageName: string) => string;
}

/**
 * Reads English and simplified Chinese with Tesseract, on a thread of its own that starts with the first picture.
 * Pictures are read one after another; nothing is fetched from a network.
 */
export class TesseractReader extends TextReader {
  private readonly limitMs: number;
  private readonly resolve: (packageName: string) => string;
  private engine: Promise<Engine> | undefined;
  private ending: Promise<unknown> = Promise.resolve();
  private last: Promise<unknown> = Promise.resolve();

  constructor(options: TesseractReaderOptions = {}) {
    super();
    this.limitMs = options.limitMs ?? 20_000;
    this.resolve = options.resolve ?? ((name) => require.resolve(`${name}/package.json`));
  }

  async read(bytes: Uint8Array, signal: AbortSignal): Promise<TextReading> {
    const missing = ['tesseract.js', ...LANGUAGES.map(dataPackage)].filter((name) => !this.isInstalled(name));
    if (missing.length > 0) return { outcome: 'not_installed', packages: missing };
    const reading = this.last.then(() => this.readNow(bytes, signal));
    this.last = reading.catch(() => undefined);
    return abortable(reading, signal);
  }

  async close(): Promise<void> {
    this.discard();
    await this.ending;
  }

  /** Ends the engine and its thread; the next picture starts another. */
  private discard(): void {
    const { engine } = this;
    this.engine = undefined;
    const end = async (): Promise<unknown> => (await engine)?.thread.terminate();
    this.ending = Promise.allSettled([this.ending, end()]);
  }

  private isInstalled(name: string): boolean {
    try {
      return this.resolve(name) !== '';
    } catch {
      return false;
    }
  }

  /** An engine that does not answer in time, or that nobody waits for, is thrown away with its thread. */
  private async readNow(bytes: Uint8Array, signal: AbortSignal): Promise<TextReading> {
    const enough = new AbortController();
    const tooSlow = pause(this.limitMs, AbortSignal.any([signal, enough.signal])).then(
      () => ({ outcome: 'too_slow', limitMs: this.limitMs }) as const,
    );
    try {
      const reading = await Promise.race([this.recognize(bytes), tooSlow]);
      if (reading.outcome === 'too_slow') this.discard();
      return reading;
    } catch {
      this.discard();
      signal.throwIfAborted();
      return { outcome: 'failed' };
    } finally {
      enough.abort();
      tooSlow.catch(() => undefined);
    }
  }

  private async recognize(bytes: Uint8Array): Promise<TextReading> {
    const [picture, { worker }] = await Promise.all([prepare(bytes), this.start()]);
    const { data } = await worker.recognize(picture, {}, { text: false, blocks: true });
    const lines = (data.blocks ?? []).flatMap((block) => block.paragraphs.flatMap((paragraph) => paragraph.lines));
    return readingOf(lines.map((line) => line.words));
  }

  private start(): Promise<Engine> {
    this.engine ??= startEngine((name) => dirname(this.resolve(name)));
    return this.engine;
  }
}

interface Engine {
  readonly worker: Worker;
  /** Ended directly: after the worker's own `terminate`, a job on its way would fail where nobody can catch it. */
  readonly thread: Thread;
}

const dataPackage = (language: string): string => `@tesseract.js-data/${language}`;

/** Tesseract looks for all languages in one folder, but each comes as a package of its own. */
async function startEngine(folderOf: (packageName: string) => string): Promise<Engine> {
  const { createWorker, OEM } = await import('tesseract.js').then(({ default: module }) => module);
  const folder = await mkdtemp(join(tmpdir(), 'bridle-ocr-'));
  try {
    for (const language of LANGUAGES) {
      const file = `${language}.traineddata.gz`;
      await copyFile(join(folderOf(dataPackage(language)), '4.0.0_best_int', file), join(folder, file));
    }
    const worker = await createWorker([...LANGUAGES], OEM.LSTM_ONLY, {
      langPath: folder,
      cacheMethod: 'none',
      gzip: true,
      // Without it, a failing job throws out of a message handler and ends the process.
      errorHandler: () => undefined,
    });
    // The types leave the thread out.
    const { worker: thread } = worker as unknown as { readonly worker: Thread };
    thread.unref();
    // A thread that dies ends no process: its picture runs into the time limit.
    thread.on('error', () => undefined);
    return { worker, thread };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Dark letters on white, at a size that reads well. */
async function prepare(bytes: Uint8Array): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const picture = sharp(bytes).autoOrient().flatten({ background: '#ffffff' }).greyscale();
  const { width, height } = await sharp(bytes).metadata();
  const longest = Math.max(width, height);
  const edge = longest < SMALL_EDGE ? longest * 2 : Math.min(longest, LARGE_EDGE);
  return picture.resize({ width: edge, height: edge, fit: 'inside' }).png({ compressionLevel: 1 }).toBuffer();
}
