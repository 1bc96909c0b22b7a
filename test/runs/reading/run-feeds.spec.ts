import { Subject } from 'rxjs';
import type { Database } from '../../../src/database/database.js';
import type { LoggedEvent } from '../../../src/events/projection.js';
import { EventLog } from '../../../src/runs/ports/event-log.port.js';
import { RunHints, type RunHint } from '../../../src/runs/ports/run-hints.port.js';
import { RunFeeds } from '../../../src/runs/reading/run-feeds.js';
import { turns, until } from '../../support/core.js';
import { CollectingLogger } from '../../support/http-app.js';
import { aConfig } from '../../support/test-config.js';

class ManualHints extends RunHints {
  readonly hints$ = new Subject<RunHint>();
  publish(hint: RunHint): void {
    this.hints$.next(hint);
  }
}

/** A log whose reads wait until the test answers them. */
class ManualLog extends EventLog {
  readonly reads: { readonly key: string; answer(events: readonly LoggedEvent[]): void; fail(error: Error): void }[] =
    [];

  append(): Promise<void> {
    return Promise.reject(new Error('nobody writes here'));
  }
  settled(): Promise<void> {
    return Promise.resolve();
  }
  read(runId: string, after: number, limit: number): Promise<readonly LoggedEvent[]> {
    return new Promise((answer, fail) => this.reads.push({ key: `${runId} ${after} ${limit}`, answer, fail }));
  }
}

describe('RunFeeds', () => {
  const hints = new ManualHints();
  let log: ManualLog;
  let feeds: RunFeeds;
  let lastSeqs: { id: string; last_seq: number | string }[] | Error;
  const asked: unknown[][] = [];
  const logger = new CollectingLogger();

  const open = (pollMs: number): void => {
    log = new ManualLog();
    lastSeqs = [];
    asked.length = 0;
    const database = {
      query: (_sql: string, parameters: unknown[]) => {
        asked.push(parameters);
        return lastSeqs instanceof Error ? Promise.reject(lastSeqs) : Promise.resolve(lastSeqs);
      },
    } as unknown as Database;
    feeds = new RunFeeds(hints, log, database, logger, aConfig({ BRIDLE_EVENTS_POLL_MS: String(pollMs) }));
  };

  beforeEach(() => open(3_600_000));
  afterEach(() => feeds.onApplicationShutdown());

  it('tells every watcher of a run, and nobody else', () => {
    const heard: string[] = [];
    feeds.watch('r1', (hint) => heard.push(`a${hint.seq}`));
    const leave = feeds.watch('r1', (hint) => heard.push(`b${hint.seq}`));
    feeds.watch('r2', (hint) => heard.push(`c${hint.seq}`));
    hints.publish({ runId: 'r1', seq: 1 });
    leave();
    leave();
    hints.publish({ runId: 'r1', seq: 2 });
    hints.publish({ runId: 'r3', seq: 3 });
    expect(heard).toEqual(['a1', 'b1', 'a2']);
  });

  it('makes one read of equal ones that are asked for together, and a new one afterwards', async () => {
    const both = [feeds.read('r1', 5, 100), feeds.read('r1', 5, 100)];
    void feeds.read('r1', 6, 100);
    void feeds.read('r1', 5, 50);
    void feeds.read('r2', 5, 100);
    await turns(1);
    expect(log.reads.map(({ key }) => key)).toEqual(['r1 5 100', 'r1 6 100', 'r1 5 50', 'r2 5 100']);
    log.reads[0]!.answer([]);
    expect(await Promise.all(both)).toEqual([[], []]);
    void feeds.read('r1', 5, 100);
    await turns(1);
    expect(log.reads).toHaveLength(5);
  });

  it('does not give a newcomer a read that has begun: it may have missed a commit whose hint is gone', async () => {
    const early = feeds.read('r1', 5, 100);
    await turns(1);
    const late = feeds.read('r1', 5, 100);
    const sharing = feeds.read('r1', 5, 100);
    await turns(1);
    expect(log.reads).toHaveLength(2);
    log.reads[0]!.answer([]);
    const event = { seq: 6 } as LoggedEvent;
    log.reads[1]!.answer([event]);
    expect(await Promise.all([early, late, sharing])).toEqual([[], [event], [event]]);
  });

  it('fails every reader of a read that fails, and the next one reads anew', async () => {
    const both = [feeds.read('r1', 5, 100), feeds.read('r1', 5, 100)];
    await turns(1);
    log.reads[0]!.fail(new Error('gone'));
    await Promise.all(both.map((read) => expect(read).rejects.toThrow('gone')));
    void feeds.read('r1', 5, 100);
    await turns(1);
    expect(log.reads).toHaveLength(2);
  });

  it('looks itself at all watched runs in one query, and goes on after a failure', async () => {
    feeds.onApplicationShutdown();
    open(10);
    lastSeqs = new Error('the database is away');
    const heard: RunHint[] = [];
    feeds.watch('r1', (hint) => heard.push(hint));
    feeds.watch('r2', (hint) => heard.push(hint));
    await until('a failed look', () => logger.lines.some((line) => line.level === 'warn'));
    lastSeqs = [{ id: 'r2', last_seq: '7' }];
    await until('a hint of each', () => heard.length > 1);
    // a run without a row was deleted: its observers must not wait for ever
    expect(heard.slice(0, 2)).toEqual([
      { runId: 'r1', seq: 0, isGone: true },
      { runId: 'r2', seq: 7 },
    ]);
    expect(asked[0]).toEqual(['r1', 'r2']);
  });

  it('asks nothing while nobody watches', async () => {
    feeds.onApplicationShutdown();
    open(10);
    feeds.watch('r1', () => undefined)();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(asked).toEqual([]);
  });
});
