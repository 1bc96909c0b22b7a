import type { JsonObject } from '../../src/common/json.js';

export const SESSIONS = '/apps/harness_agent/users/u1/sessions';

export interface AdkFrame extends JsonObject {
  readonly content: { readonly parts: readonly JsonObject[] };
}

/** Calls the ADK routes as one user, and reads streams as the strictest client does. */
export class AdkClient {
  private count = 0;

  constructor(
    readonly port: number,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  request(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...this.headers, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async session(id = `s-${(this.count += 1)}`): Promise<string> {
    expect((await this.request('POST', SESSIONS, { sessionId: id })).status).toBe(200);
    return id;
  }

  run(
    sessionId: string,
    parts: unknown,
    more: object = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const body = { appName: 'harness_agent', userId: 'u1', sessionId, newMessage: { parts }, ...more };
    return this.request('POST', '/run_sse', body, headers);
  }

  say(sessionId: string, text: string, more: object = {}): Promise<Response> {
    return this.run(sessionId, [{ text }], more);
  }

  async events(sessionId: string): Promise<AdkFrame[]> {
    const response = await this.request('GET', `${SESSIONS}/${sessionId}`);
    return ((await response.json()) as { events: AdkFrame[] }).events;
  }
}

/** Frames as the strictest client reads them: blocks that begin with `data: ` and hold one line of JSON. */
export function strictFrames(text: string): JsonObject[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      expect(block).toMatch(/^data: [^\n\r]+$/);
      return JSON.parse(block.slice('data: '.length)) as JsonObject;
    });
}

/** The texts of a frame's parts. */
export const textsOf = (frame: JsonObject | undefined): unknown[] =>
  (frame as AdkFrame).content.parts.map((part) => part['text']);

/** Waits until something is so, at most 10 s. */
export const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  for (let waited = 0; waited < 10_000; waited += 50) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not come true within 10 s');
};

/** Starts a run and closes the connection once its first frame came. */
export async function hangUp(
  client: AdkClient,
  sessionId: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const response = await client.run(sessionId, [{ text }], {}, headers);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
}
