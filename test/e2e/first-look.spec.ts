import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cornersPicture } from '../support/pictures.js';
import { startServer, type TestServer } from '../support/server.js';
import { readFrames, type SseFrame } from '../support/sse-client.js';
import { idsOf, upTo, V1Client, type RunKey } from '../support/v1-client.js';

const FOUR_KEYS = ['generationItems', 'intent', 'reply', 'suggestedTitle'];
/** The printed command reads the text of a whole receipt. */
const READING_MS = 90_000;

const dataOf = (frame: SseFrame): Record<string, unknown> => JSON.parse(frame.data) as Record<string, unknown>;

describe('the first look, without any key', () => {
  let server: TestServer;
  let v1: V1Client;

  beforeAll(async () => {
    server = await startServer({ env: { BRIDLE_MODEL_PROVIDER: 'auto' } });
    v1 = new V1Client(server);
  });

  afterAll(() => server.dispose());

  describe('a JPEG as base64 over POST /v1/actions', () => {
    let frames: SseFrame[];
    let run: RunKey;

    beforeAll(async () => {
      const sessionId = await v1.session({ agent: 'vision_agent' });
      const data = (await cornersPicture().jpeg().toBuffer()).toString('base64');
      frames = await v1.stream(v1.message(sessionId, 'Which colours are on it?', { resources: [{ data }] }));
      run = { sessionId, runId: dataOf(frames[0]!)['run_id'] as string };
    }, READING_MS);

    it('streams queued, running, progress and completed with dense ids', () => {
      expect(idsOf(frames)).toEqual(upTo(frames.length));
      expect(frames.map((frame) => frame.event).slice(0, 3)).toEqual(['run.queued', 'run.running', 'run.progress']);
      expect(dataOf(frames[1]!)).toEqual({
        session_id: run.sessionId,
        run_id: run.runId,
        code: 'ANALYZING_IMAGE',
        stage: 'analyzing',
      });
      expect(frames.at(-1)?.event).toBe('run.completed');
      expect(frames.filter((frame) => frame.event === 'run.completed')).toHaveLength(1);
    });

    it('ends with the four keys and what was measured of the picture', () => {
      const { result } = dataOf(frames.at(-1)!) as { result: { type: string; data: Record<string, unknown> } };
      expect(result.type).toBe('json');
      expect(Object.keys(result.data).sort()).toEqual(FOUR_KEYS);
      expect(result.data['intent']).toBe('reply');
      expect(result.data['reply']).toMatch(/JPEG, 64 × 32 pixels/);
    });

    it('shows the same ids and payloads on the poll page and on the envelope stream', async () => {
      const items = await v1.events(run);
      const envelopes = (await v1.follow(run)).map((frame) => ({ ...frame, body: dataOf(frame) }));
      expect(items.map((item) => item.id)).toEqual(idsOf(frames));
      expect(idsOf(envelopes)).toEqual(idsOf(frames));
      for (const [index, { id, event, body }] of envelopes.entries()) {
        const payload = body['data'] as Record<string, unknown>;
        const { session_id, run_id, capabilities, status, ...item } = payload;
        expect(body).toEqual({ id: Number(id), type: event, data: payload });
        expect({ session_id, run_id }).toEqual({ session_id: run.sessionId, run_id: run.runId });
        expect({ capabilities, status }).toEqual({
          capabilities: ['image_generation', 'vision'],
          status: expect.any(String),
        });
        expect(items[index]).toEqual({ id: Number(id), type: event, ...item });
        // Flat is a projection: every field that it has is the envelope's.
        expect(frames[index]!.event).toBe(event);
        expect(payload).toMatchObject(dataOf(frames[index]!));
      }
    });
  });

  it(
    'answers the printed curl, pasted as it is, with what stands on the sample receipt',
    async () => {
      const command = /^curl -N [^]*?\n(?=\n)/m.exec(server.logs())?.[0] ?? '';
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { maxBuffer: 10_000_000 });
      const frames: SseFrame[] = [];
      for await (const frame of readFrames(new Blob([stdout]).stream())) frames.push(frame);
      expect(idsOf(frames)).toEqual(upTo(frames.length));
      const { result } = dataOf(frames.at(-1)!) as { result: { data: { reply: string } } };
      expect(Object.keys(result.data).sort()).toEqual(FOUR_KEYS);
      expect(result.data.reply).toContain('CORNER CAFE');
      expect(result.data.reply).toContain('TOTAL EUR 16.70');
    },
    READING_MS,
  );

  it('makes the session of the first look once, whatever the number of starts', async () => {
    await server.stop();
    await server.restart();
    const { body } = await v1.call('GET', '/v1/sessions?client_reference=first-look');
    expect(body.sessions).toHaveLength(1);
    expect(server.logs().match(/"session_id":"[^"]+","request_id":"look-/g)).toHaveLength(2);
  });
});
