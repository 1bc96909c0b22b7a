import type { JsonObject } from '../common/json.js';
import type { Capability } from '../events/projection.js';

/** A session as services know it; times in epoch milliseconds. */
export interface Session {
  /** The only key that other tables use. */
  readonly id: string;
  readonly tenantId: string;
  /** Agent of `/v1` sessions; any name on the ADK wire. */
  readonly appName: string;
  readonly userId: string;
  /** The id on the ADK wire; equal to `id` for sessions made over `/v1`. */
  readonly externalId: string;
  /** The session's own keys, without `app:` and `user:`. */
  readonly state: JsonObject;
  readonly version: number;
  /** The ceiling of a message's capabilities, sorted. */
  readonly capabilities: readonly Capability[];
  readonly clientReference: string | null;
  readonly timeZone: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A session with what its runs say of it. */
export interface SessionView extends Session {
  readonly status: 'idle' | 'running' | 'waiting_input' | 'closed';
  readonly activeRunId: string | null;
  readonly lastRunId: string | null;
  /** Merged view: session keys, `app:` keys of the app, `user:` keys of the user. Absent in lists. */
  readonly mergedState?: JsonObject;
}

export interface CreateSession {
  /** Default `runs.defaultAgent`. */
  readonly agent?: string;
  /** Default the principal's subject. */
  readonly userId?: string;
  /** Default those of the agent. */
  readonly capabilities?: readonly Capability[];
  readonly clientReference?: string;
  readonly timeZone?: string;
  readonly state?: JsonObject;
  /** Makes the creation repeatable: the same id and body answer the same session. */
  readonly requestId?: string;
}

/** A session of the ADK wire: (app, user, its own id). */
export interface NamedSession {
  readonly appName: string;
  readonly userId: string;
  readonly externalId: string;
}

export interface SessionList {
  readonly sessions: readonly SessionView[];
  readonly nextPageToken: string | null;
  readonly hasMore: boolean;
}
