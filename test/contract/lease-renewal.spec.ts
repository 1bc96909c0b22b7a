import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { InProcessRenewal } from '../../src/runs/adapters/in-process-renewal.js';
import { ThreadRenewal, type StartThread } from '../../src/runs/adapters/thread-renewal.js';
import { storesUnderTest, until, type Core } from '../support/core.js';
import { mysqlUnderTest } from '../support/databases.js';
import { CollectingLogger } from '../support/http-app.js';
import { HEARTBEAT_MS, leaseRenewalContract } from './lease-renewal.contract.js';

const threads: Worker[] = [];
/** The compiled thread, as the server starts it: node reads no TypeScript. */
const startThread: StartThread = (workerData) => {
  const thread = new Worker(join(process.cwd(), 'dist/runs/renewal/renewal-thread.js'), { workerData, env: {} });
  threads.push(thread);
  return thread;
};
const settings = { leaseMs: 30_000, heartbeatMs: HEARTBEAT_MS, silenceMs: 60_000 };

describe.each(storesUnderTest())('renewal in the process, on $name', (store) => {
  leaseRenewalContract(
    store,
    ({ database, config, logger, claims }: Core) => new InProcessRenewal(database, config, logger, claims.owner),
  );
});

describe('renewal in a thread', () => {
  leaseRenewalContract(
    mysqlUnderTest(),
    ({ logger, claims }, url) => new ThreadRenewal({ ...settings, url, owner: claims.owner }, logger, startThread),
  );
});

describe('a renewal thread', () => {
  let logger: CollectingLogger;
  const nowhere = { ...settings, url: 'mysql://nobody:secret@127.0.0.1:9/nothing', owner: 'me' };
  const messages = (): string[] => logger.lines.map(({ message }) => message);

  beforeEach(() => {
    logger = new CollectingLogger();
    threads.length = 0;
  });

  it('is replaced when it dies, by one that has the leases held then', async () => {
    const renewal = new ThreadRenewal(nowhere, logger, startThread);
    renewal.start();
    await once(threads[0]!, 'online');
    renewal.add({ runId: 'a', epoch: 1 });
    await threads[0]!.terminate();
    await until('another thread', () => threads.length === 2);
    await until('its first try', () => messages().includes('leases could not be renewed'));
    expect(messages()).toEqual([
      'the thread that renews leases ended',
      'over: the thread that renews leases ended',
      'leases could not be renewed',
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain('secret');
    await renewal.stop();
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });

  it('is ended when it does not end by itself', async () => {
    const stuck: StartThread = () => {
      threads.push(new Worker('for (;;) ;', { eval: true }));
      return threads[0]!;
    };
    const renewal = new ThreadRenewal(nowhere, logger, stuck);
    renewal.start();
    await renewal.stop();
    expect([threads[0]!.threadId, messages()]).toEqual([-1, []]);
  });
});
