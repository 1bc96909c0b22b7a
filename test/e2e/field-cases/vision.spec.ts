import { readdirSync, readFileSync } from 'node:fs';
import { AdkClient, strictFrames } from '../../support/adk-client.js';
import { answerReply, FakeLlm } from '../../support/fake-llm.js';
import { startLoopbackServer, type LoopbackServer } from '../../support/loopback-server.js';
import {
  animation,
  cornersOf,
  cornersPicture,
  PLANTED,
  withOrientation,
  withSecrets,
  type StillFormat,
} from '../../support/pictures.js';
import { startServer, type TestServer } from '../../support/server.js';
import { V1Client } from '../../support/v1-client.js';

/** Where the colours of the corners (top left, top right, bottom left, bottom right) are for each orientation tag. */
const UPRIGHT: Readonly<Record<number, string>> = {
  1: 'red green blue white',
  2: 'green red white blue',
  3: 'white blue green red',
  4: 'blue white red green',
  5: 'red blue green white',
  6: 'blue red white green',
  7: 'white green blue red',
  8: 'green white red blue',
};
const ORIENTATIONS = Object.keys(UPRIGHT).map(Number);

/** The sentence of a refusal names what was found and what is accepted. */
const found = (type: string): string =>
  `found ${type}; accepted are image/png, image/jpeg, image/webp, image/gif and image/avif`;

interface Content {
  readonly type: string;
  readonly image_url?: { readonly url: string };
}

describe('field cases of pictures', () => {
  let llm: FakeLlm;
  let server: TestServer;
  let web: LoopbackServer;
  let v1: V1Client;
  let adk: AdkClient;
  /** What the web server answers, by path. */
  const pages = new Map<string, { readonly type: string; readonly bytes: Uint8Array }>();

  beforeAll(async () => {
    llm = await FakeLlm.start();
    web = await startLoopbackServer(({ url = '' }, response) => {
      const page = pages.get(url);
      response.writeHead(page ? 200 : 404, { 'content-type': page?.type ?? 'text/html' }).end(page?.bytes);
    });
    const env = { ...llm.env, BRIDLE_FETCH_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${web.port}` };
    server = await startServer({ env });
    v1 = new V1Client(server);
    adk = new AdkClient(Number(new URL(server.http).port));
  });

  beforeEach(() => llm.reset());

  afterAll(async () => {
    await server.dispose();
    await web.close();
    await llm.close();
  });

  /** The pictures of the newest request to the model. */
  function received(): { type: string; bytes: Buffer }[] {
    const content = llm.requests.at(-1)!.body.messages.at(-1)!.content as Content[];
    return content.flatMap(({ image_url }) => {
      const [, type = '', data = ''] = /^data:([^;]+);base64,(.*)$/.exec(image_url?.url ?? '') ?? [];
      return image_url === undefined ? [] : [{ type, bytes: Buffer.from(data, 'base64') }];
    });
  }

  async function ask(resources: readonly object[]) {
    llm.script(answerReply('seen'));
    return v1.ended(await v1.send(await v1.session({ agent: 'vision_agent' }), 'What is it?', { resources }));
  }

  const inline = (mimeType: string, bytes: Uint8Array): object[] => [
    { text: 'What is it?' },
    { inlineData: { mimeType, data: Buffer.from(bytes).toString('base64') } },
  ];

  async function askAdk(parts: readonly object[]): Promise<{ status: number; body: string }> {
    llm.script(answerReply('seen'));
    const response = await adk.run(await adk.session(), parts);
    return { status: response.status, body: await response.text() };
  }

  describe('C64 the model gets upright pictures without metadata', () => {
    const sideways = async (format: StillFormat, orientation: number): Promise<Buffer> =>
      withOrientation(cornersPicture(), format, orientation);

    async function expectUpright(orientations: readonly number[]): Promise<void> {
      const corners = await Promise.all(received().map(({ bytes }) => cornersOf(bytes)));
      expect(corners.map((colours) => colours.join(' '))).toEqual(orientations.map((tag) => UPRIGHT[tag]));
    }

    it('all eight orientations of a JPEG, as base64', async () => {
      const pictures = await Promise.all(ORIENTATIONS.map((tag) => sideways('jpeg', tag)));
      await ask(pictures.map((bytes) => ({ data: bytes.toString('base64') })));
      await expectUpright(ORIENTATIONS);
    });

    it.each(['jpeg', 'png', 'webp'] as const)('a %s inline and by URL', async (format) => {
      const bytes = await sideways(format, 6);
      await askAdk(inline(`image/${format}`, bytes));
      await expectUpright([6]);
      pages.set(`/${format}`, { type: `image/${format}`, bytes });
      await ask([{ url: `${web.url}/${format}` }]);
      await expectUpright([6]);
    });

    it('without place and rights of the camera, in the prompt and on the disk', async () => {
      const bytes = await withSecrets(cornersPicture(), 'jpeg');
      expect(bytes.toString('latin1')).toContain(PLANTED);
      await ask([{ data: bytes.toString('base64') }]);
      const [picture] = received();
      expect(picture!.bytes.toString('latin1')).not.toContain(PLANTED);
      expect(picture!.bytes.includes('Exif')).toBe(false);
      const names = readdirSync(`${server.storageDir}/blobs`, { recursive: true, encoding: 'utf8' });
      const blobs = names.filter((name) => /[0-9a-f]{64}$/.test(name));
      expect(blobs.length).toBeGreaterThan(0);
      for (const name of blobs) {
        expect(readFileSync(`${server.storageDir}/blobs/${name}`, 'latin1')).not.toContain(PLANTED);
      }
    });
  });

  describe('C65 the bytes decide the type', () => {
    it.each([
      ['JPEG', 'image/jpeg', () => cornersPicture().jpeg().toBuffer()],
      ['WebP', 'image/webp', () => cornersPicture().webp().toBuffer()],
      ['AVIF', 'image/avif', () => cornersPicture().avif().toBuffer()],
      ['GIF', 'image/gif', () => animation('gif')],
    ])('%s that is declared image/png passes as what it is', async (_name, type, make) => {
      const { status, body } = await askAdk(inline('image/png', await make()));
      expect([status, strictFrames(body)]).toEqual([
        200,
        [expect.not.objectContaining({ errorCode: expect.anything() })],
      ]);
      const [picture] = received();
      // What a provider may not take is given as PNG; the declared type is never copied.
      expect(['image/jpeg', 'image/png', 'image/webp', 'image/gif']).toContain(picture!.type);
      if (type !== 'image/avif' && type !== 'image/gif') expect(picture!.type).toBe(type);
      expect(await cornersOf(picture!.bytes).catch(() => ['red'])).toContain('red');
    });

    const unreadable: readonly (readonly [string, () => Uint8Array | Promise<Uint8Array>, string])[] = [
      ['SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), found('image/svg+xml')],
      ['PDF', () => Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n'), found('application/pdf')],
      ['HTML', () => Buffer.from('<!doctype html><title>x</title>'), found('text/html')],
      ['no bytes', () => Buffer.alloc(0), found('nothing')],
      [
        'a cut PNG',
        async () => (await cornersPicture().png().toBuffer()).subarray(0, 60),
        'image/png picture is cut off',
      ],
    ];

    it.each(unreadable)('%s is refused before any call of a model', async (_name, make, sentence) => {
      const bytes = await make();
      const { status, body } = await askAdk(inline('image/png', bytes));
      expect(status).toBe(422);
      const { detail } = JSON.parse(body) as { detail: { type: string; loc: unknown; msg: string }[] };
      expect(detail[0]).toMatchObject({
        type: 'value_error',
        loc: ['body', 'newMessage', 'parts', 1, 'inlineData', 'data'],
        msg: expect.stringContaining(sentence),
      });
      const sessionId = await v1.session({ agent: 'vision_agent' });
      const resources = [{ data: Buffer.from(bytes).toString('base64') }];
      const answer = await v1.call('POST', '/v1/actions', v1.message(sessionId, 'x', { resources }));
      expect(answer).toMatchObject({ status: 422, body: { error: { code: 'IMAGE_UNREADABLE' } } });
      expect((await v1.snapshot(sessionId)).runs).toEqual([]);
      expect(llm.requests).toEqual([]);
    });

    it('the header of a URL is not believed either', async () => {
      const bytes = await cornersPicture().png().toBuffer();
      for (const type of ['image/jpeg', 'application/octet-stream', 'text/html']) {
        pages.set('/picture', { type, bytes });
        expect(await ask([{ url: `${web.url}/picture` }])).toMatchObject({ status: 'completed' });
        expect(received()[0]?.type).toBe('image/png');
      }
      llm.reset();
      pages.set('/page', { type: 'image/png', bytes: Buffer.from('<!doctype html><p>no picture</p>') });
      expect(await ask([{ url: `${web.url}/page` }])).toMatchObject({ status: 'failed', code: 'IMAGE_UNREADABLE' });
      expect(await ask([{ url: `${web.url}/nothing` }])).toMatchObject({ status: 'failed', code: 'IMAGE_UNREACHABLE' });
      expect(llm.requests).toEqual([]);
    });

    it('base64 may be URL-safe and without padding, but has no blanks and no data: prefix', async () => {
      const bytes = Buffer.concat([await cornersPicture().jpeg().toBuffer(), Buffer.from([0xfb, 0xff, 0xbf, 0xfe])]);
      expect(bytes.toString('base64')).not.toBe(bytes.toString('base64url'));
      const standard = bytes.toString('base64');
      for (const data of [standard, bytes.toString('base64url'), standard.replaceAll('=', '')]) {
        expect(await ask([{ data }])).toMatchObject({ status: 'completed' });
        const { status } = await askAdk([{ text: 'x' }, { inlineData: { mimeType: 'image/jpeg', data } }]);
        expect(status).toBe(200);
      }
      for (const data of [`${standard.slice(0, 40)}\n${standard.slice(40)}`, `data:image/jpeg;base64,${standard}`]) {
        const { status, body } = await askAdk([{ text: 'x' }, { inlineData: { mimeType: 'image/jpeg', data } }]);
        const { detail } = JSON.parse(body) as { detail: { type: string }[] };
        expect([status, detail[0]?.type]).toEqual([422, 'bytes_invalid_encoding']);
        const message = v1.message(await v1.session({ agent: 'vision_agent' }), 'x', { resources: [{ data }] });
        const answer = await v1.call('POST', '/v1/actions', message);
        expect(answer).toMatchObject({ status: 400, body: { error: { code: 'RESOURCE_INVALID' } } });
      }
    });
  });
});
