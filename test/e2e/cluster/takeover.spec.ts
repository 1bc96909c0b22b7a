import { createConnection } from 'mysql2/promise';
import { until } from '../../support/adk-client.js';
import { QUICK_LEASES, startCluster, type Cluster } from '../../support/cluster.js';
import { effectsOf } from '../../support/effects.js';
import { expectOneEnd } from '../../support/run-end.js';
import type { SseFrame } from '../../support/sse-client.js';
import { idsOf, upTo, V1Client, type EventItem, type RunKey } from '../../support/v1-client.js';

const LONG_MS = 90_000;
const isAt = (id: number) => (frame: SseFrame) => Number(frame.id) >= id;
const typesIn = (events: readonly EventItem[]): string[] => events.map((event) => event.type);

/** A holder that is killed, or stands still for longer than its lease. */
describe('takeover by another process', () => {
  let cluster: Cluster;

  const [HOLDER, OTHER] = [0, 1];

  beforeAll(async () => {
    cluster = await startCluster(2, { env: QUICK_LEASES });
  }, LONG_MS);

  beforeEach(async () => {
    const holder = cluster.servers[HOLDER]!;
    if (!holder.isRunning) await holder.restart();
  });

  afterAll(() => cluster.dispose());

  const v1Of = (index: number): V1Client => new V1Client(cluster.servers[index]!);

  /** A run that is attached to its request is executed by the process that accepted it. */
  async function runOnHolder(script: string, until: (frame: SseFrame) => boolean): Promise<RunKey> {
    const v1 = v1Of(HOLDER);
    const sessionId = await v1.session();
    const frames = await v1.stream(v1.message(sessionId, script), {}, until);
    return { sessionId, runId: (JSON.parse(frames[0]!.data) as { run_id: string }).run_id };
  }

  async function rowOf({ runId }: RunKey): Promise<{ epoch: number; attempt: number; lease_owner: string | null }> {
    const connection = await createConnection(cluster.databaseUrl);
    const [rows] = await connection.query('SELECT epoch, attempt, lease_owner FROM runs WHERE id = ?', [runId]);
    await connection.end();
    return (rows as never[])[0]!;
  }

  const fencedWrites = async (index: number): Promise<number> => {
    const { body } = await v1Of(index).call('GET', '/metrics');
    return Number(/^bridle_fenced_writes_total (\d+)$/m.exec(body as string)![1]);
  };

  it(
    'refuses and counts what the old holder still writes when it wakes up',
    async () => {
      const holder = cluster.servers[HOLDER]!;
      const run = await runOnHolder('stream:500:10', isAt(25));
      process.kill(holder.pid, 'SIGSTOP');
      await v1Of(OTHER).until(run, (state) => state.attempt === 2 && state.status === 'running');
      process.kill(holder.pid, 'SIGCONT');
      expect((await expectOneEnd(v1Of(OTHER), run)).type).toBe('run.completed');
      const words = (await v1Of(OTHER).page(run)).result!.data['text'] as string;
      expect(words).toBe(
        upTo(500)
          .map((n) => `w${n} `)
          .join(''),
      );
      await until(async () => (await fencedWrites(HOLDER)) > 0);
      await until(async () => holder.logs().includes('run belongs to another worker now'));
      expect(await v1Of(HOLDER).events(run)).toEqual(await v1Of(OTHER).events(run));
      const next = await v1Of(HOLDER).send(await v1Of(HOLDER).session(), 'say:well again');
      expect((await v1Of(HOLDER).ended(next)).status).toBe('completed');
    },
    LONG_MS,
  );

  it(
    'follows kill -9 of the holder: a higher epoch, a dense log, one end',
    async () => {
      const run = await runOnHolder('tool:first:100;stream:100:20', isAt(25));
      const before = await rowOf(run);
      expect(before).toMatchObject({ epoch: 1, attempt: 1, lease_owner: expect.any(String) });
      const watching = v1Of(OTHER).follow(run);
      await cluster.servers[HOLDER]!.kill9();
      expect((await expectOneEnd(v1Of(OTHER), run)).type).toBe('run.completed');
      expect(await rowOf(run)).toEqual({ epoch: 3, attempt: 2, lease_owner: null });
      const events = await v1Of(OTHER).events(run);
      expect(idsOf(await watching)).toEqual(upTo(events.length));
      expect(typesIn(events).filter((type) => type === 'run.recovered')).toHaveLength(1);
      expect(effectsOf(cluster.servers[OTHER]!, run.runId).map((effect) => effect.tool)).toEqual(['first']);
      expect(await fencedWrites(OTHER)).toBe(0);
    },
    LONG_MS,
  );

  it(
    'ends a run whose holder died while it was to cancel it',
    async () => {
      const run = await runOnHolder('tool:slow:60000', (frame) => frame.event === 'run.tool_started');
      process.kill(cluster.servers[HOLDER]!.pid, 'SIGSTOP');
      expect((await v1Of(OTHER).cancel(run.sessionId)).body).toMatchObject({ disposition: 'cancelling' });
      await cluster.servers[HOLDER]!.kill9();
      expect((await expectOneEnd(v1Of(OTHER), run)).type).toBe('run.cancelled');
      expect(typesIn(await v1Of(OTHER).events(run))).not.toContain('run.recovered');
    },
    LONG_MS,
  );
});
