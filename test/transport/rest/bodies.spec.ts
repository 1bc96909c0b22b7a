import { bootRest, type RestApp } from './rest-app.js';

const MESSAGE = { session_id: 'S1', request_id: 'req-1', action: 'message', text: 'hi' };
const CANCEL = { session_id: 'S1', request_id: 'req-1', action: 'cancel' };
const OBSERVE = { session_id: 'S1', run_id: 'R1', action: 'observe' };
const withResource = (resource: unknown) => ({ ...MESSAGE, resources: [resource] });

describe('bodies of /v1', () => {
  let server: RestApp;
  beforeAll(async () => {
    server = await bootRest({ BRIDLE_VISION_MAX_IMAGE_BYTES: '2048', BRIDLE_HTTP_BODY_TIMEOUT_MS: '400' });
  });
  afterAll(() => server.close());

  const refusal = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: string; message: string; request_id?: string } };
    return { status: response.status, code: error.code, message: error.message };
  };

  it.each<[unknown, number, string, string]>([
    ['', 400, 'INVALID_BODY', 'the body is empty; a JSON object is expected'],
    ['[1]', 400, 'INVALID_BODY', 'the body must be a JSON object'],
    ['{"action":', 400, 'INVALID_BODY', 'the body is not valid JSON'],
    ['{"action":"message","text":"\\ud800"}', 400, 'INVALID_BODY', 'the body holds half of a surrogate pair'],
    [{}, 400, 'INVALID_BODY', 'action must be one of message, answer, steer, cancel, observe'],
    [
      { ...MESSAGE, action: 'fly' },
      400,
      'INVALID_BODY',
      'action must be one of message, answer, steer, cancel, observe',
    ],
    [{ ...MESSAGE, action: 'answer' }, 501, 'NOT_IMPLEMENTED', 'action answer is not implemented in this version'],
    [{ ...MESSAGE, action: 'steer' }, 501, 'NOT_IMPLEMENTED', 'action steer is not implemented in this version'],
    [{ ...MESSAGE, extra: 1 }, 400, 'INVALID_BODY', 'unknown field "extra"'],
    ['{"action":"message","__proto__":{"a":1}}', 400, 'INVALID_BODY', 'unknown field "__proto__"'],
    [{ ...MESSAGE, constructor: 1 }, 400, 'INVALID_BODY', 'unknown field "constructor"'],
    [{ ...MESSAGE, request_id: undefined }, 400, 'REQUEST_ID_REQUIRED', 'request_id is missing'],
    [{ ...MESSAGE, request_id: null }, 400, 'REQUEST_ID_REQUIRED', 'request_id is missing'],
    [{ ...MESSAGE, request_id: 7 }, 400, 'ID_INVALID', 'request_id must be a string'],
    [{ ...MESSAGE, request_id: ' a' }, 400, 'ID_INVALID', 'request_id must not begin or end with white space'],
    [{ ...MESSAGE, request_id: 'a\u0000' }, 400, 'ID_INVALID', 'request_id must not contain control characters'],
    [{ ...MESSAGE, request_id: 'x'.repeat(129) }, 400, 'ID_INVALID', 'request_id must have at most 128 characters'],
    [{ ...MESSAGE, session_id: undefined }, 400, 'INVALID_BODY', 'session_id is missing'],
    [{ ...MESSAGE, session_id: 'a\r\nb' }, 400, 'ID_INVALID', 'session_id must not contain control characters'],
    [{ ...MESSAGE, text: 5 }, 400, 'INVALID_BODY', 'text must be a string'],
    [{ ...MESSAGE, text: '' }, 400, 'INVALID_BODY', 'a message needs a text or at least one resource'],
    [
      { ...MESSAGE, text: undefined, resources: [] },
      400,
      'INVALID_BODY',
      'a message needs a text or at least one resource',
    ],
    [{ ...MESSAGE, mode: 'push' }, 400, 'INVALID_BODY', 'mode must be one of queue, reject, interrupt, rollback'],
    [{ ...MESSAGE, on_disconnect: 'stop' }, 400, 'INVALID_BODY', 'on_disconnect must be cancel or continue'],
    [
      { ...MESSAGE, capabilities: ['sound'] },
      400,
      'INVALID_BODY',
      'capabilities must be a list of vision and image_generation, each at most once',
    ],
    [
      { ...MESSAGE, capabilities: ['vision', 'vision'] },
      400,
      'INVALID_BODY',
      'capabilities must be a list of vision and image_generation, each at most once',
    ],
    [
      { ...MESSAGE, time_zone: 'Mars/Base' },
      400,
      'TIME_ZONE_INVALID',
      'time_zone must be the IANA name of a time zone, such as Asia/Shanghai',
    ],
    [
      { ...MESSAGE, time_zone: '+08:00' },
      400,
      'TIME_ZONE_INVALID',
      'time_zone must be the IANA name of a time zone, such as Asia/Shanghai',
    ],
    [{ ...MESSAGE, response_schema: [] }, 400, 'INVALID_BODY', 'response_schema must be a JSON schema object'],
    [
      { ...MESSAGE, webhook: { url: 'https://x' } },
      501,
      'NOT_IMPLEMENTED',
      'webhook is not implemented in this version',
    ],
    [{ ...MESSAGE, resources: {} }, 400, 'RESOURCE_INVALID', 'resources must be a list'],
    [withResource('x'), 400, 'RESOURCE_INVALID', 'resources[0] must hold objects'],
    [withResource({}), 400, 'RESOURCE_INVALID', 'resources[0] needs url, data or resource_id'],
    [withResource({ url: 'https://a/b', data: 'AQID' }), 400, 'RESOURCE_INVALID', 'resources[0] has both url and data'],
    [withResource({ url: 1 }), 400, 'RESOURCE_INVALID', 'resources[0].url must be a string'],
    [withResource({ data: 'AQID', size: 1 }), 400, 'INVALID_BODY', 'unknown field "resources[0].size"'],
    [
      withResource({ resource_id: 'a\n', data: '' }),
      400,
      'ID_INVALID',
      'resources[0].resource_id must not begin or end with white space',
    ],
    [
      withResource({ data: 'AQID', source_type: 'url' }),
      400,
      'RESOURCE_INVALID',
      'resources[0].source_type is url, but what it holds is base64',
    ],
    [
      withResource({ data: 'AQID', source_type: 'film' }),
      400,
      'RESOURCE_INVALID',
      'resources[0].source_type must be url, base64, upload or artifact',
    ],
    [
      withResource({ artifact_id: 'a1' }),
      501,
      'NOT_IMPLEMENTED',
      'resources[0].artifact_id is not implemented in this version',
    ],
    [{ ...CANCEL, text: 'x' }, 400, 'INVALID_BODY', 'unknown field "text"'],
    [{ ...CANCEL, request_id: undefined }, 400, 'REQUEST_ID_REQUIRED', 'request_id is missing'],
    [{ ...OBSERVE, request_id: 'r' }, 400, 'INVALID_BODY', 'unknown field "request_id"'],
    [{ ...OBSERVE, run_id: undefined }, 400, 'INVALID_BODY', 'run_id is missing'],
    [{ ...OBSERVE, cursor: -1 }, 400, 'CURSOR_INVALID', 'cursor must be the id of an event'],
    [{ ...OBSERVE, cursor: '1' }, 400, 'CURSOR_INVALID', 'cursor must be the id of an event'],
    [{ ...OBSERVE, cursor: 1.5 }, 400, 'CURSOR_INVALID', 'cursor must be the id of an event'],
  ])('refuses the action %j', async (body, status, code, message) => {
    const response = await server.call('POST', '/v1/actions', body, { accept: 'text/event-stream' });
    expect(await refusal(response)).toEqual({ status, code, message });
    expect(server.services.calls).toEqual([]);
  });

  it.each<[object, string, string]>([
    [{ name: 'x' }, 'INVALID_BODY', 'unknown field "name"'],
    [{ agent: '' }, 'ID_INVALID', 'agent must not be empty'],
    [{ user_id: 'a\t' }, 'ID_INVALID', 'user_id must not begin or end with white space'],
    [{ client_reference: '' }, 'INVALID_BODY', 'client_reference must have 1 to 128 characters'],
    [{ client_reference: 'x'.repeat(129) }, 'INVALID_BODY', 'client_reference must have 1 to 128 characters'],
    [{ state: 'x' }, 'INVALID_BODY', 'state must be an object'],
    [{ time_zone: 'x' }, 'TIME_ZONE_INVALID', 'time_zone must be the IANA name of a time zone, such as Asia/Shanghai'],
  ])('refuses the session %j', async (body, code, message) => {
    expect(await refusal(await server.call('POST', '/v1/sessions', body))).toEqual({ status: 400, code, message });
  });

  it('takes null for absent', async () => {
    server.services.calls.length = 0;
    const nothing = { resources: null, time_zone: null, mode: null, capabilities: null, response_schema: null };
    const response = await server.call('POST', '/v1/actions', { ...MESSAGE, ...nothing, webhook: null });
    expect(response.status).toBe(202);
    const plain = await server.call('POST', '/v1/actions', MESSAGE);
    expect(plain.status).toBe(202);
    const [withNulls, without] = server.services.argumentsOf('submit');
    expect(withNulls).toEqual(without);
    const resource = { resource_id: null, url: null, data: 'AQID', mime_type: null, source_type: null };
    expect((await server.call('POST', '/v1/actions', withResource(resource))).status).toBe(202);
    server.services.calls.length = 0;
  });

  it('names the request in an error of its body', async () => {
    const response = await server.call('POST', '/v1/actions', { ...MESSAGE, extra: 1 });
    expect(await response.json()).toEqual({
      error: {
        code: 'INVALID_BODY',
        message: 'unknown field "extra"',
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        retryable: false,
        request_id: 'req-1',
        details: { field: 'extra' },
      },
    });
  });

  it('wants JSON', async () => {
    const response = await server.call('POST', '/v1/actions', 'a=b', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(await refusal(response)).toEqual({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'the body must be application/json',
    });
  });

  describe('base64', () => {
    const bytes = Buffer.from([0xfb, 0xef, 0xbe, 0xff, 0x00, 0x10, 0x83]);
    const submitted = async (data: string) => {
      server.services.calls.length = 0;
      const response = await server.call('POST', '/v1/actions', withResource({ data }));
      if (response.status !== 202) return refusal(response);
      const [command] = server.services.argumentsOf('submit') as { parts: { resource?: { bytes: Buffer } }[] }[];
      server.services.calls.length = 0;
      return command?.parts.at(-1)?.resource?.bytes;
    };

    it.each([
      ['standard', bytes.toString('base64')],
      ['standard without padding', bytes.toString('base64').replace(/=+$/, '')],
      ['URL-safe', bytes.toString('base64url')],
      ['URL-safe with padding', `${bytes.toString('base64url')}==`],
    ])('reads the %s form', async (_, data) => {
      expect(await submitted(data)).toEqual(bytes);
    });

    it('leaves it to the picture intake that nothing is no picture', async () => {
      expect(await submitted('')).toEqual(Buffer.alloc(0));
    });

    it.each([
      ['a line break', 'AQID\nAQID'],
      ['a blank', 'AQ ID'],
      ['an impossible length', 'AQIDA'],
      ['too much padding', 'AQID='],
      ['padding in the middle', 'AQ==AQID'],
      ['both alphabets', '+_AA'],
      ['another character', 'AQ*D'],
    ])('refuses %s', async (_, data) => {
      expect(await submitted(data)).toEqual({
        status: 400,
        code: 'RESOURCE_INVALID',
        message: 'resources[0].data must be base64, standard or URL-safe, without blanks',
      });
    });

    it('refuses a data: prefix', async () => {
      expect(await submitted('data:image/png;base64,AQID')).toEqual({
        status: 400,
        code: 'RESOURCE_INVALID',
        message: 'resources[0].data must be base64 without the data: prefix',
      });
    });
  });

  describe('uploads', () => {
    const put = (id: string, init: RequestInit) =>
      fetch(`${server.url}/v1/sessions/S1/resources/${id}`, { method: 'PUT', ...init });
    const form = (field: string, size: number) => {
      const body = new FormData();
      body.append(field, new Blob([Buffer.alloc(size, 1)], { type: 'image/png' }), 'x.png');
      return { body };
    };
    const raw = (size: number, type = 'image/png') => ({
      body: Buffer.alloc(size, 1),
      headers: { 'content-type': type },
    });

    it('takes a form and the same bytes raw: 201, then 200; others conflict', async () => {
      const first = await put('cover', form('file', 10));
      expect([first.status, await first.json()]).toEqual([
        201,
        {
          index: 0,
          resource_id: 'cover',
          source_type: 'upload',
          url: null,
          width: 3,
          height: 2,
          mime_type: 'image/png',
          bytes: 10,
          sha256: 'ab',
          url_expires_at: null,
        },
      ]);
      expect((await put('cover', raw(10, 'application/octet-stream'))).status).toBe(200);
      expect(await refusal(await put('cover', raw(11)))).toMatchObject({ status: 409, code: 'RESOURCE_CONFLICT' });
    });

    it.each([
      ['a form', () => form('file', 2049)],
      ['raw bytes', () => raw(2049)],
    ])('refuses a picture that is too large in %s', async (_, init) => {
      expect(await refusal(await put('big', init()))).toEqual({
        status: 413,
        code: 'IMAGE_TOO_LARGE',
        message: 'a picture may have at most 2048 bytes',
      });
    });

    it('refuses another type and a form without the file', async () => {
      expect(await refusal(await put('x', raw(3, 'text/plain')))).toMatchObject({ status: 415 });
      expect(await refusal(await put('x', form('other', 3)))).toEqual({
        status: 400,
        code: 'INVALID_BODY',
        message: 'the form needs a part named file',
      });
      const broken = { body: '--x\r\nbroken', headers: { 'content-type': 'multipart/form-data; boundary=x' } };
      expect(await refusal(await put('x', broken))).toMatchObject({ status: 400, code: 'INVALID_BODY' });
    });

    it('takes one file, whatever other fields the form has', async () => {
      const { body } = form('file', 3);
      body.append('note', 'a receipt');
      expect((await put('noted', { body })).status).toBe(201);
      body.append('file', new Blob([Buffer.alloc(3, 2)]), 'y.png');
      expect(await refusal(await put('two', { body }))).toEqual({
        status: 400,
        code: 'INVALID_BODY',
        message: 'the form must have one file',
      });
    });

    it('gives up on a form that does not end', async () => {
      const endless = new ReadableStream<Uint8Array>({
        start: (controller) =>
          controller.enqueue(
            Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc'),
          ),
      });
      const response = await put('slow', {
        body: endless,
        duplex: 'half',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      });
      expect(await refusal(response)).toMatchObject({ status: 408, code: 'REQUEST_TIMEOUT' });
    });
  });
});
