import { AdkClient, strictFrames, textsOf, until } from '../support/adk-client.js';
import { startServer, type TestServer } from '../support/server.js';

const RESTARTS_MS = 90_000;
const WORDS = 80;
const STOPPING = 'the server is stopping; the run goes on and its session will show the rest';
const WHOLE_TEXT = Array.from({ length: WORDS }, (_, index) => `w${index + 1} `).join('');

/** What a client of `/run_sse` sees of a server that stops. */
describe('an open /run_sse', () => {
  let server: TestServer;

  beforeEach(async () => {
    server = await startServer({ env: { BRIDLE_SERVER_SHUTDOWN_MS: '300' } });
  });

  afterEach(() => server.dispose());

  const client = (): AdkClient => new AdkClient(Number(new URL(server.http).port));

  it(
    'ends with an error frame and a whole body at SIGTERM, and its run goes on after the start',
    async () => {
      const id = await client().session();
      const response = await client().say(id, `stream:${WORDS}:50`, { streaming: true });
      const reader = response.body!.getReader();
      const begin = await reader.read();
      const stopping = server.stop();
      const decoder = new TextDecoder();
      let text = decoder.decode(begin.value, { stream: true });
      for (let next = await reader.read(); !next.done; next = await reader.read())
        text += decoder.decode(next.value, { stream: true });
      expect(await stopping).toBe(0);

      expect(text.endsWith(`data: {"error": "${STOPPING}"}\n\n`)).toBe(true);
      const frames = strictFrames(text);
      const partials = frames.slice(0, -1);
      expect(partials.every((frame) => frame['partial'] === true)).toBe(true);
      const said = partials.flatMap(textsOf).join('');
      expect(WHOLE_TEXT.startsWith(said)).toBe(true);
      expect(said.length).toBeLessThan(WHOLE_TEXT.length);

      await server.restart();
      await until(async () => (await client().events(id)).length > 1);
      expect((await client().events(id)).map(textsOf)).toEqual([[`stream:${WORDS}:50`], [WHOLE_TEXT]]);
    },
    RESTARTS_MS,
  );

  it(
    'of a run that ends within the grace period ends as ever',
    async () => {
      await server.stop();
      await server.restart({ BRIDLE_SERVER_SHUTDOWN_MS: '10000' });
      const id = await client().session();
      const response = await client().say(id, 'stream:20:50', { streaming: true });
      const stopping = server.stop();
      const frames = strictFrames(await response.text());
      expect(await stopping).toBe(0);
      expect(frames.some((frame) => 'error' in frame)).toBe(false);
      expect(frames.at(-1)).toMatchObject({ partial: false, finishReason: 'STOP' });
    },
    RESTARTS_MS,
  );
});
