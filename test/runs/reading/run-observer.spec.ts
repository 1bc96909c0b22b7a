import type { LoggedEvent } from '../../../src/events/projection.js';
import type { RunHint } from '../../../src/runs/ports/run-hints.port.js';
import { RunObserver } from '../../../src/runs/reading/run-observer.js';
import { turns } from '../../support/core.js';
import { flat } from '../../support/flat.js';

const LIMITS = { maxQueuedEvents: 100, maxQueuedBytes: 100_000 };

const event = (seq: number, type = 'reason_delta', text = ''): LoggedEvent =>
  ({ type, seq, text, runId: 'r1' }) as unknown as LoggedEvent;

/** A log and its hints in the hands of the test. */
class Source {
  readonly log: LoggedEvent[] = [];
  readonly reads: number[] = [];
  readonly listeners = new Set<(hint: RunHint) => void>();
  /** What a read sees is taken when it begins; it answers when this resolves. */
  delay: Promise<void> = Promise.resolve();

  watch = (_runId: string, listener: (hint: RunHint) => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = async (_runId: string, after: number, limit: number): Promise<readonly LoggedEvent[]> => {
    this.reads.push(after);
    const seen = this.log.filter((each) => each.seq > after).slice(0, limit);
    await this.delay;
    return seen;
  };

  /** Commits events; tells the observers, with or without the events themselves. */
  commit(events: readonly LoggedEvent[], tell: 'events' | 'seq' | 'nobody' = 'events'): void {
    this.log.push(...events);
    if (tell === 'nobody') return;
    this.hint(events, tell);
  }

  hint(events: readonly LoggedEvent[], tell: 'events' | 'seq' = 'events'): void {
    const seq = events.at(-1)!.seq;
    for (const listener of this.listeners) listener({ runId: 'r1', seq, ...(tell === 'events' ? { events } : {}) });
  }
}

/** Follows a run in the background. */
function follow(source: Source, after = 0, limits = LIMITS) {
  const abort = new AbortController();
  const got: number[] = [];
  let isOver = false;
  let error: unknown;
  const done = (async () => {
    for await (const each of flat(new RunObserver(source, 'r1', after, limits).pieces(abort.signal)))
      got.push(each.seq);
  })().then(
    () => (isOver = true),
    (thrown: unknown) => (error = thrown),
  );
  return {
    got,
    abort,
    done,
    get isOver() {
      return isOver;
    },
    get error() {
      return error;
    },
  };
}

describe('RunObserver', () => {
  it('replays stored events before live ones, and ends after the terminal one', async () => {
    const source = new Source();
    source.commit([event(1), event(2)], 'nobody');
    const observer = follow(source);
    await turns();
    source.commit([event(3)]);
    await turns();
    source.commit([event(4, 'run_completed')]);
    await observer.done;
    expect(observer.got).toEqual([1, 2, 3, 4]);
    expect(source.reads).toEqual([0]);
    expect(source.listeners.size).toBe(0);
  });

  it('begins behind its cursor', async () => {
    const source = new Source();
    source.commit([event(1), event(2), event(3, 'run_failed')], 'nobody');
    const observer = follow(source, 1);
    await observer.done;
    expect(observer.got).toEqual([2, 3]);
  });

  it('holds what comes while it reads the log', async () => {
    const source = new Source();
    let answer = (): void => undefined;
    source.delay = new Promise((resolve) => (answer = resolve));
    source.commit([event(1)], 'nobody');
    const observer = follow(source);
    await turns();
    source.commit([event(2)]);
    source.commit([event(3, 'run_completed')]);
    expect(observer.got).toEqual([]);
    answer();
    await observer.done;
    expect(observer.got).toEqual([1, 2, 3]);
    expect(source.reads).toEqual([0]);
  });

  it('drops what it has, and fetches what a hint without events or a gap tells of', async () => {
    const source = new Source();
    const observer = follow(source);
    await turns();
    source.commit([event(1)]);
    source.hint([event(1)]);
    source.hint([event(1)], 'seq');
    source.commit([event(2)], 'seq');
    await turns();
    source.commit([event(3)], 'nobody');
    source.commit([event(4)]);
    await turns();
    source.hint([event(3)]);
    source.commit([event(5, 'run_completed')]);
    await observer.done;
    expect(observer.got).toEqual([1, 2, 3, 4, 5]);
    expect(source.reads.length).toBeLessThanOrEqual(4);
  });

  it.each([
    ['events', { maxQueuedEvents: 3, maxQueuedBytes: 1_000_000 }],
    ['bytes', { maxQueuedEvents: 1000, maxQueuedBytes: 1000 }],
  ])('keeps a bounded number of %s for a slow reader, and reads the rest from the log', async (_what, limits) => {
    const source = new Source();
    const abort = new AbortController();
    const observer = new RunObserver(source, 'r1', 0, limits);
    const events = flat(observer.pieces(abort.signal));
    const first = events.next();
    await turns();
    source.commit([event(1)]);
    expect((await first).value).toMatchObject({ seq: 1 });
    for (let seq = 2; seq <= 300; seq += 1) source.commit([event(seq, 'reason_delta', 'x'.repeat(50))]);
    source.commit([event(301, 'run_completed')]);
    expect((observer as unknown as { held: unknown[] }).held.length).toBeLessThanOrEqual(4);
    const rest: number[] = [];
    for await (const each of events) rest.push(each.seq);
    expect(rest).toEqual(Array.from({ length: 300 }, (_unused, index) => index + 2));
  });

  it('reads a long log page by page', async () => {
    const source = new Source();
    source.commit(
      Array.from({ length: 600 }, (_unused, index) => event(index + 1)),
      'nobody',
    );
    source.commit([event(601, 'run_completed')], 'nobody');
    const observer = follow(source);
    await observer.done;
    expect(observer.got).toHaveLength(601);
    expect(source.reads).toEqual([0, 256, 512]);
  });

  it('ends at once when its signal aborts, waiting or not', async () => {
    const source = new Source();
    const waiting = follow(source);
    const gone = follow(source);
    gone.abort.abort();
    await turns();
    waiting.abort.abort();
    await Promise.all([waiting.done, gone.done]);
    expect([waiting.isOver, gone.isOver]).toEqual([true, true]);
    expect(source.listeners.size).toBe(0);
    source.commit([event(1)]);
    expect(waiting.got).toEqual([]);
  });

  it('leaves no listener when its reader leaves', async () => {
    const source = new Source();
    source.commit([event(1), event(2)], 'nobody');
    const abort = new AbortController();
    for await (const each of flat(new RunObserver(source, 'r1', 0, LIMITS).pieces(abort.signal))) {
      if (each.seq === 1) break;
    }
    expect(source.listeners.size).toBe(0);
  });

  it('tells its reader when the log cannot be read', async () => {
    const source = new Source();
    source.delay = Promise.reject(new Error('the database is away'));
    source.delay.catch(() => undefined);
    const observer = follow(source);
    await observer.done;
    expect(observer.error).toMatchObject({ message: 'the database is away' });
    expect(source.listeners.size).toBe(0);
  });

  it('ends when the run is deleted and nothing of it is left to read', async () => {
    const source = new Source();
    const observer = follow(source);
    await turns();
    for (const listener of [...source.listeners]) listener({ runId: 'r1', seq: 0, isGone: true });
    await observer.done;
    expect(observer.error).toBeUndefined();
    expect(observer.got).toEqual([]);
    expect(source.listeners.size).toBe(0);
  });

  it('ends with 410 when what comes next has been deleted meanwhile', async () => {
    const source = new Source();
    source.commit([event(5), event(6, 'run_completed')], 'nobody');
    const observer = follow(source, 2);
    await observer.done;
    expect(observer.error).toMatchObject({ reason: 'CURSOR_EXPIRED' });
    expect(observer.got).toEqual([]);
  });
});
