import type { CreateSession } from '../../sessions/sessions.types.js';
import type { CreateSessionDto } from './sessions.dto.js';

/** The command that a body of `POST /v1/sessions` asks for. */
export function toCreateSession(dto: CreateSessionDto): CreateSession {
  return {
    agent: dto.agent,
    userId: dto.user_id,
    capabilities: dto.capabilities,
    clientReference: dto.client_reference,
    timeZone: dto.time_zone,
    state: dto.state,
    requestId: dto.request_id,
  };
}
