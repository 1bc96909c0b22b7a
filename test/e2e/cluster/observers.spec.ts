import { setTimeout as sleep } from 'node:timers/promises';
import { readAll } from '../../support/grpc-client.js';
import { PAIR_COUNTS } from '../../support/process-counts.js';
import { severalServers, type Replicas } from '../../support/replicas.js';
import { idsOf, upTo, type EventItem, type RunKey } from '../../support/v1-client.js';

/** Who watches a run at a process that does not execute it. No bus is there: each process looks once a second. */
describe.each(PAIR_COUNTS)('observers in %d processes', (count) => {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await severalServers(count);
  }, 90_000);

  afterAll(() => replicas.dispose());

  const overGrpc = async (index: number, run: RunKey, after?: string): Promise<number[]> => {
    const client = replicas.grpc(index);
    const request = { session_id: run.sessionId, run_id: run.runId, after_seq: after };
    const { events, end } = await readAll(client.stream('observe', request)).finally(() => client.close());
    expect(end).toEqual({ code: 0, details: 'OK', bridleCode: undefined });
    return events.map((event) => Number(event.id));
  };

  const byPolling = async (index: number, run: RunKey): Promise<number[]> => {
    const events: EventItem[] = [];
    for (;;) {
      const page = await replicas.v1(index).page(run, `cursor=${events.length}&limit=7&wait_ms=1000`);
      events.push(...page.events);
      if (page.status === 'completed' && !page.has_more) return events.map((event) => event.id);
    }
  };

  it('see every event once and in order, by SSE, gRPC and polling, early, late and from the middle', async () => {
    const v1 = replicas.v1(0);
    const sessionId = await v1.session();
    // A run that is attached to its request is executed by the process that accepted it.
    let begun: (run: RunKey) => void;
    const beginning = new Promise<RunKey>((resolve) => (begun = resolve));
    const attached = v1.stream(v1.message(sessionId, 'stream:150:10;tool:t:300;stream:50:10'), {}, (frame) => {
      begun({ sessionId, runId: (JSON.parse(frame.data) as { run_id: string }).run_id });
      return false;
    });
    const run = await beginning;
    const others = upTo(count);
    const early = others.flatMap((index) => [
      replicas.v1(index).follow(run).then(idsOf),
      overGrpc(index, run),
      byPolling(index, run),
    ]);
    await sleep(1200);
    const late = others.flatMap((index) => [replicas.v1(index).follow(run).then(idsOf), overGrpc(index, run)]);
    const fromTheMiddle = others.flatMap((index) => [
      replicas.v1(index).follow(run, { lastEventId: 20 }).then(idsOf),
      overGrpc(index, run, '20'),
    ]);

    const whole = upTo((await attached).length);
    expect(whole.length).toBeGreaterThan(60);
    for (const ids of await Promise.all([...early, ...late])) expect(ids).toEqual(whole);
    for (const ids of await Promise.all(fromTheMiddle)) expect(ids).toEqual(whole.slice(20));
    expect((await v1.events(run)).map((event) => event.id)).toEqual(whole);
  });

  it('hear of what happens elsewhere within about a second', async () => {
    const v1 = replicas.v1(0);
    const run = await v1.send(await v1.session(), 'tool:t:1500;say:done');
    const heard = await Promise.all(
      upTo(count).map(async (index) => {
        const frames = await replicas.v1(index).follow(run);
        return { frames, atMs: Date.now() };
      }),
    );
    for (const { frames, atMs } of heard) {
      const endedAt = Date.parse((JSON.parse(frames.at(-1)!.data) as { data: { time: string } }).data.time);
      expect(atMs - endedAt).toBeLessThan(4000);
    }
  });
});
