import { EventSource } from 'eventsource';
import { startServer, type TestServer } from '../support/server.js';

/** What a browser's EventSource sees, by a client that is not ours. */
describe('an EventSource on a run', () => {
  let server: TestServer;

  beforeEach(async () => {
    server = await startServer();
  });

  afterEach(async () => {
    await server.dispose();
  });

  async function post<T>(path: string, body: unknown): Promise<T> {
    const response = await fetch(`${server.http}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as T;
  }

  it('reads every event, comes back for the rest when the server ends the stream, and stops at 204', async () => {
    const session = await post<{ id: string }>('/v1/sessions', { agent: 'vision_agent' });
    const run = await post<{ run_id: string }>('/v1/actions', {
      action: 'message',
      session_id: session.id,
      request_id: 'q1',
      text: 'think:hm;say:one two three',
    });

    const answers: number[] = [];
    const source = new EventSource(`${server.http}/v1/sessions/${session.id}/runs/${run.run_id}/events`, {
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        answers.push(response.status);
        return response;
      },
    });
    const ids: number[] = [];
    const types = new Set<string>();
    for (const type of ['run.queued', 'run.running', 'run.progress', 'run.message_delta', 'run.completed']) {
      source.addEventListener(type, (event) => {
        ids.push(Number(event.lastEventId));
        types.add(type);
      });
    }
    await new Promise<void>((resolve) => {
      source.addEventListener('error', () => {
        if (source.readyState === EventSource.CLOSED) resolve();
      });
    });

    expect(ids).toEqual(ids.map((_unused, index) => index + 1));
    expect([...types]).toEqual(['run.queued', 'run.running', 'run.progress', 'run.message_delta', 'run.completed']);
    expect(answers).toEqual([200, 204]);
  });
});
