import type { EngineEvent } from '../../src/events/harness-event.js';
import { isTerminal } from '../../src/events/harness-event.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { isLegalTransition, isTerminalStatus, type RunStatus } from '../../src/events/run-state.js';
import { FencedError } from '../../src/runs/ports/event-log.port.js';
import type { Trace } from '../../src/harness/ports/trace.js';
import { traceOf } from '../../src/harness/trace/trace.js';
import type { Lease } from '../../src/runs/run.js';
import { lifecycleEvent } from '../../src/runs/log/lifecycle-events.js';
import { ALICE, aSession, finish, logOf, runRow, runRowOf, submitted, type Core, type RunRow } from './core.js';
import { EngineEvents } from './fake-runtime.js';
import { pairingFault } from './pairing.js';

export const OPERATIONS = [
  'submit',
  'claim',
  'step',
  'finish',
  'fail',
  'ask',
  'die',
  'ghost',
  'takeOver',
  'handBack',
  'cancel',
  'import',
] as const;

export interface Operation {
  readonly what: (typeof OPERATIONS)[number];
  /** Picks the session, run or holder that it is about. */
  readonly pick: number;
}

/** Somebody who believes that a run is his. */
interface Holder {
  readonly lease: Lease;
  readonly events: EngineEvents;
  readonly steps: Iterator<EngineEvent>;
  /** Its last step was a whole answer: it may end. */
  isAtEnd: boolean;
}

const SESSIONS = 2;

/**
 * Plays operations on runs and a model of what they should do: after each the rows must say what the model says, and
 * the rules of logs, queues and histories must hold.
 */
export class RunLife {
  private readonly sessions: string[] = [];
  private readonly statuses = new Map<string, RunStatus>();
  private readonly losses = new Map<string, number>();
  private holders: Holder[] = [];
  private readonly ghosts: Holder[] = [];
  private readonly checked = new Map<string, string>();
  private steps = 0;
  /** How often each operation did something. */
  readonly done: Record<string, number> = {};

  constructor(private readonly core: Core) {}

  async play(operations: readonly Operation[]): Promise<void> {
    while (this.sessions.length < SESSIONS) this.sessions.push(await aSession(this.core));
    for (const operation of operations) {
      if (await this.apply(operation)) this.done[operation.what] = (this.done[operation.what] ?? 0) + 1;
      await this.check();
    }
    await this.endAll();
    await this.check();
  }

  private async apply({ what, pick }: Operation): Promise<boolean> {
    const holder = this.holders[pick % Math.max(1, this.holders.length)];
    switch (what) {
      case 'submit':
        this.statuses.set(await submitted(this.core, this.sessions[pick % SESSIONS]!), 'queued');
        return true;
      case 'import':
        await this.core.runs.importEvents(ALICE, this.sessions[pick % SESSIONS]!, {
          events: [{ author: 'model', content: { role: 'model', parts: [{ text: 'imported' }] } }],
        });
        return true;
      case 'claim':
        return this.claim();
      case 'cancel':
        return this.cancel(pick);
      case 'ghost':
        return this.haunt(pick);
      default:
        // what cannot be done makes room for itself
        if (holder === undefined) return (await this.claim()) || this.apply({ what: 'submit', pick });
        return this.withHolder(what, holder);
    }
  }

  private async withHolder(what: Operation['what'], holder: Holder): Promise<boolean> {
    const { runId } = holder.lease;
    switch (what) {
      case 'step':
        return this.step(holder);
      case 'finish':
        await this.answer(holder);
        await finish(this.core, holder.lease, 'done');
        return this.leave(holder, 'completed');
      case 'fail':
        await this.core.ending.breakOff(holder.lease, { execMs: 1 }, (run) =>
          lifecycleEvent(run, this.core.clock, 'run_failed', {
            error: { code: 'AGENT_ERROR', message: 'no', retryable: false, stage: run.stage },
            artifacts: [],
            usage: run.usage,
          }),
        );
        return this.leave(holder, 'failed');
      case 'ask':
        if (this.statuses.get(runId) !== 'running') return false;
        await this.answer(holder);
        await this.core.ending.finish(holder.lease, { execMs: 1 }, (run) => [
          lifecycleEvent(run, this.core.clock, 'input_required', {
            inputRequired: { questionId: 'q', mode: 'text', questions: [], tasks: [] },
          }),
        ]);
        return this.leave(holder, 'waiting_input');
      case 'handBack':
        await this.core.ending.handBack(holder.lease, { execMs: 1 });
        return this.leave(holder, this.statuses.get(runId) === 'cancelling' ? 'cancelled' : 'queued');
      case 'die':
        this.ghosts.push(holder);
        return this.takeOver(holder);
      default:
        return this.takeOver(holder);
    }
  }

  private leave(holder: Holder, status: RunStatus): boolean {
    this.statuses.set(holder.lease.runId, status);
    this.holders = this.holders.filter((each) => each !== holder);
    return true;
  }

  private async claim(): Promise<boolean> {
    const lease = await this.core.claims.claimNext();
    const waiting = [...this.statuses].some(([, status]) => status === 'queued');
    if (lease === undefined) {
      if (waiting && this.holders.length === 0 && ![...this.statuses.values()].includes('waiting_input')) {
        throw new Error('runs wait, nothing is active, and nothing can be claimed');
      }
      return false;
    }
    if (this.statuses.get(lease.runId) !== 'queued') throw new Error(`a run that is not queued was claimed`);
    this.statuses.set(lease.runId, 'running');
    const { run, history } = await this.core.contexts.load(lease.runId);
    const conversation = traceOf(history, lease.runId, () => Promise.reject(new Error('no pictures here')));
    const open = conversation.openCalls?.calls.map((call) => call.providerCallId) ?? [];
    const fault = pairingFault(conversation.messages, open);
    if (fault !== undefined) throw new Error(`the history of attempt ${run.attempt} is not paired: ${fault}`);
    if (JSON.stringify(conversation.messages).includes(SAID_BY_CHILD))
      throw new Error('the history quotes a sub-agent');
    const events = new EngineEvents({ runId: run.id, sessionId: run.sessionId }, `epoch-${lease.epoch}`);
    this.holders.push({ lease, events, steps: agent(events, conversation), isAtEnd: false });
    return true;
  }

  private async step(holder: Holder): Promise<boolean> {
    const next = holder.steps.next();
    const event = next.value as EngineEvent;
    await this.core.log.append(holder.lease, event);
    this.steps += 1;
    holder.isAtEnd = event.parent === undefined && event.type === 'reason_end' && event.toolCalls.length === 0;
    if (event.type === 'reason_end' || event.type === 'tool_call_end') this.losses.set(holder.lease.runId, 0);
    return true;
  }

  private async answer(holder: Holder): Promise<void> {
    while (!holder.isAtEnd) await this.step(holder);
  }

  private async takeOver(holder: Holder): Promise<boolean> {
    const { runId } = holder.lease;
    const losses = (this.losses.get(runId) ?? 0) + 1;
    this.losses.set(runId, losses);
    await this.core.takeover.takeOver(runId, undefined);
    if (this.statuses.get(runId) === 'cancelling') return this.leave(holder, 'cancelled');
    return this.leave(holder, losses >= this.core.config.runs.maxAttempts ? 'failed' : 'queued');
  }

  /** A holder that lost its run goes on, and must not get anywhere. */
  private async haunt(pick: number): Promise<boolean> {
    const [holder] = this.holders;
    if (this.ghosts.length === 0 && holder !== undefined) await this.withHolder('die', holder);
    const ghost = this.ghosts[pick % Math.max(1, this.ghosts.length)];
    if (ghost === undefined) return false;
    for (const deed of [
      () => this.core.log.append(ghost.lease, ghost.events.start('ghost')),
      () => finish(this.core, ghost.lease),
      () => this.core.ending.handBack(ghost.lease, { execMs: 1 }),
    ]) {
      const outcome: unknown = await deed().catch((error: unknown) => error);
      if (!(outcome instanceof FencedError)) throw new Error('a holder without a run was let in');
    }
    return true;
  }

  private async cancel(pick: number): Promise<boolean> {
    const runIds = [...this.statuses.keys()];
    const runId = runIds[pick % Math.max(1, runIds.length)];
    if (runId === undefined) return false;
    const { sessionId } = await runRow(this.core.database, runId);
    const before = this.statuses.get(runId)!;
    this.steps += 1;
    const receipt = await this.core.runs.cancel(ALICE, { sessionId, requestId: `cancel-${this.steps}`, runId });
    const after = AFTER_CANCEL[before];
    const expected = isTerminalStatus(before) ? 'noop' : after;
    if (receipt.disposition !== expected) throw new Error(`cancel of ${before} said ${receipt.disposition}`);
    this.statuses.set(runId, after);
    return true;
  }

  /** Whatever happened, every run can be brought to an end. */
  private async endAll(): Promise<void> {
    for (const [runId, status] of this.statuses) {
      if (status === 'waiting_input') await this.cancel([...this.statuses.keys()].indexOf(runId));
    }
    for (let round = 0; round < 1000; round += 1) {
      const holder = this.holders[0];
      if (holder !== undefined) {
        await this.withHolder('finish', holder);
      } else if (!(await this.claim())) break;
    }
    const left = [...this.statuses].filter(([, status]) => !isTerminalStatus(status));
    if (left.length > 0) throw new Error(`never ended: ${left.map(([runId, status]) => `${runId} ${status}`).join()}`);
  }

  /** The log of a run is read again when its row has changed. */
  private async checkRun(row: RunRow): Promise<void> {
    const status = this.statuses.get(row.id);
    if (row.status !== status) throw new Error(`run ${row.id} is ${row.status}, the model says ${status}`);
    const state = `${row.status} ${row.lastSeq} ${row.queueState} ${row.activeSessionId}`;
    if (this.checked.get(row.id) === state) return;
    this.checked.set(row.id, state);
    const fault = logFault(await logOf(this.core, row.id), row);
    if (fault !== undefined) throw new Error(`run ${row.id}: ${fault}`);
  }

  private async check(): Promise<void> {
    const rows = await this.core.database.query<Record<string, unknown>>(
      `SELECT * FROM runs WHERE kind = 'message' AND session_id IN (${this.sessions.map(() => '?').join()})`,
      this.sessions,
    );
    const active = new Map<string, string>();
    const ready = new Map<string, string>();
    for (const row of rows.map(runRowOf)) {
      await this.checkRun(row);
      if (row.activeSessionId !== null) active.set(row.sessionId, row.id);
      if (row.queueState !== 'ready') continue;
      if (ready.has(row.sessionId)) throw new Error('two runs of a session are ready');
      ready.set(row.sessionId, row.id);
    }
    if (rows.length !== this.statuses.size) throw new Error(`${rows.length} runs, the model has ${this.statuses.size}`);
    for (const [sessionId, runId] of ready) {
      if (active.has(sessionId) && active.get(sessionId) !== runId)
        throw new Error('a run is ready beside an active one');
    }
  }
}

const AFTER_CANCEL: Record<RunStatus, RunStatus> = {
  queued: 'cancelled',
  running: 'cancelling',
  waiting_input: 'cancelled',
  cancelling: 'cancelling',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
};

function logFault(log: readonly LoggedEvent[], row: RunRow): string | undefined {
  const last = log.at(-1);
  if (last === undefined) return 'it has no events';
  if (log.some((event, index) => event.seq !== index + 1)) return 'its numbers are not dense';
  const ends = log.filter(isTerminal).length;
  if (ends !== (isTerminalStatus(row.status) ? 1 : 0)) return `it has ${ends} terminal events`;
  if (ends === 1 && !isTerminal(last)) return 'its terminal event is not the last';
  if (row.lastSeq !== last.seq) return 'its row counts other events';
  if (row.status !== last.status || row.code !== last.code || row.stage !== last.stage)
    return 'its row says another state';
  const isActive = row.startedAt !== null && !isTerminalStatus(row.status);
  if ((row.activeSessionId !== null) !== isActive) return 'its session is not held as it should';
  if (row.terminalSeq !== (ends === 1 ? last.seq : null)) return 'its row names another terminal event';
  if (row.status === 'queued' && row.queueState === 'none') return 'it is queued and not in the queue';
  if (row.status !== 'queued' && row.queueState !== 'none') return 'it is in the queue and not queued';
  const jump = log.find((event, index) => index > 0 && !isLegalTransition(log[index - 1]!.status, event.status));
  if (jump !== undefined) return `${jump.type} is no legal transition`;
  return openFault(log);
}

/** In a log that is over or handed on, every reason and every call has its end. */
function openFault(log: readonly LoggedEvent[]): string | undefined {
  const last = log.at(-1)!;
  if (!isTerminal(last) && last.type !== 'recovered') return undefined;
  const started = log.filter((event) => event.type === 'reason_start').length;
  const ended = log.filter((event) => event.type === 'reason_end').length;
  if (started !== ended) return `${started} reasons were begun, ${ended} ended`;
  const calls = log.flatMap((event) => (event.type === 'tool_call_start' ? [event.callId] : []));
  const ends = log.flatMap((event) => (event.type === 'tool_call_end' ? [event.callId] : []));
  return calls.toSorted().join() === ends.toSorted().join() ? undefined : 'a tool call has not exactly one end';
}

const SAID_BY_CHILD = 'as your helper I say';

/** A sub-agent that thinks, calls a tool and answers. */
function* subagent(events: EngineEvents): Generator<EngineEvent> {
  const [first, second] = [events.reasonId(), events.reasonId()];
  const callId = `${first}-now`;
  yield events.make('run_start', {});
  yield events.start(first);
  yield events.text(first, SAID_BY_CHILD);
  yield events.answer(first, SAID_BY_CHILD, [{ callId, providerCallId: 'call_a', toolName: 'now', args: {} }]);
  yield events.toolStart(first, callId);
  yield events.toolEnd(first, callId);
  yield events.start(second);
  yield events.answer(second, SAID_BY_CHILD);
  yield events.end(SAID_BY_CHILD);
}

/** Thinks, calls a tool and then a sub-agent, thinks again and answers; the model's own ids repeat. */
function* agent(events: EngineEvents, conversation: Trace): Generator<EngineEvent> {
  if (conversation.openCalls !== undefined) {
    const { reasonId, calls } = conversation.openCalls;
    for (const call of calls) {
      yield events.toolStart(reasonId, call.callId);
      yield events.toolEnd(reasonId, call.callId);
    }
  }
  for (let turn = conversation.turnsTaken; ; turn += 1) {
    const reasonId = events.reasonId();
    yield events.start(reasonId);
    yield events.text(reasonId, 'let ');
    yield events.text(reasonId, 'me see');
    if (turn % 2 === 1) {
      yield events.answer(reasonId, 'let me see');
      continue;
    }
    const calls = ['a', 'b'].map((name) => ({
      callId: `${reasonId}-${name}`,
      providerCallId: `call_${name}`,
      toolName: 'now',
      args: {},
    }));
    yield events.answer(reasonId, 'let me see', calls);
    for (const call of calls) {
      yield events.toolStart(reasonId, call.callId);
      if (call === calls[1]) yield* subagent(events.ofChild(call.callId));
      yield events.toolEnd(reasonId, call.callId);
    }
  }
}
