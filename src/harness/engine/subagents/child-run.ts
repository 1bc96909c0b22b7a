import type { EngineEvent } from '../../../events/harness-event.js';
import type { EndReason } from '../../../events/values.js';
import type { Subagent } from '../../ports/subagents.port.js';
import { NoInputs } from '../../ports/run-inputs.port.js';
import { taskIdOf, type ChildTrace, type Trace } from '../../ports/trace.js';
import type { EngineInput } from '../engine-input.js';
import { EngineLoop } from '../engine-loop.js';
import type { SteppedCall, Waiting } from '../stepped-tool.js';

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
  if (before?.end !== undefined) return { status: statusOf(before.end.reason), text: before.end.text };
  const input = childInput(task, call, before);
  let waiting: Waiting | undefined;
  try {
    for await (const event of new EngineLoop(input, signal).run()) {
      if (event.type === 'hitl_pending' && event.runId === input.runId) {
        waiting = { tasks: event.pendingTasks, questions: event.questions };
      }
      if (event.type === 'run_end' && event.runId === input.runId) {
        call.meter.add(event.metrics);
        yield event;
        const status = statusOf(event.reason);
        return { status, text: event.text, ...(status === 'pending' && waiting !== undefined && { waiting }) };
      }
      yield event;
    }
  } catch {
    // One task that breaks does not take the others along; a cancel does.
    signal.throwIfAborted();
    return { status: 'failure', text: `the agent ${task.agent.name} failed` };
  }
  throw new Error(`the agent ${task.agent.name} stopped without an end`);
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

function statusOf(reason: EndReason): TaskStatus {
  if (reason === 'completed') return 'success';
  if (reason === 'pending' || reason === 'cancelled') return reason;
  return reason === 'provider_error' ? 'failure' : 'abnormal';
}
