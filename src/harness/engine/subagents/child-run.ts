import type { EngineEvent, EventOf } from '../../../events/harness-event.js';
import { closingEvents, OpenWorkTracker } from '../../../events/open-work.js';
import { taskIdOf } from '../../../events/task-id.js';
import type { TokenCounts } from '../../../events/values.js';
import type { Subagent } from '../../ports/subagents.port.js';
import { NoInputs } from '../../ports/run-inputs.port.js';
import type { ChildTrace, Trace } from '../../ports/trace.js';
import type { EngineInput } from '../engine-input.js';
import { EngineLoop } from '../engine-loop.js';
import { deepFreeze } from '../event-factory.js';
import type { SteppedCall, Waiting } from '../stepped-tool.js';
import { TokenMeter } from '../token-meter.js';

/** One piece of work for a sub-agent. */
export interface Task {
  /** From 1, unique in its call. */
  readonly index: number;
  readonly agent: Subagent;
  readonly prompt: string;
  /** A very short label. */
  readonly description: string;
}

/** How a task went. */
export type TaskStatus = 'success' | 'failure' | 'abnormal' | 'pending' | 'cancelled';

export interface TaskEnding {
  readonly status: TaskStatus;
  readonly text: string;
  /** Set when it waits for a human. */
  readonly waiting?: Waiting;
}

/**
 * Runs a sub-agent for one task: an agent of its own, with no history but the prompt, and with no tool that its caller
 * lacks. Its events are yielded as they come, marked with where they hang; its tokens are added to the caller's.
 * @param call the tool call that the task belongs to
 * @param before what it did before it was suspended
 * @throws the signal's reason
 */
export async function* runChild(
  task: Task,
  call: SteppedCall,
  before: ChildTrace | undefined,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent, TaskEnding> {
  if (before?.end !== undefined) return endingOf(before.end, task);
  const input = childInput(task, call, before);
  const child = new Child(input);
  try {
    for await (const event of new EngineLoop(input, signal).run()) {
      child.follow(event);
      yield event;
    }
  } catch {
    // One task that breaks does not take the others along; a cancel does.
    signal.throwIfAborted();
    yield* child.closing();
    call.meter.add(child.tokens);
    return endingOf({ reason: 'broken', text: '' }, task);
  }
  const { end } = child;
  if (end === undefined) throw new Error(`the agent ${task.agent.name} stopped without an end`);
  call.meter.add(end.metrics);
  return { ...endingOf(end, task), ...(end.reason === 'pending' && { waiting: child.waiting }) };
}

/** What its caller must know of a sub-agent's events. */
class Child {
  end: EventOf<'run_end'> | undefined;
  waiting: Waiting = { tasks: [], questions: [] };
  private readonly work = new OpenWorkTracker();
  private readonly meter: TokenMeter;

  constructor(private readonly input: EngineInput) {
    this.meter = new TokenMeter(input.clock.nowMs());
  }

  /** @param event of the sub-agent, or of one that it called itself */
  follow(event: EngineEvent): void {
    this.work.add(event);
    if (event.type === 'reason_end' && event.usage !== undefined) this.meter.add(event.usage);
    if (event.runId !== this.input.runId) return;
    if (event.type === 'hitl_pending') this.waiting = { tasks: event.pendingTasks, questions: event.questions };
    if (event.type === 'run_end') this.end = event;
  }

  /** What it spent, those included that it called. */
  get tokens(): TokenCounts {
    return this.meter.metrics(this.input.clock.nowMs());
  }

  /** Ends for what it leaves open. */
  closing(): EngineEvent[] {
    const { clock, streamId } = this.input;
    return closingEvents(this.work.open(), 'failed', clock.nowMs()).map((event) => deepFreeze({ ...event, streamId }));
  }
}

function childInput(task: Task, { input, callId }: SteppedCall, before: ChildTrace | undefined): EngineInput {
  const { agent, index, description } = task;
  const taskId = taskIdOf(callId, index);
  const { answerCheck: _answerCheck, ...inherited } = input;
  return {
    ...inherited,
    runId: before?.runId ?? input.ids.next(),
    agentName: agent.name,
    system: agent.systemPrompt,
    trace: traceOfTask(task, before),
    model: agent.model ?? input.model,
    tools: input.tools.filter(({ declaration }) => agent.mayUse(declaration.name)),
    limits: { ...input.limits, maxTurns: agent.maxTurns ?? input.limits.maxTurns },
    inputs: new NoInputs(),
    parent: { runId: input.runId, taskId, taskIndex: index, agentName: input.agentName, description },
    path: [...input.path, taskId],
  };
}

/** The prompt is no event of the child: it is an argument of the call. */
function traceOfTask({ prompt }: Task, before: ChildTrace | undefined): Trace {
  const asked = { role: 'user', parts: [{ kind: 'text', text: prompt }] } as const;
  if (before === undefined) return { messages: [asked], turnsTaken: 0, openCalls: undefined, openAnswer: undefined };
  return { ...before.trace, messages: [asked, ...before.trace.messages] };
}

function endingOf({ reason, text }: NonNullable<ChildTrace['end']>, { agent }: Task): TaskEnding {
  switch (reason) {
    case 'broken':
      return { status: 'failure', text: `the agent ${agent.name} failed` };
    case 'completed':
      return { status: 'success', text };
    case 'provider_error':
      return { status: 'failure', text };
    case 'pending':
    case 'cancelled':
      return { status: reason, text };
    default:
      return { status: 'abnormal', text };
  }
}
