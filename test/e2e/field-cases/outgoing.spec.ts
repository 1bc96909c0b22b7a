import { AdkClient, strictFrames } from '../../support/adk-client.js';
import { answerReply, FakeLlm } from '../../support/fake-llm.js';
import { GrpcTestClient, readAll } from '../../support/grpc-client.js';
import { startLoopbackServer, type LoopbackServer } from '../../support/loopback-server.js';
import { cornersPicture } from '../../support/pictures.js';
import { startServer, type TestServer } from '../../support/server.js';
import { V1Client, type RunState } from '../../support/v1-client.js';

const SECRET_BODY = 'a body that nobody may see';

describe('C69 no picture comes from where the caller cannot go', () => {
  let llm: FakeLlm;
  let server: TestServer;
  let allowed: LoopbackServer;
  let forbidden: LoopbackServer;
  let v1: V1Client;
  let adk: AdkClient;
  /** Where the allowed host sends its readers, by path. */
  const redirects = new Map<string, string>();

  beforeAll(async () => {
    llm = await FakeLlm.start();
    const picture = await cornersPicture().png().toBuffer();
    allowed = await startLoopbackServer(({ url = '' }, response) => {
      const location = redirects.get(url);
      if (location !== undefined) response.writeHead(302, { location }).end(SECRET_BODY);
      else response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    });
    forbidden = await startLoopbackServer((_request, response) => response.end(SECRET_BODY));
    const env = { ...llm.env, BRIDLE_FETCH_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${allowed.port}` };
    server = await startServer({ env });
    v1 = new V1Client(server);
    adk = new AdkClient(Number(new URL(server.http).port));
  });

  beforeEach(() => llm.reset());

  afterEach(() => {
    expect(forbidden.requests).toEqual([]);
    expect(llm.requests).toEqual([]);
  });

  afterAll(async () => {
    await server.dispose();
    await allowed.close();
    await forbidden.close();
    await llm.close();
  });

  const link = (fileUri: string): object[] => [
    { text: 'What is it?' },
    { fileData: { fileUri, mimeType: 'image/png' } },
  ];

  async function askV1(url: string): Promise<RunState> {
    const sessionId = await v1.session({ agent: 'vision_agent' });
    return v1.ended(await v1.send(sessionId, 'What is it?', { resources: [{ url }] }));
  }

  it.each(['gs://b/x', 'file:///etc/passwd', 'ftp://127.0.0.1/x', 'data:image/png;base64,AAAA'])(
    '%s is no URL of a picture',
    async (url) => {
      const response = await adk.run(await adk.session(), link(url));
      expect(response.status).toBe(422);
      const { detail } = (await response.json()) as { detail: object[] };
      expect(detail[0]).toMatchObject({
        type: 'value_error',
        loc: ['body', 'newMessage', 'parts', 1, 'fileData', 'fileUri'],
      });
      const message = v1.message(await v1.session({ agent: 'vision_agent' }), 'x', { resources: [{ url }] });
      expect(await v1.call('POST', '/v1/actions', message)).toMatchObject({
        status: 400,
        body: { error: { code: 'RESOURCE_INVALID' } },
      });
    },
  );

  it('a name and a password in a URL are refused, and not repeated', async () => {
    const url = 'http://someone:hidden-word@example.com/x.png';
    const response = await adk.run(await adk.session(), link(url));
    expect(response.status).toBe(422);
    expect(await response.text()).not.toContain('hidden-word');
    const message = v1.message(await v1.session({ agent: 'vision_agent' }), 'x', { resources: [{ url }] });
    const answer = await v1.call('POST', '/v1/actions', message);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain('hidden-word');
    expect(server.logs()).not.toContain('hidden-word');
  });

  const closedPort = 1;
  const targets = (): [string, string][] => [
    ['the address of cloud metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['an address mapped into IPv6', `http://[::ffff:127.0.0.1]:${forbidden.port}/`],
    ['a decimal address', `http://2130706433:${forbidden.port}/`],
    ['an octal address', `http://0177.0.0.1:${forbidden.port}/`],
    ['a name that means this machine', `http://localhost:${forbidden.port}/`],
    ['the unspecified address', `http://0.0.0.0:${forbidden.port}/`],
    ['an open port', `http://127.0.0.1:${forbidden.port}/`],
    ['a closed port', `http://127.0.0.1:${closedPort}/`],
    ['the server itself', `${server.http}/metrics`],
  ];

  it('a private address is blocked in every spelling, and open and closed ports look the same', async () => {
    const messages = new Set<string>();
    for (const [, url] of targets()) {
      const state = await askV1(url);
      expect(state).toMatchObject({ status: 'failed', code: 'IMAGE_UNREACHABLE' });
      messages.add(state.error!.message.replaceAll(new URL(url).host, 'HOST'));
    }
    expect(messages.size).toBe(1);
  });

  it('the same over the ADK wire and gRPC, as failures of the run', async () => {
    const url = `http://127.0.0.1:${forbidden.port}/?query=hidden-word`;
    const response = await adk.run(await adk.session(), link(url));
    const frames = strictFrames(await response.text());
    expect(frames.at(-2)).toMatchObject({ errorCode: 'IMAGE_UNREACHABLE' });
    expect(Object.keys(frames.at(-1)!)).toEqual(['error']);
    const grpc = new GrpcTestClient(server.grpc);
    const { id } = await grpc.call('createSession', { agent: 'vision_agent', capabilities: [] });
    const value = { text: 'x', resources: [{ source: { $case: 'url' as const, value: url } }], capabilities: [] };
    const call = { session_id: id, request_id: 'r1', action: { $case: 'message' as const, value } };
    const { events, end } = await readAll(grpc.stream('submitAndObserve', call));
    grpc.close();
    expect(end.code).toBe(0);
    expect(events.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'IMAGE_UNREACHABLE' } } });
    expect(JSON.stringify([frames, events])).not.toMatch(/hidden-word|a body that nobody/);
    expect(server.logs()).not.toContain('hidden-word');
  });

  it.each([
    ['a port that is not allowed', () => `http://127.0.0.1:${forbidden.port}/`],
    ['our own metrics', () => `${server.http}/metrics`],
    ['another spelling', () => `http://localhost:${forbidden.port}/`],
    ['a file', () => 'file:///etc/passwd'],
  ])('a redirect to %s is blocked where it leads', async (_what, location) => {
    redirects.set('/away', location());
    const state = await askV1(`${allowed.url}/away`);
    expect(state).toMatchObject({ status: 'failed', code: 'IMAGE_UNREACHABLE' });
    expect(JSON.stringify(state)).not.toContain(SECRET_BODY);
  });

  it('three redirects are followed, a fourth is not', async () => {
    for (const hop of [1, 2, 3, 4]) redirects.set(`/${hop}`, `${allowed.url}/${hop - 1}`);
    expect(await askV1(`${allowed.url}/4`)).toMatchObject({ status: 'failed', code: 'IMAGE_UNREACHABLE' });
    llm.script(answerReply('seen'));
    expect(await askV1(`${allowed.url}/3`)).toMatchObject({ status: 'completed', code: 'RUN_COMPLETED' });
    llm.reset();
  });
});
