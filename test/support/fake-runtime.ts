import type { EngineEvent, EngineEventType, EventFields, EventOf, ParentLink } from '../../src/events/harness-event.js';
import { taskIdOf } from '../../src/events/task-id.js';
import type { EndReason } from '../../src/events/values.js';
import type { AgentRun } from '../../src/harness/ports/agent-run.js';
import { AgentRuntime } from '../../src/runs/ports/agent-runtime.port.js';
import { tokens } from './scripted-chat-model.js';

/** What a fake agent does with a run. */
export type Behaviour = (run: AgentRun, signal: AbortSignal) => AsyncIterable<EngineEvent>;

/** An agent that does what the test says; by default it answers `done`. */
export class FakeRuntime extends AgentRuntime {
  readonly inputs: AgentRun[] = [];

  constructor(public behave: Behaviour = answers('done')) {
    super();
  }

  run(input: AgentRun, signal: AbortSignal): AsyncIterable<EngineEvent> {
    this.inputs.push(input);
    return this.behave(input, signal);
  }
}

/** Events of a run as an engine makes them; `streamId` tells who made them. */
export class EngineEvents {
  private reasons = 0;

  constructor(
    private readonly run: { readonly runId: string; readonly sessionId: string; readonly parent?: ParentLink },
    readonly streamId = 'stream',
  ) {}

  /** Those of a sub-agent that a call of this agent runs; its run is `child of <callId>`. */
  ofChild(callId: string): EngineEvents {
    const { runId, sessionId } = this.run;
    const task = { runId, taskId: taskIdOf(callId, 1), taskIndex: 1, agentName: 'harness_agent', description: 'help' };
    return new EngineEvents({ runId: `child of ${callId}`, sessionId, parent: task }, `${this.streamId} ${callId}`);
  }

  make<T extends EngineEventType>(type: T, fields: EventFields[T]): EngineEvent {
    const { parent, ...run } = this.run;
    const agentName = parent === undefined ? 'harness_agent' : 'helper';
    const common = { ...run, at: 1000, agentName, streamId: this.streamId, ...(parent && { parent }) };
    return { type, ...common, ...fields } as unknown as EngineEvent;
  }

  /** A new reason id of this stream. */
  reasonId(): string {
    this.reasons += 1;
    return `${this.streamId}-${this.reasons}`;
  }

  start = (reasonId: string): EngineEvent => this.make('reason_start', { reasonId });

  text = (reasonId: string, text: string): EngineEvent => this.make('reason_delta', { reasonId, kind: 'text', text });

  thinking = (reasonId: string, text: string): EngineEvent =>
    this.make('reason_delta', { reasonId, kind: 'thinking', text });

  answer = (reasonId: string, text: string, toolCalls: EventFields['reason_end']['toolCalls'] = []): EngineEvent =>
    this.make('reason_end', {
      reasonId,
      text,
      toolCalls,
      finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
      usage: tokens(10, 5),
      durationMs: 1,
    });

  toolStart = (reasonId: string, callId: string): EngineEvent =>
    this.make('tool_call_start', { callId, toolName: 'now', args: {}, reasonId });

  toolEnd = (reasonId: string, callId: string, text = 'noon'): EngineEvent =>
    this.make('tool_call_end', { callId, toolName: 'now', reasonId, outcome: 'ok', text, error: null, durationMs: 1 });

  end = (text: string, reason: EndReason = 'completed'): EventOf<'run_end'> =>
    this.make('run_end', {
      text,
      reason,
      abnormal: reason !== 'completed',
      metrics: { ...tokens(10, 5), totalDuration: 1 },
    }) as EventOf<'run_end'>;
}

/** Reasons once and answers with these pieces. */
export function answers(...pieces: readonly string[]): Behaviour {
  return async function* (run, signal) {
    const events = new EngineEvents(run.run, `stream-${run.attempt}`);
    const reasonId = events.reasonId();
    yield events.make('run_start', {});
    yield events.start(reasonId);
    for (const piece of pieces) {
      signal.throwIfAborted();
      yield events.text(reasonId, piece);
    }
    yield events.answer(reasonId, pieces.join(''));
    const end = events.end(pieces.join(''));
    if (await run.inputs.mayEnd(end)) yield end;
  };
}

/** Says the pieces, then waits until it is aborted. */
export function hangs(...pieces: readonly string[]): Behaviour {
  return async function* (run, signal) {
    const events = new EngineEvents(run.run, `stream-${run.attempt}`);
    const reasonId = events.reasonId();
    yield events.make('run_start', {});
    yield events.start(reasonId);
    for (const piece of pieces) yield events.text(reasonId, piece);
    await new Promise((_resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop);
    });
  };
}
