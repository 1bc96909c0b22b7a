import { effectsOf } from '../support/effects.js';
import { oneServer, severalServers, type Replicas } from '../support/replicas.js';
import { expectOneEnd } from '../support/run-end.js';
import type { SseFrame } from '../support/sse-client.js';
import type { RunKey } from '../support/v1-client.js';

/** A server in which a signal is the bug: what it does happens outside every request and every run. */
const withBug = (code: string): Record<string, string> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${code} })`)}`,
  // handed back is not taken over: nobody waits for the end of a lease
  BRIDLE_RUNS_LEASE_MS: '600000',
});

const PLACES = [
  { place: 'one process on SQLite', open: (code: string) => oneServer({ env: withBug(code) }) },
  { place: 'two processes on one MariaDB', open: (code: string) => severalServers(2, { env: withBug(code) }) },
];

describe.each(PLACES)('an error that reaches nobody, in $place', ({ open }) => {
  let replicas: Replicas;

  afterEach(() => replicas.dispose());

  /** A run whose tool is under way in the first server. */
  const begun = async (script: string): Promise<RunKey> => {
    const v1 = replicas.v1(0);
    const sessionId = await v1.session();
    const isToolStart = (frame: SseFrame): boolean => frame.event === 'run.tool_started';
    const frames = await v1.stream(v1.message(sessionId, script), {}, isToolStart);
    return { sessionId, runId: (JSON.parse(frames[0]!.data) as { run_id: string }).run_id };
  };

  it('hands the runs back and ends with 1 when it is an exception, and no attempt is lost', async () => {
    replicas = await open("throw new Error('boom')");
    const run = await begun('tool:ro_slow:3000;say:done');
    expect(await replicas.server(0).stop('SIGUSR2')).toBe(1);
    expect(replicas.server(0).logs()).toMatch(/"error","time":.*"message":"boom".*an exception was not caught/);
    expect(replicas.server(0).logs()).toContain('"msg":"run handed back"');
    await replicas.server(0).restart();

    expect((await expectOneEnd(replicas.v1(1), run)).type).toBe('run.completed');
    expect(await replicas.v1(0).page(run)).toMatchObject({ attempt: 1, result: { data: { text: 'done' } } });
    const types = (await replicas.v1(0).events(run)).map((event) => event.type);
    expect(types.filter((type) => type === 'run.running')).toHaveLength(2);
  });

  it('is told to the log and no more when it is a rejected promise', async () => {
    replicas = await open("Promise.reject(new Error('boom'))");
    const run = await begun('tool:slow:1000;say:done');
    process.kill(replicas.server(0).pid, 'SIGUSR2');

    expect((await expectOneEnd(replicas.v1(0), run)).type).toBe('run.completed');
    expect(replicas.server(0).logs()).toMatch(/"error","time":.*"message":"boom".*a promise was rejected/);
    expect(effectsOf(replicas, run.runId)).toMatchObject([{ tool: 'slow', attempt: 1 }]);
    const types = (await replicas.v1(0).events(run)).map((event) => event.type);
    expect(types.filter((type) => type === 'run.running')).toHaveLength(1);
    expect(await replicas.server(0).stop()).toBe(0);
  });
});
