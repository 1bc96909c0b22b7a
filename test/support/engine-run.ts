import type { JsonObject } from '../../src/common/json.js';
import { SystemClock } from '../../src/common/clock.js';
import { Ids } from '../../src/common/ids.js';
import type { EngineEvent, EngineEventType, EventOf } from '../../src/events/harness-event.js';
import type { EngineInput } from '../../src/harness/engine/engine-input.js';
import { runEngine } from '../../src/harness/engine/run-engine.js';
import type { ChatMessage, ChatModel } from '../../src/harness/ports/chat-model.port.js';
import { AllowAll } from '../../src/harness/ports/permissions.port.js';
import type { Trace } from '../../src/harness/ports/trace.js';
import { NoInputs, RunInputs, type TakenInput } from '../../src/harness/ports/run-inputs.port.js';
import { Tool, type ToolContext, type ToolEffect, type ToolResult } from '../../src/harness/ports/tool.port.js';

/** `id1`, `id2`, … */
export class CountingIds extends Ids {
  private count = 0;

  next(): string {
    this.count += 1;
    return `id${this.count}`;
  }
}

export const userMessage = (text: string): ChatMessage => ({ role: 'user', parts: [{ kind: 'text', text }] });

/** What a test says of an engine run: any field, and those of the trace beside them. */
export type EngineChanges = Partial<EngineInput> & Partial<Trace>;

/** The input of an engine run with short waits; give it a model and what the test is about. */
export function anEngineInput(model: ChatModel, changes: EngineChanges = {}): EngineInput {
  const { messages = [userMessage('hi')], turnsTaken = 0, openCalls, openAnswer, ...rest } = changes;
  return {
    runId: 'r1',
    sessionId: 's1',
    streamId: 'st1',
    agentName: 'harness_agent',
    attempt: 1,
    system: 'Be brief.',
    language: 'en',
    trace: { messages, turnsTaken, openCalls, openAnswer },
    model,
    tools: [],
    permissions: new AllowAll(),
    toolContext: {},
    rejectSingle: 'end',
    path: [],
    limits: { maxTurns: 20, toolTimeoutMs: 5000, toolOutputChars: 1000, modelAttempts: 3, retryBaseMs: 1 },
    inputs: new NoInputs(),
    clock: new SystemClock(),
    ids: new CountingIds(),
    ...rest,
  };
}

type ToolBody = (args: JsonObject, context: ToolContext, signal: AbortSignal) => ToolResult | Promise<ToolResult>;

/** A tool made of a function; by default it takes any object and is `unsafe`. */
export class FakeTool extends Tool {
  readonly declaration;
  readonly started: { readonly args: JsonObject; readonly context: ToolContext }[] = [];

  constructor(
    name: string,
    private readonly body: ToolBody,
    readonly effect: ToolEffect = 'unsafe',
    parameters: JsonObject = { type: 'object' },
    override readonly timeoutMs?: number,
  ) {
    super();
    this.declaration = { name, description: `the tool ${name}`, parameters };
  }

  async run(args: JsonObject, context: ToolContext, signal: AbortSignal): Promise<ToolResult> {
    this.started.push({ args, context });
    return this.body(args, context, signal);
  }
}

/** Inputs that arrive when the engine looks: the n-th `take` gets the n-th list. */
export class ScriptedInputs extends RunInputs {
  readonly ends: EventOf<'run_end'>[] = [];
  private looks = 0;

  constructor(
    private readonly waiting: readonly (readonly string[])[] = [],
    private refusals = 0,
  ) {
    super();
  }

  take(): Promise<readonly TakenInput[]> {
    const texts = this.waiting[this.looks] ?? [];
    this.looks += 1;
    return Promise.resolve(
      texts.map((text) => ({ input: { parts: [{ kind: 'text', text }] }, message: userMessage(text) })),
    );
  }

  mayEnd(end: EventOf<'run_end'>): Promise<boolean> {
    this.ends.push(end);
    this.refusals -= 1;
    return Promise.resolve(this.refusals < 0);
  }
}

export interface RunRecord {
  readonly events: readonly EngineEvent[];
  /** What the generator threw; undefined when it ended by itself. */
  readonly error: unknown;
  /** From the abort to the end of the generator, milliseconds; 0 without an abort. */
  readonly endedAfterAbortMs: number;
}

/**
 * Runs the engine to its end and records it.
 * @param abortWhen decides after each event whether to abort now
 */
export async function record(
  input: EngineInput,
  abort = new AbortController(),
  abortWhen: (event: EngineEvent, count: number) => boolean = () => false,
): Promise<RunRecord> {
  const events: EngineEvent[] = [];
  let abortedAt: number | undefined;
  abort.signal.addEventListener('abort', () => (abortedAt = performance.now()));
  let error: unknown;
  try {
    for await (const event of runEngine(input, abort.signal)) {
      events.push(event);
      if (abortWhen(event, events.length)) abort.abort(new Error('stop'));
    }
  } catch (thrown) {
    error = thrown;
  }
  return { events, error, endedAfterAbortMs: abortedAt === undefined ? 0 : performance.now() - abortedAt };
}

export const typesOf = (events: readonly EngineEvent[]): string[] => events.map((event) => event.type);

/** The events of one type. */
export const only = <T extends EngineEventType>(events: readonly EngineEvent[], type: T): EventOf<T>[] =>
  events.filter((event): event is EngineEvent & EventOf<T> => event.type === type);

/** The one event of a type. */
export function the<T extends EngineEventType>(events: readonly EngineEvent[], type: T): EventOf<T> {
  const found = only(events, type);
  if (found.length !== 1) throw new Error(`${found.length} events of type ${type}`);
  return found[0]!;
}
