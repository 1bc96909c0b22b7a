import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readAll, GrpcTestClient } from '../support/grpc-client.js';
import { startLoopbackServer, type LoopbackServer } from '../support/loopback-server.js';
import { cornersPicture } from '../support/pictures.js';
import { startServer, type TestServer } from '../support/server.js';
import { readSse } from '../support/sse-client.js';
import { V1Client } from '../support/v1-client.js';

const QUESTION = 'Which colours are on it?';
const SIGNATURE = 'sig=SECRET-OF-THE-LINK';

/** The measured part of an answer: what stands between the words about the model and those about keys. */
const factsOf = (reply: string): string | undefined => /Picture 0: [^]*?(?=\n\n)/.exec(reply)?.[0];

/** One picture that goes in by every door. */
describe('the same picture', () => {
  let server: TestServer;
  let web: LoopbackServer;
  let v1: V1Client;
  let grpc: GrpcTestClient;
  let picture: Buffer;
  let base64: string;
  let sha256: string;
  const facts = new Map<string, string | undefined>();
  const digests = new Map<string, string>();

  /** Asks in a session of its own and keeps facts and digest, from the run's result and the session's snapshot. */
  async function ask(door: string, resource: (sessionId: string) => unknown): Promise<void> {
    const sessionId = await v1.session({ agent: 'vision_agent' });
    const run = await v1.send(sessionId, QUESTION, { resources: [await resource(sessionId)] });
    const { result } = await v1.ended(run);
    facts.set(door, factsOf(result?.data['reply'] as string));
    await keepDigest(door, sessionId);
  }

  async function keepDigest(door: string, sessionId: string): Promise<void> {
    const { runs } = await v1.snapshot(sessionId);
    digests.set(door, runs[0].requests[0].resources[0].sha256);
  }

  beforeAll(async () => {
    picture = await cornersPicture().jpeg().toBuffer();
    base64 = picture.toString('base64');
    sha256 = createHash('sha256').update(picture).digest('hex');
    web = await startLoopbackServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(picture);
    });
    const env = { BRIDLE_MODEL_PROVIDER: 'offline', BRIDLE_FETCH_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${web.port}` };
    server = await startServer({ env });
    v1 = new V1Client(server);
    grpc = new GrpcTestClient(server.grpc);
  });

  afterAll(async () => {
    grpc.close();
    await server.dispose();
    await web.close();
  });

  it('goes in as base64 over /v1', async () => {
    await ask('base64', () => ({ data: base64 }));
    expect(facts.get('base64')).toMatch(/JPEG, 64 × 32 pixels/);
    expect(digests.get('base64')).toBe(sha256);
  });

  it('goes in as a multipart upload and as a raw one', async () => {
    await ask('multipart', async (sessionId) => {
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(picture)], { type: 'image/jpeg' }), 'cover.jpg');
      const { status, body } = await v1.call('PUT', `/v1/sessions/${sessionId}/resources/cover`, form);
      expect({ status, ...body }).toMatchObject({ status: 201, resource_id: 'cover', sha256, width: 64, height: 32 });
      return { resource_id: 'cover' };
    });
    await ask('raw', async (sessionId) => {
      const path = `/v1/sessions/${sessionId}/resources/cover`;
      const type = { 'content-type': 'application/octet-stream' };
      expect((await v1.call('PUT', path, picture, type)).status).toBe(201);
      expect((await v1.call('PUT', path, picture, type)).status).toBe(200);
      return { resource_id: 'cover' };
    });
  });

  it('goes in by URL, fetched once, and the signature of the link is kept nowhere', async () => {
    await ask('url', () => ({ url: `${web.url}/cover.jpg?${SIGNATURE}` }));
    expect(web.requests).toHaveLength(1);
    expect(web.requests[0]?.url).toContain(SIGNATURE);
    expect(server.logs()).not.toContain(SIGNATURE);
  });

  it('goes in over gRPC', async () => {
    const { id } = await grpc.call('createSession', { agent: 'vision_agent', capabilities: [] });
    const resources = [{ source: { $case: 'data' as const, value: picture } }];
    const action = { $case: 'message' as const, value: { text: QUESTION, resources, capabilities: [] } };
    const { events, end } = await readAll(
      grpc.stream('submitAndObserve', { session_id: id, request_id: 'r1', action }),
    );
    expect(end).toEqual({ code: 0, details: 'OK', bridleCode: undefined });
    const reply = (events.at(-1)?.data?.result?.data as { reply: string }).reply;
    facts.set('grpc', factsOf(reply));
    await keepDigest('grpc', id);
  });

  it('goes in over the ADK wire, and the session shows it', async () => {
    const path = '/apps/harness_agent/users/u1/sessions';
    expect((await v1.call('POST', path, { sessionId: 's1' })).status).toBe(200);
    const frames = await readSse(`${server.http}/run_sse`, {
      body: {
        appName: 'harness_agent',
        userId: 'u1',
        sessionId: 's1',
        newMessage: {
          role: 'user',
          parts: [{ text: QUESTION }, { inlineData: { mimeType: 'image/jpeg', data: base64 } }],
        },
      },
    });
    const answer = JSON.parse(frames.at(-1)?.data ?? '{}') as { content: { parts: { text: string }[] } };
    facts.set('adk', factsOf(answer.content.parts[0]!.text));

    const { body: session } = await v1.call('GET', `${path}/s1`);
    const [question, answered] = session.events;
    const { text, inlineData } = question.content.parts[1];
    expect({ author: question.author, text, inlineData }).toEqual({
      author: 'user',
      inlineData: { mimeType: 'image/jpeg', data: base64.replaceAll('+', '-').replaceAll('/', '_') },
    });
    expect(answered).toEqual(answer);
    const { body: list } = await v1.call('GET', '/v1/sessions');
    const listed = list.sessions.find((one: { agent: string }) => one.agent === 'harness_agent') as { id: string };
    await keepDigest('adk', listed.id);
  });

  it('gives the same measured facts and the same digest by every door', () => {
    expect([...facts.keys()]).toEqual(['base64', 'multipart', 'raw', 'url', 'grpc', 'adk']);
    expect(new Set(facts.values())).toEqual(new Set([facts.get('base64')]));
    expect([...digests.keys()]).toEqual([...facts.keys()]);
    expect(new Set(digests.values())).toEqual(new Set([sha256]));
  });

  it('is stored once, under its digest', () => {
    const path = `${server.storageDir}/blobs/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
    expect(readFileSync(path).equals(picture)).toBe(true);
  });
});
