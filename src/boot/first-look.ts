import { SessionsService } from '../sessions/sessions.service.js';
import type { Principal } from '../auth/principal.js';

const REFERENCE = 'first-look';
const CALLER: Principal = {
  tenantId: 'default',
  subject: 'local',
  scopes: new Set(['audit:read', 'admin']),
  mode: 'none',
};

/**
 * One curl that can be pasted as it is: it sends the sample picture and streams the answer.
 * @param url base of the HTTP door
 */
export async function firstLookCurl(sessions: SessionsService, url: string): Promise<string> {
  const known = await sessions.list(CALLER, { clientReference: REFERENCE, limit: 1 });
  const sessionId = known.sessions[0]?.id ?? (await sessions.create(CALLER, { clientReference: REFERENCE })).session.id;
  return [
    `curl -N ${url}/v1/actions -H 'content-type: application/json' -H 'accept: text/event-stream' \\`,
    `  -d '{"session_id":"${sessionId}","request_id":"look-'$(date +%s)'","action":"message","text":"What is on this picture?","resources":[{"data":"'$(base64 < config/samples/receipt.png | tr -d '\\n')'"}]}'`,
  ].join('\n');
}
