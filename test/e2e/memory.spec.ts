import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { MemoryWatch, residentBytes } from '../support/memory.js';
import { rawConnect } from '../support/raw-http.js';
import { startServer, type TestServer } from '../support/server.js';
import { readFrames, type SseFrame } from '../support/sse-client.js';
import { idsOf, pathOf, upTo, V1Client, type RunKey } from '../support/v1-client.js';

const DELTAS = 10_000;
/** The pause gives the readers time to come before the events do. */
const SCRIPT = `tool:wait:3000;stream:${DELTAS}:0`;
const STALLED_SOCKETS = 8;
const STALLED_CALLS = 10;
const MAX_GROWTH_BYTES = 50 * 1024 * 1024;
/** A machine under load; without back-pressure handling a stalled reader holds the others for ever. */
const MAX_RATIO = 4;
const LONG_MS = 240_000;

/** A gRPC client in a process of its own, with several streams of one run, and the ids that each got so far. */
class GrpcProcess {
  readonly ids: readonly number[][] = Array.from({ length: STALLED_CALLS }, () => []);
  readonly codes: number[] = [];
  private readonly child: ChildProcess;

  constructor(address: string, run: RunKey) {
    const requests = this.ids.map(() => ({ session_id: run.sessionId, run_id: run.runId }));
    const args = ['test/support/stalled-grpc-client.mjs', address, 'Observe', JSON.stringify(requests)];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface(this.child.stdout!).on('line', (line) => {
      const { stream, id, code } = JSON.parse(line) as { stream: number; id?: string; code?: number };
      if (id === undefined) this.codes.push(code!);
      else this.ids[stream]!.push(Number(id));
    });
  }

  /** Waits until every stream has delivered. */
  async started(): Promise<void> {
    while (this.ids.some((ids) => ids.length === 0)) await once(this.child.stdout!, 'data');
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null) await once(this.child, 'close');
  }
}

/** A socket that asks for a stream and does not read it. */
async function stalledSocket(server: TestServer, run: RunKey): Promise<Socket> {
  const socket = await rawConnect(Number(new URL(server.http).port));
  socket.pause();
  socket.write(`GET ${pathOf(run)}/events HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n`);
  return socket;
}

/** Reads what a stalled socket has waiting, to the end. */
async function readLate(socket: Socket): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      socket.on('data', (bytes: Buffer) => controller.enqueue(bytes));
      socket.on('end', () => controller.close());
      socket.resume();
    },
  });
  for await (const frame of readFrames(body)) frames.push(frame);
  return frames;
}

describe('readers that do not read', () => {
  let server: TestServer;
  let v1: V1Client;

  beforeAll(async () => {
    server = await startServer({ env: { BRIDLE_EVENTS_COALESCE: 'false', BRIDLE_DATABASE_SYNCHRONOUS: 'normal' } });
    v1 = new V1Client(server);
  });

  let grpc: GrpcProcess | undefined;
  let sockets: readonly Socket[] = [];

  afterAll(async () => {
    grpc?.signal('SIGKILL');
    for (const socket of sockets) socket.destroy();
    await server.dispose();
  });

  /** Reads a run to its end; from its first delta on, milliseconds. */
  async function timed(run: RunKey): Promise<{ ids: number[]; ms: number }> {
    let startMs = 0;
    const frames = await v1.follow(run, {}, ({ event }) => {
      if (startMs === 0 && event === 'run.message_delta') startMs = performance.now();
      return false;
    });
    return { ids: idsOf(frames), ms: performance.now() - startMs };
  }

  it(
    'cost the server no memory and the others no time, and still get everything',
    async () => {
      // It also warms the heap up.
      const alone = await timed(await v1.send(await v1.session(), SCRIPT));

      const run = await v1.send(await v1.session(), SCRIPT);
      grpc = new GrpcProcess(server.grpc, run);
      sockets = await Promise.all(upTo(STALLED_SOCKETS).map(() => stalledSocket(server, run)));
      const reading = timed(run);
      await grpc.started();
      grpc.signal('SIGSTOP');
      const before = residentBytes(server.pid);
      const memory = new MemoryWatch(server.pid);
      const beside = await reading;
      const growth = memory.stop() - before;
      const received = Math.max(...grpc.ids.map((ids) => ids.length));

      const all = (await v1.events(run)).map((event) => event.id);
      expect(all).toEqual(upTo(all.length));
      expect(all.length).toBeGreaterThan(DELTAS);
      expect(beside.ids).toEqual(all);
      expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
      expect(beside.ms / alone.ms).toBeLessThan(MAX_RATIO);

      expect(received).toBeLessThan(all.length);
      grpc.signal('SIGCONT');
      for (const socket of sockets) expect(idsOf(await readLate(socket))).toEqual(all);
      await grpc.ended();
      expect(grpc.codes).toEqual(grpc.ids.map(() => 0));
      for (const ids of grpc.ids) expect(ids).toEqual(all);
    },
    LONG_MS,
  );
});
