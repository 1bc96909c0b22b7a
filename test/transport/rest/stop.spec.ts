import { OpenStreams } from '../../../src/transport/http/open-streams.js';
import { bootRest, type RestApp } from './rest-app.js';

describe('a long poll', () => {
  let server: RestApp;
  beforeEach(async () => {
    server = await bootRest();
  });
  afterEach(() => server.close());

  it('gets its page when the server stops, so that the stop does not wait for it', async () => {
    const { runs } = server.services;
    const { page } = runs;
    let isWaiting = (): void => undefined;
    const waits = new Promise<void>((resolve) => (isWaiting = resolve));
    runs.page = async (principal, query, signal) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
        isWaiting();
      });
      return page(principal, query, signal);
    };
    const answer = server.call('GET', '/v1/sessions/S1/runs/R1?cursor=26&wait_ms=25000');
    await waits;
    await server.app.get(OpenStreams).beforeApplicationShutdown();
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([200, { events: [], next_cursor: 26 }]);
  });
});
