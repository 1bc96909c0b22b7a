import type { HarnessEvent } from './harness-event.js';
import type { RunStatus } from './run-state.js';

/** An event as the log holds it: with its position and the state it left its run in. */
export type LoggedEvent = HarnessEvent & {
  /** 1, 2, 3 … per run, dense: the SSE id, the poll cursor and gRPC's `after_seq`. */
  readonly seq: number;
  readonly status: RunStatus;
  readonly code: string;
  readonly stage: string;
};

export const CAPABILITIES = ['vision', 'image_generation'] as const;

/** What an agent can do with pictures. */
export type Capability = (typeof CAPABILITIES)[number];

/** What never changes during a run; all that a projection may know beside the events. */
export interface RunFacts {
  readonly tenantId: string;
  readonly sessionId: string;
  /** The session's name on the wire that made it (ADK's own session id); `sessionId` elsewhere. */
  readonly externalSessionId: string;
  readonly appName: string;
  readonly userId: string;
  readonly runId: string;
  readonly agentName: string;
  /** `e-<uuid>` unless the caller sent one. */
  readonly invocationId: string;
  readonly capabilities: readonly Capability[];
  readonly language: 'zh' | 'en';
  readonly profile: 'native' | 'parity';
}

/**
 * One dialect: folds the log of a run into what goes over its wire. Pure, and the same code for a live stream
 * and for stored history.
 */
export interface Projection<State, Wire> {
  initial(run: RunFacts): State;
  step(state: State, event: LoggedEvent): { readonly state: State; readonly wires: readonly Wire[] };
}

/** All wires of a list of events. */
export function projectAll<State, Wire>(
  projection: Projection<State, Wire>,
  run: RunFacts,
  events: readonly LoggedEvent[],
): Wire[] {
  let state = projection.initial(run);
  const wires: Wire[] = [];
  for (const event of events) {
    const next = projection.step(state, event);
    state = next.state;
    wires.push(...next.wires);
  }
  return wires;
}
