import { v5 } from 'uuid';
import type { Json, JsonObject } from '../../common/json.js';
import type { LoggedEvent, RunFacts } from '../../events/projection.js';

/** Name space of the ids that are made of a run and a place in its log. */
const NAMESPACE = '6f1c1c0e-2d0b-5c44-9a57-0d3f6f0b7a1e';

/** What an ADK event says, beside who says it and when; absent fields stay off the wire. */
export interface EventContent {
  readonly modelVersion?: string | undefined;
  readonly content?: { readonly parts?: readonly Json[]; readonly role: string } | undefined;
  readonly partial?: boolean;
  readonly finishReason?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly interrupted?: true | undefined;
  readonly usageMetadata?: JsonObject | undefined;
  readonly actions?: EventActions;
  readonly longRunningToolIds?: readonly string[] | undefined;
}

export interface EventActions {
  readonly skipSummarization?: true;
  readonly stateDelta?: JsonObject;
  readonly artifactDelta?: JsonObject;
  readonly requestedToolConfirmations?: JsonObject;
}

/** One event as it goes over the wire and into `GET session`, keys in the wire's order. */
export type AdkEvent = JsonObject;

/** Id of the part-th wire event of a log entry: the same in a stream, its replay and the session. */
export function eventId(runId: string, seq: number, part: number): string {
  return v5(`${runId}/${seq}:${part}`, NAMESPACE);
}

/** Id of the pseudo-call that asks to confirm a call. */
export function confirmationId(runId: string, callId: string): string {
  return `adk-${v5(`${runId}/${callId}`, NAMESPACE)}`;
}

/** An event of the run's agent. */
export function agentEvent(run: RunFacts, source: LoggedEvent, said: EventContent, part = 0): AdkEvent {
  return toEvent(run, source, said, { author: source.agentName, path: `${source.agentName}@1`, part });
}

/** An event of the user; only `GET session` shows it. */
export function userEvent(run: RunFacts, source: LoggedEvent, said: EventContent): AdkEvent {
  return toEvent(run, source, said, { author: 'user', path: '', part: 0 });
}

function toEvent(
  run: RunFacts,
  source: LoggedEvent,
  said: EventContent,
  { author, path, part }: { author: string; path: string; part: number },
): AdkEvent {
  const { modelVersion, content, partial, finishReason, errorCode, errorMessage, interrupted, usageMetadata } = said;
  return defined({
    modelVersion,
    content: content && defined({ parts: content.parts, role: content.role }),
    partial,
    finishReason,
    errorCode,
    errorMessage,
    interrupted,
    usageMetadata,
    invocationId: run.invocationId,
    author,
    actions: toActions(said.actions ?? {}),
    nodeInfo: { path },
    longRunningToolIds: said.longRunningToolIds,
    id: eventId(run.runId, source.seq, part),
    timestamp: source.at / 1000,
  });
}

function toActions({
  skipSummarization,
  stateDelta,
  artifactDelta,
  requestedToolConfirmations,
}: EventActions): JsonObject {
  return defined({
    skipSummarization,
    stateDelta: withoutTemp(stateDelta ?? {}),
    artifactDelta: artifactDelta ?? {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: requestedToolConfirmations ?? {},
  });
}

/** `temp:` keys live for one run and are never shown. */
export function withoutTemp(state: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('temp:')));
}

function defined(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
