import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { status as Status } from '@grpc/grpc-js';
import type { LoggedEvent } from '../../../src/events/projection.js';
import { EXAMPLE_EVENTS } from '../../support/example-run.js';
import { startGrpcApp, type RunningGrpcApp } from '../../support/grpc-app.js';
import { GrpcTestClient, readAll } from '../../support/grpc-client.js';
import { aStream, grpcConfig, KEY, OBSERVE, type FakeServices } from '../../support/grpc-fixtures.js';

const STALLED_CLIENT = fileURLToPath(new URL('../../support/stalled-grpc-client.mjs', import.meta.url));
const LENGTH = 3_000;
/** What the transport, the socket and one buffer hold of messages of this size, with room to spare. */
const MOST_IN_FLIGHT = 500;

/** Many events of about 1 KiB; tells how many were asked for. */
class LongRun {
  emitted = 0;
  isClosed = false;

  async *events(): AsyncGenerator<LoggedEvent> {
    const delta = EXAMPLE_EVENTS[5] as LoggedEvent;
    try {
      for (let seq = 1; seq <= LENGTH; seq += 1) {
        this.emitted = seq;
        yield { ...delta, text: 'x'.repeat(1024), seq } as LoggedEvent;
      }
    } finally {
      this.isClosed = true;
    }
  }

  /** Resolves once nothing was asked for during half a second. */
  async untilStill(): Promise<void> {
    for (let before = -1; before !== this.emitted;) {
      before = this.emitted;
      await sleep(500);
    }
  }
}

describe('a client that does not read', () => {
  let runs: FakeServices['runs'];
  let running: RunningGrpcApp;
  let child: ChildProcessByStdio<null, Readable, null>;

  beforeAll(async () => {
    runs = {};
    running = await startGrpcApp(grpcConfig(), { runs });
  });

  afterEach(() => {
    child.kill('SIGKILL');
  });

  afterAll(() => running.close());

  /** A client process, stopped at its first message, and what it prints. */
  async function stalledClient(): Promise<{ readonly lines: AsyncIterator<string> }> {
    const args = [STALLED_CLIENT, running.address, 'Observe', JSON.stringify(OBSERVE), KEY];
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await lines.next();
    child.kill('SIGSTOP');
    return { lines };
  }

  it('stops the emission, slows no other client, and gets everything in order when it reads on', async () => {
    const stalled = new LongRun();
    const fast = new LongRun();
    const sources = [stalled, fast];
    runs.observe = async () => {
      const source = sources.shift() as LongRun;
      return aStream(() => source.events());
    };
    const { lines } = await stalledClient();
    await stalled.untilStill();
    const held = stalled.emitted;
    expect(held).toBeLessThan(MOST_IN_FLIGHT);

    const client = new GrpcTestClient(running.address, { authorization: `Bearer ${KEY}` });
    const { events, end } = await readAll(client.stream('observe', OBSERVE));
    client.close();
    expect([events.length, end.code]).toEqual([LENGTH, Status.OK]);
    expect(stalled.emitted).toBe(held);

    child.kill('SIGCONT');
    for (let id = 2; id <= LENGTH; id += 1) {
      expect(JSON.parse((await lines.next()).value as string)).toEqual({ id: String(id), type: 'run.message_delta' });
    }
    expect(JSON.parse((await lines.next()).value as string)).toEqual({ code: Status.OK, details: 'OK' });
    expect(stalled.emitted).toBe(LENGTH);
  });

  it('frees the run when it dies', async () => {
    const source = new LongRun();
    runs.observe = async () => aStream(() => source.events());
    await stalledClient();
    await source.untilStill();
    const held = source.emitted;
    child.kill('SIGKILL');
    await once(child, 'exit');
    for (let waited = 0; !source.isClosed && waited < 100; waited += 1) await sleep(50);
    expect(source.isClosed).toBe(true);
    expect(source.emitted).toBeLessThanOrEqual(held + 1);
  });
});
