import type { HarnessEvent } from '../../../src/events/harness-event.js';
import { HeldRun } from '../../../src/runs/execution/held-runs.js';
import { RunWriter } from '../../../src/runs/execution/run-writer.js';
import { EventLog, FencedError } from '../../../src/runs/ports/event-log.port.js';
import { turns } from '../../support/core.js';
import { EngineEvents } from '../../support/fake-runtime.js';

const engine = new EngineEvents({ runId: 'r1', sessionId: 's1' });
const KIB = 'x'.repeat(1024);

/** A log that commits when the test says so. */
class SlowLog extends EventLog {
  readonly waiting: { readonly event: HarnessEvent; commit(): void; refuse(error: Error): void }[] = [];

  append(_lease: unknown, event: HarnessEvent): Promise<void> {
    return new Promise((commit, refuse) => this.waiting.push({ event, commit, refuse }));
  }
  /** Commits so many of those that wait, the oldest first. */
  commit(count: number): void {
    for (const append of this.waiting.splice(0, count)) append.commit();
  }
  settled(): Promise<void> {
    return Promise.resolve();
  }
  read(): Promise<readonly never[]> {
    return Promise.resolve([]);
  }
}

describe('RunWriter', () => {
  let log: SlowLog;
  let held: HeldRun;
  let writer: RunWriter;

  beforeEach(() => {
    log = new SlowLog();
    held = new HeldRun({ runId: 'r1', epoch: 1 }, () => undefined);
    writer = new RunWriter(log, held);
  });

  const isDone = async (write: Promise<void>): Promise<boolean> => {
    let done = false;
    void write.then(() => (done = true));
    await turns(2);
    return done;
  };

  it('waits for the commit of what something outside follows, and of all that came before it', async () => {
    for (const event of [engine.start('x'), engine.text('x', 'a'), engine.answer('x', 'a')]) {
      expect(await isDone(writer.write(event))).toBe(true);
    }
    const write = writer.write(engine.toolStart('x', 'c'));
    log.commit(3);
    expect(await isDone(write)).toBe(false);
    log.commit(1);
    expect(await isDone(write)).toBe(true);
    expect(await isDone(writer.write(engine.toolEnd('x', 'c')))).toBe(false);
  });

  it('lets 64 KiB wait, then waits for them', async () => {
    for (let n = 0; n < 50; n += 1) expect(await isDone(writer.write(engine.text('x', KIB)))).toBe(true);
    const writes = [writer.write(engine.text('x', KIB)), writer.write(engine.text('x', KIB))];
    const write = writer.write(engine.text('x', 'a'));
    expect(await isDone(write)).toBe(false);
    log.commit(53);
    await Promise.all([...writes, write]);
    expect(await isDone(writer.write(engine.text('x', KIB)))).toBe(true);
  });

  it('is settled when all is durable', async () => {
    await writer.write(engine.start('x'));
    await writer.write(engine.text('x', 'a'));
    const settled = writer.settled();
    log.commit(1);
    expect(await isDone(settled)).toBe(false);
    log.commit(1);
    expect(await isDone(settled)).toBe(true);
  });

  it('stops the run when an event is refused, and lets none pass after it', async () => {
    await writer.write(engine.text('x', 'a'));
    const write = writer.write(engine.toolStart('x', 'c'));
    const refusal = new FencedError('r1');
    log.waiting[0]!.refuse(refusal);
    log.waiting[1]!.commit();
    await expect(write).rejects.toBe(refusal);
    await expect(writer.settled()).rejects.toBe(refusal);
    expect(held.signal.reason).toBe(refusal);
  });

  it('appends nothing after a refusal', async () => {
    await writer.write(engine.start('x'));
    const refusal = new Error('no');
    log.waiting.pop()!.refuse(refusal);
    await turns(1);
    await expect(writer.write(engine.text('x', 'a'))).rejects.toBe(refusal);
    expect(log.waiting).toEqual([]);
  });

  it('knows the newest text of the run itself', async () => {
    const child = { ...engine.text('x', 'child'), parent: {} } as never;
    for (const event of [
      engine.start('x'),
      engine.text('x', 'let '),
      engine.thinking('x', 'hm'),
      child,
      engine.text('x', 'me'),
    ]) {
      void writer.write(event);
    }
    expect(writer.lastText).toBe('let me');
    void writer.write(engine.answer('x', 'let me see'));
    expect(writer.lastText).toBe('let me see');
    // an answer that never came does not take away what was said before it
    void writer.write(engine.start('y'));
    expect(writer.lastText).toBe('let me see');
    void writer.write(engine.text('y', 'now'));
    expect(writer.lastText).toBe('now');
  });
});
