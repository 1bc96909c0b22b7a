import type { JsonObject } from '../../common/json.js';
import type { EventOf } from '../../events/harness-event.js';
import type { LoggedEvent, Projection, RunFacts } from '../../events/projection.js';
import type { ToolCallRequest } from '../../events/values.js';
import { answerEvent } from './adk-answer.js';
import { answerContent, approvalEvents } from './adk-approvals.js';
import { agentEvent, userEvent, withoutTemp, type AdkEvent, type EventContent } from './adk-event.js';
import { ASK_USER, responsePart, toContent, toResponse, wireCallId } from './adk-parts.js';

/** One frame: an event, or the error that ends a failed run. */
export type AdkWire =
  { readonly kind: 'event'; readonly event: AdkEvent } | { readonly kind: 'error'; readonly message: string };

/** `stream`: what `/run_sse` sends; `session`: what `GET session` lists, user events included and partials not. */
export interface AdkView {
  readonly view: 'stream' | 'session';
  /** Stream only: deltas as partial events before their aggregate. */
  readonly streaming: boolean;
}

export interface AdkState {
  readonly run: RunFacts;
  readonly modelVersion: string | undefined;
  /** The calls of the newest aggregate. */
  readonly calls: readonly ToolCallRequest[];
  /** A batch is open: its results and effects wait for its end. */
  readonly isActing: boolean;
  readonly responses: ReadonlyMap<string, JsonObject>;
  readonly stateDelta: JsonObject;
  readonly artifactDelta: JsonObject;
  /** Half an answer; what follows decides whether it is shown. */
  readonly half: AdkEvent | undefined;
  readonly callLimit: number | undefined;
}

const NOTHING_DONE = { isActing: false, responses: new Map<string, JsonObject>(), stateDelta: {}, artifactDelta: {} };

type Step = { readonly state: AdkState; readonly wires: readonly AdkWire[] };
type Logged<T extends LoggedEvent['type']> = LoggedEvent & EventOf<T>;

/** Folds a run's log into the events of Google's ADK. Events of sub-agents are left out. */
export class AdkProjection implements Projection<AdkState, AdkWire> {
  constructor(private readonly options: AdkView) {}

  initial(run: RunFacts): AdkState {
    const nothing = { modelVersion: undefined, calls: [], half: undefined, callLimit: undefined };
    return { run, ...nothing, ...NOTHING_DONE };
  }

  step(state: AdkState, event: LoggedEvent): Step {
    if (event.parent !== undefined) return { state, wires: [] };
    const { half, ...rest } = state;
    if (half === undefined || event.type === 'run_end' || event.type === 'usage') return this.next(state, event);
    const after = this.next({ ...rest, half: undefined }, event);
    // A failed run shows its error in place of what it had said so far.
    const isFailure = event.type === 'run_failed' || event.type === 'run_expired';
    return isFailure ? after : { ...after, wires: [shown(half), ...after.wires] };
  }

  private next(state: AdkState, event: LoggedEvent): Step {
    switch (event.type) {
      case 'run_queued':
        return this.user(state, event, queued(event));
      case 'steer_applied':
        return this.user(state, event, { content: toContent(event.input) });
      case 'answer_accepted':
        return this.user(state, event, answerContent(state.run, state.calls, event));
      case 'imported':
        return { state, wires: this.inSession([shown(event.event)]) };
      case 'reason_start':
        return { state: { ...state, modelVersion: modelVersionOf(event) ?? state.modelVersion }, wires: [] };
      case 'reason_delta':
        return { state, wires: this.partial(state, event) };
      case 'reason_end':
        return reasoned(state, event);
      case 'hitl_pending':
        return { state, wires: approvalEvents(state.run, state.calls, event).map(shown) };
      case 'action_start':
        return { state: { ...state, isActing: true }, wires: [] };
      case 'tool_call_end':
        return {
          state: { ...state, responses: new Map(state.responses).set(event.callId, toResponse(event)) },
          wires: [],
        };
      case 'state_delta':
        return this.stateDelta(state, event);
      case 'artifact':
        return this.artifact(state, event);
      case 'action_end':
        return this.acted(state, event);
      case 'run_end':
        return { state: { ...state, callLimit: callLimitOf(event) }, wires: [] };
      case 'run_failed':
      case 'run_expired':
        return this.failed(state, event);
      case 'run_cancelled':
        return this.cancelled(state, event);
      default:
        return { state, wires: [] };
    }
  }

  private inSession(wires: readonly AdkWire[]): readonly AdkWire[] {
    return this.options.view === 'session' ? wires : [];
  }

  private user(state: AdkState, event: LoggedEvent, said: EventContent | undefined): Step {
    return { state, wires: said === undefined ? [] : this.inSession([shown(userEvent(state.run, event, said))]) };
  }

  private partial(state: AdkState, event: Logged<'reason_delta'>): AdkWire[] {
    if (this.options.view === 'session' || !this.options.streaming || event.text === undefined) return [];
    const part = { text: event.text, ...(event.kind === 'thinking' && { thought: true }) };
    const { modelVersion } = state;
    const said = { modelVersion, content: { parts: [part], role: 'model' }, partial: true };
    return [shown(agentEvent(state.run, event, said))];
  }

  private stateDelta(state: AdkState, event: Logged<'state_delta'>): Step {
    if (state.isActing) return { state: { ...state, stateDelta: { ...state.stateDelta, ...event.delta } }, wires: [] };
    const said = { actions: { stateDelta: event.delta } };
    // Outside an engine it is a change made by hand.
    if (event.streamId === '') return this.user(state, event, said);
    return { state, wires: [shown(agentEvent(state.run, event, said))] };
  }

  private artifact(state: AdkState, event: Logged<'artifact'>): Step {
    const artifactDelta = { ...state.artifactDelta, [event.filename]: event.version };
    if (state.isActing) return { state: { ...state, artifactDelta }, wires: [] };
    return { state, wires: [shown(agentEvent(state.run, event, { actions: { artifactDelta } }))] };
  }

  /** The one event with the results of a batch; a stream shows its artifacts in a second frame. */
  private acted(state: AdkState, event: LoggedEvent): Step {
    const { run, calls, responses, stateDelta, artifactDelta } = state;
    const done = { ...state, ...NOTHING_DONE };
    const parts = calls.flatMap((call) => {
      const response = responses.get(call.callId);
      // The user's own event holds the answer to a question.
      if (response === undefined || call.toolName === ASK_USER) return [];
      return [responsePart(wireCallId(call), call.toolName, response)];
    });
    const content = parts.length === 0 ? undefined : { parts, role: 'user' };
    const hasArtifacts = Object.keys(artifactDelta).length > 0;
    if (content === undefined && !hasArtifacts && Object.keys(withoutTemp(stateDelta)).length === 0)
      return { state: done, wires: [] };
    const whole = agentEvent(run, event, { content, actions: { stateDelta, artifactDelta } });
    if (this.options.view === 'session' || content === undefined || !hasArtifacts)
      return { state: done, wires: [shown(whole)] };
    const said = agentEvent(run, event, { content, actions: { stateDelta } });
    const saved = agentEvent(run, event, { actions: { stateDelta, artifactDelta } });
    return { state: done, wires: [shown(said), shown(saved)] };
  }

  private failed(state: AdkState, event: Logged<'run_failed'> | Logged<'run_expired'>): Step {
    const closed = this.closeBatch(state, event);
    const { code } = event.error;
    const limit = code === 'TURN_LIMIT' ? state.callLimit : undefined;
    const message =
      limit === undefined ? event.error.message : `Max number of llm calls limit of \`${limit}\` exceeded`;
    const failure = agentEvent(state.run, event, { errorCode: code, errorMessage: message }, closed.wires.length);
    return { state: closed.state, wires: [...closed.wires, shown(failure), ...this.inStream(message)] };
  }

  private cancelled(state: AdkState, event: Logged<'run_cancelled'>): Step {
    const closed = this.closeBatch(state, event);
    return { state: closed.state, wires: [...closed.wires, ...this.inStream('The run was cancelled.')] };
  }

  private inStream(message: string): AdkWire[] {
    return this.options.view === 'stream' ? [{ kind: 'error', message }] : [];
  }

  /** A run that ends inside a batch leaves no call without its answer. */
  private closeBatch(state: AdkState, event: LoggedEvent): Step {
    return state.isActing ? this.acted(state, event) : { state, wires: [] };
  }
}

const shown = (event: AdkEvent): AdkWire => ({ kind: 'event', event });

function queued({ input, stateDelta = {} }: Logged<'run_queued'>): EventContent | undefined {
  if (input === null && Object.keys(withoutTemp(stateDelta)).length === 0) return undefined;
  return { content: input === null ? undefined : toContent(input), actions: { stateDelta } };
}

const modelVersionOf = ({ meta }: LoggedEvent): string | undefined =>
  typeof meta?.['modelVersion'] === 'string' ? meta['modelVersion'] : undefined;

const callLimitOf = ({ meta }: Logged<'run_end'>): number | undefined =>
  typeof meta?.['maxTurns'] === 'number' ? meta['maxTurns'] : undefined;

/** What a model says; nothing for an attempt that was taken over. */
function reasoned(state: AdkState, event: Logged<'reason_end'>): Step {
  if (event.interrupted === 'recovered') return { state, wires: [] };
  const modelVersion = modelVersionOf(event) ?? state.modelVersion;
  const said = answerEvent(state.run, event, modelVersion);
  const after = { ...state, modelVersion, calls: event.toolCalls };
  if (event.interrupted !== undefined) return { state: { ...after, half: said }, wires: [] };
  return { state: after, wires: said === undefined ? [] : [shown(said)] };
}
