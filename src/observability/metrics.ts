import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Reads a number at the moment of a scrape. */
type Reading = () => number | Promise<number>;

const RUN_STATUSES = [
  'queued',
  'running',
  'waiting_input',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const;

/** The figures of this process in Prometheus' format. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly runs: Counter<'status'>;
  private readonly commitRows: Histogram;
  private readonly commitSeconds: Histogram;
  private readonly fencedWrites: Counter;
  private readonly tokens: Counter<'direction'>;
  private readQueueDepth: Reading = () => 0;
  private readOpenObservers: Reading = () => 0;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.runs = new Counter({
      name: 'bridle_runs',
      help: 'Runs that entered a status, counted by the process that wrote it',
      labelNames: ['status'],
      registers,
    });
    this.commitRows = new Histogram({
      name: 'bridle_commit_rows',
      help: 'Events written by one commit of the event log',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
      registers,
    });
    this.commitSeconds = new Histogram({
      name: 'bridle_commit_seconds',
      help: 'Duration of one commit of the event log',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    });
    this.fencedWrites = new Counter({
      name: 'bridle_fenced_writes_total',
      help: 'Writes refused because another worker holds the run',
      registers,
    });
    this.tokens = new Counter({
      name: 'bridle_tokens_total',
      help: 'Tokens of model calls, as the provider counts them',
      labelNames: ['direction'],
      registers,
    });
    this.addReadings();
    // A series that is there from the start makes rates right from the first event on.
    for (const status of RUN_STATUSES) this.runs.inc({ status }, 0);
    for (const direction of ['input', 'output', 'cached']) this.tokens.inc({ direction }, 0);
  }

  /** A run entered the status; called after the commit that says so. */
  runEntered(status: (typeof RUN_STATUSES)[number]): void {
    this.runs.inc({ status });
  }

  /** The event log committed once. */
  committed(rows: number, durationMs: number): void {
    this.commitRows.observe(rows);
    this.commitSeconds.observe(durationMs / 1000);
  }

  /** A write was refused because its run has a new owner. */
  fenced(): void {
    this.fencedWrites.inc();
  }

  /** Tokens of one model call; `cached` is a part of `input`. */
  tokensUsed(counts: { readonly input: number; readonly output: number; readonly cached: number }): void {
    this.tokens.inc({ direction: 'input' }, counts.input);
    this.tokens.inc({ direction: 'output' }, counts.output);
    this.tokens.inc({ direction: 'cached' }, counts.cached);
  }

  /** Says how many runs wait for a worker; asked at each scrape. */
  observeQueueDepth(read: Reading): void {
    this.readQueueDepth = read;
  }

  /** Says how many streams are open; asked at each scrape. */
  observeOpenObservers(read: Reading): void {
    this.readOpenObservers = read;
  }

  private addReadings(): void {
    const add = (name: string, help: string, read: Reading): void => {
      new Gauge({
        name,
        help,
        registers: [this.registry],
        async collect() {
          try {
            this.set(await read());
          } catch {
            // A figure that cannot be read now is left out; it must not cost the others.
            this.remove();
          }
        },
      });
    };
    add('bridle_queue_depth', 'Runs that wait for a worker', () => this.readQueueDepth());
    add('bridle_open_observers', 'Open event streams of this process', () => this.readOpenObservers());
  }
}
