import type { CreateSession } from '../../sessions/sessions.types.js';
import type { CreateSessionDto } from './sessions.dto.js';

/** The command that a body of `POST /v1/sessions` asks for; null counts as absent. */
export function toCreateSession(dto: CreateSessionDto): CreateSession {
  return {
    agent: dto.agent ?? undefined,
    userId: dto.user_id ?? undefined,
    capabilities: dto.capabilities ?? undefined,
    clientReference: dto.client_reference ?? undefined,
    timeZone: dto.time_zone ?? undefined,
    state: dto.state ?? undefined,
    requestId: dto.request_id ?? undefined,
  };
}
