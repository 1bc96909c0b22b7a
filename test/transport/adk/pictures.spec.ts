import 'reflect-metadata';
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { AdkClient, strictFrames, textsOf } from '../../support/adk-client.js';
import { startGoldenApp, type GoldenApp } from '../../support/adk-golden/golden-app.js';
import { startLoopbackServer } from '../../support/loopback-server.js';

/** The booted server; the text of a message is a script of the model (adk-golden/adk-script-model.ts). */

describe('pictures on /run_sse', () => {
  let app: GoldenApp;
  let client: AdkClient;
  beforeAll(async () => {
    app = await startGoldenApp('adk', {}, { realIntake: true });
    client = new AdkClient(app.port);
  });
  afterAll(() => app.close());

  const picture = (edge: number, noise = false): Promise<Buffer> =>
    (noise
      ? sharp(createNoise(edge), { raw: { width: edge, height: edge, channels: 3 } })
      : sharp({ create: { width: edge, height: edge, channels: 3, background: 'red' } })
    )
      .png()
      .toBuffer();

  it('reach the model and come back with the session, the larger ones by reference', async () => {
    const id = await client.session();
    const [small, large] = [await picture(8), await picture(200, true)];
    expect(large.length).toBeGreaterThan(32 * 1024);
    const parts = [
      { text: 'image' },
      { inlineData: { data: small.toString('base64'), mimeType: 'image/jpeg', displayName: 'a.png' } },
      { inline_data: { data: large.toString('base64url') } },
    ];
    const frames = strictFrames(await (await client.run(id, parts)).text());
    expect(textsOf(frames[0])).toEqual([`mime=image/png bytes=${small.length}; mime=image/png bytes=${large.length}`]);
    const [stored] = await client.events(id);
    const [, inline, linked] = stored?.content.parts as { inlineData?: { data: string }; fileData?: object }[];
    expect(inline).toMatchObject({ inlineData: { displayName: 'a.png', mimeType: 'image/png' } });
    const back = Buffer.from(inline?.inlineData?.data ?? '', 'base64url');
    expect(createHash('sha256').update(back).digest('hex')).toBe(createHash('sha256').update(small).digest('hex'));
    expect(linked).toEqual({ fileData: { fileUri: expect.stringMatching(/^resource:\/\//), mimeType: 'image/png' } });
  });

  it.each([
    ['a PDF', '%PDF-1.7\n'],
    ['HTML', '<html><body>hi</body></html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['nothing', ''],
    ['a cut picture', '\u0089PNG\r\n\u001a\n\u0000\u0000'],
  ])('are judged by their bytes: %s is 422 at its data', async (_, bytes) => {
    const id = await client.session();
    const data = Buffer.from(bytes, 'latin1').toString('base64');
    const parts = [{ text: 'image' }, { inlineData: { mimeType: 'image/png', data } }];
    const response = await client.run(id, parts);
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { type: string; loc: unknown; msg: string }[] };
    expect(detail).toHaveLength(1);
    expect(detail[0]).toMatchObject({
      type: 'value_error',
      loc: ['body', 'newMessage', 'parts', 1, 'inlineData', 'data'],
    });
    expect(detail[0]?.msg).toMatch(/^Value error, .*picture/);
    expect(await client.events(id)).toEqual([]);
  });

  it.each(['gs://b/x', 'file:///etc/passwd', 'resource://x'])('are not fetched from %s', async (fileUri) => {
    const response = await client.run(await client.session(), [{ file_data: { file_uri: fileUri } }]);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      detail: [
        { type: 'value_error', loc: ['body', 'newMessage', 'parts', 0, 'file_data', 'file_uri'], input: fileUri },
      ],
    });
  });

  it.each([
    'http://planted:secret@host/',
    'https://planted@host/a.png',
    'ftp://planted:secret@host/',
    'http://u:planted@[',
  ])('are not fetched with credentials, which no answer repeats: %s', async (fileUri) => {
    const parts = [{ text: 'image' }, { fileData: { fileUri } }];
    const response = await client.run(await client.session(), parts);
    const text = await response.text();
    expect([response.status, text]).toEqual([422, expect.not.stringMatching(/planted|secret/)]);
    expect(JSON.parse(text)).toEqual({
      detail: [
        {
          type: 'value_error',
          loc: ['body', 'newMessage', 'parts', 1, 'fileData', 'fileUri'],
          msg: expect.stringMatching(/^Value error, .*URL/),
          input: '[redacted]',
          ctx: { error: {} },
        },
      ],
    });
  });

  it.each(['http://[', `http://host/${'a'.repeat(9000)}`])('need a URL that can be used: %.12s', async (fileUri) => {
    const response = await client.run(await client.session(), [{ fileData: { fileUri } }]);
    expect(response.status).toBe(422);
    const loc = ['body', 'newMessage', 'parts', 0, 'fileData', 'fileUri'];
    expect(await response.json()).toMatchObject({ detail: [{ type: 'value_error', loc, input: fileUri }] });
  });

  it('are the only files: another declared type names what is accepted', async () => {
    const parts = [{ text: 'image' }, { inlineData: { mimeType: 'application/pdf', data: 'aGk=' } }];
    const response = await client.run(await client.session(), parts);
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { loc: unknown; msg: string }[] };
    expect(detail[0]?.loc).toEqual(['body', 'newMessage', 'parts', 1, 'inlineData', 'mimeType']);
    for (const type of ['PNG', 'JPEG', 'WebP', 'GIF', 'AVIF']) expect(detail[0]?.msg).toContain(type);
  });

  it('are judged before overrides are refused', async () => {
    const overridden = { harness: { tools: 'web_search' } };
    const parts = [{ fileData: { fileUri: 'gs://b/x' } }];
    expect((await client.run(await client.session(), parts, overridden)).status).toBe(422);
  });

  it('from an allowed address reach the model, and the session keeps the URL without its query', async () => {
    const bytes = await picture(8);
    const remote = await startLoopbackServer((_, response) => response.end(bytes));
    const host = `127.0.0.1:${remote.port}`;
    const open = await startGoldenApp('adk', { BRIDLE_FETCH_ALLOW_PRIVATE_HOSTS: host }, { realIntake: true });
    const opened = new AdkClient(open.port);
    const id = await opened.session();
    const parts = [{ text: 'image' }, { fileData: { fileUri: `${remote.url}/a.png?token=planted` } }];
    const frames = strictFrames(await (await opened.run(id, parts)).text());
    expect(frames.map(textsOf)).toEqual([[`mime=image/png bytes=${bytes.length}`]]);
    const [asked] = await opened.events(id);
    expect(asked?.content.parts[1]).toEqual({ fileData: { fileUri: `${remote.url}/a.png` } });
    await Promise.all([open.close(), remote.close()]);
  });

  it('from a blocked address fail the run in the stream', async () => {
    const id = await client.session();
    const parts = [{ text: 'image' }, { fileData: { fileUri: 'http://127.0.0.1:9/a.png?token=planted' } }];
    const text = await (await client.run(id, parts)).text();
    expect(strictFrames(text).map((frame) => Object.keys(frame)[0])).toEqual(['errorCode', 'error']);
    expect(text + JSON.stringify(await client.events(id))).not.toContain('planted');
  });
});

function createNoise(edge: number): Buffer {
  const bytes = Buffer.alloc(edge * edge * 3);
  for (let at = 0, seed = 1; at < bytes.length; at += 1) bytes[at] = (seed = (seed * 16_807) % 2_147_483_647) % 256;
  return bytes;
}
