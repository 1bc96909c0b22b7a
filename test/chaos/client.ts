import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GrpcTestClient } from '../support/grpc-client.js';
import type { Random } from '../support/random.js';
import type { TestServer } from '../support/server.js';
import type { RunKey } from '../support/v1-client.js';
import { DOORS, eventsBy, grpcFault, request, Unavailable, WrongAnswer, type Seen } from './doors.js';
import type { Findings } from './findings.js';

/** A client that gets no answer and no news for so long has found a fault. */
const PATIENCE_MS = 90_000;
const CALL_MS = 10_000;

export const TERMINAL_TYPES = ['run.completed', 'run.failed', 'run.cancelled', 'run.expired'];

/** One caller: it tries again, at any process, until it has its answer, and reconnects by its cursor. */
export class ChaosClient {
  constructor(
    private readonly servers: readonly TestServer[],
    private readonly random: Random,
    private readonly findings: Findings,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  async session(): Promise<string> {
    const body = { agent: 'harness_agent', request_id: randomUUID() };
    const session = await this.insist('session', (server, signal) => request(server, '/v1/sessions', body, signal));
    return session['id'] as string;
  }

  /** Sends a message, repeating the same request until it is answered; sometimes it asks again although it was. */
  async send(sessionId: string, text: string): Promise<RunKey> {
    const requestId = randomUUID();
    const submit = (): Promise<string> =>
      this.insist('message', (server, signal) =>
        this.random.chance(0.3)
          ? submitByGrpc(server, sessionId, requestId, text)
          : submitByJson(server, sessionId, requestId, text, signal),
      );
    const runId = await submit();
    if (this.random.chance(0.2)) {
      const again = await submit();
      if (again !== runId) this.findings.faults.push(`one request became the runs ${runId} and ${again}`);
    }
    return { sessionId, runId };
  }

  async cancel({ sessionId, runId }: RunKey): Promise<void> {
    const body = { session_id: sessionId, request_id: randomUUID(), action: 'cancel', run_id: runId };
    await this.insist('cancel', async (server, signal) => {
      try {
        await request(server, '/v1/actions', body, signal);
      } catch (error) {
        // it has ended meanwhile, or waits behind another one
        if (!(error instanceof WrongAnswer && error.message.includes('RUN_NOT_ACTIVE'))) throw error;
      }
    });
  }

  /** Follows a run to its end over whatever connections it takes; what it saw, in order. */
  async follow(run: RunKey): Promise<readonly Seen[]> {
    const seen: Seen[] = [];
    let newsAtMs = Date.now();
    while (!TERMINAL_TYPES.includes(seen.at(-1)?.type ?? '')) {
      const before = seen.length;
      await this.connect(run, seen);
      if (seen.length > before) newsAtMs = Date.now();
      if (Date.now() - newsAtMs > this.patienceMs) {
        this.findings.faults.push(`run ${run.runId}: no news after event ${seen.at(-1)?.id ?? 0}`);
        return seen;
      }
      await sleep(this.random.below(150));
    }
    return seen;
  }

  /** One connection: it ends with the server, with the run, or when the client moves on. */
  private async connect(run: RunKey, seen: Seen[]): Promise<void> {
    const door = DOORS[this.random.below(DOORS.length)]!;
    const leaving = AbortSignal.timeout(2000 + this.random.below(6000));
    this.findings.connections += 1;
    try {
      for await (const event of eventsBy(door, this.server(), run, seen.at(-1)?.id ?? 0, leaving)) {
        seen.push(event);
        if (TERMINAL_TYPES.includes(event.type) || this.random.chance(0.01)) return;
      }
    } catch (error) {
      this.judge(error, `${door} of run ${run.runId}`);
    }
  }

  private async insist<T>(what: string, ask: (server: TestServer, signal: AbortSignal) => Promise<T>): Promise<T> {
    const deadlineMs = Date.now() + this.patienceMs;
    for (;;) {
      try {
        return await ask(this.server(), AbortSignal.timeout(CALL_MS));
      } catch (error) {
        this.judge(error, what);
        if (!(error instanceof Unavailable) || Date.now() > deadlineMs) throw error;
      }
      await sleep(20 + this.random.below(200));
    }
  }

  private judge(error: unknown, what: string): void {
    if (!(error instanceof Unavailable)) this.findings.faults.push(`${what}: ${String(error)}`);
    else if (error.saidSo) this.findings.refusals += 1;
  }

  private server(): TestServer {
    return this.servers[this.random.below(this.servers.length)]!;
  }
}

async function submitByJson(
  server: TestServer,
  sessionId: string,
  requestId: string,
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const body = { session_id: sessionId, request_id: requestId, action: 'message', text };
  return (await request(server, '/v1/actions', body, signal))['run_id'] as string;
}

async function submitByGrpc(server: TestServer, sessionId: string, requestId: string, text: string): Promise<string> {
  const client = new GrpcTestClient(server.grpc);
  try {
    const value = { text, resources: [], capabilities: [] };
    const action = { session_id: sessionId, request_id: requestId, action: { $case: 'message' as const, value } };
    const receipt = await client.call('submit', action, { deadlineMs: CALL_MS });
    return receipt.run_id!;
  } catch (error) {
    throw grpcFault(error);
  } finally {
    client.close();
  }
}
