import type { LookupAddress } from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import { OutgoingFetch, type FetchOptions, type FetchSettings } from '../../src/outgoing/guarded-fetch.js';
import { OutgoingError } from '../../src/outgoing/outgoing-error.js';
import { startLoopbackServer, type LoopbackServer } from '../support/loopback-server.js';

const NEVER = new AbortController().signal;
const BODY = 'the secret body';

/** Names of the tests; `image.test` stands for a public host, which is why it is allowed on loopback. */
const NAMES: Readonly<Record<string, string>> = { 'image.test': '127.0.0.1', 'localtest.example': '127.0.0.1' };

const resolveByTable = (host: string): Promise<LookupAddress[]> => {
  const address = NAMES[host];
  return address === undefined
    ? Promise.reject(Object.assign(new Error(`no such host ${host}`), { code: 'ENOTFOUND' }))
    : Promise.resolve([{ address, family: 4 }]);
};

describe('OutgoingFetch', () => {
  let server: LoopbackServer;
  let other: LoopbackServer;
  const opened: OutgoingFetch[] = [];

  function outgoing(settings: Partial<FetchSettings> = {}, resolve = resolveByTable): OutgoingFetch {
    const made = new OutgoingFetch(
      {
        allowHosts: [],
        allowPrivateHosts: [`image.test:${server.port}`],
        timeoutMs: 5000,
        maxBytes: 100_000,
        ...settings,
      },
      resolve,
    );
    opened.push(made);
    return made;
  }

  const get = (path: string, options: FetchOptions = {}): Promise<Uint8Array> =>
    outgoing().fetchBytes(`http://image.test:${server.port}${path}`, options, NEVER);

  const failureOf = async (promise: Promise<unknown>): Promise<OutgoingError> => {
    const error: unknown = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof OutgoingError)) throw new Error(`expected an OutgoingError, got ${String(error)}`);
    return error;
  };

  beforeEach(async () => {
    other = await startLoopbackServer((_request, response) => response.end(BODY));
    server = await startLoopbackServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://image.test');
      const to = url.searchParams.get('to');
      const hops = Number(url.searchParams.get('hops'));
      if (to !== null) response.writeHead(302, { location: to }).end(BODY);
      else if (hops > 0) response.writeHead(307, { location: `?hops=${hops - 1}` }).end();
      else if (url.pathname === '/missing') response.writeHead(404).end(BODY);
      else if (url.pathname === '/endless') response.write(Buffer.alloc(200_000));
      else if (url.pathname === '/declared') response.writeHead(200, { 'content-length': 200_000 }).write('a');
      else if (url.pathname === '/cut')
        response.writeHead(200, { 'content-length': 100 }).write('a', () => response.destroy());
      else if (url.pathname === '/drip') response.write('a');
      else if (url.pathname !== '/silent') response.end(BODY);
    });
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((made) => made.close()));
    await Promise.all([server.close(), other.close()]);
  });

  it('gets the bytes of an allowed host', async () => {
    expect(Buffer.from(await get('/a.png')).toString()).toBe(BODY);
  });

  it('follows three redirects and no fourth', async () => {
    expect(Buffer.from(await get('/?hops=3')).toString()).toBe(BODY);
    expect((await failureOf(get('/?hops=4'))).kind).toBe('bad_status');
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://127.1:PORT/',
    'http://127.0.0.1:PORT/',
    'http://[::1]:PORT/',
    'http://0.0.0.0:PORT/',
    'http://localtest.example:PORT/',
    'https://localtest.example:PORT/',
  ])('blocks %s before it connects, at first hand and after a redirect', async (template) => {
    const url = template.replace('PORT', String(other.port));
    expect((await failureOf(outgoing().fetchBytes(url, {}, NEVER))).kind).toBe('blocked');
    expect((await failureOf(get(`/?to=${encodeURIComponent(url)}`))).kind).toBe('blocked');
    expect(other.requests).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'http://u:p@image.test/'])(
    'does not follow a redirect to %s',
    async (url) => {
      expect((await failureOf(get(`/?to=${encodeURIComponent(url)}`))).kind).toBe('blocked');
    },
  );

  it('connects to the very address that it judged', async () => {
    let asked = 0;
    const rebinding = (): Promise<LookupAddress[]> => {
      asked += 1;
      return Promise.resolve([{ address: asked === 1 ? '127.0.0.1' : '8.8.8.8', family: 4 }]);
    };
    const guarded = outgoing({ allowPrivateHosts: [] }, rebinding);
    const error = await failureOf(guarded.fetchBytes(`http://rebind.test:${other.port}/`, {}, NEVER));
    expect([error.kind, asked, other.requests.length]).toEqual(['blocked', 1, 0]);
  });

  it('leaves the forbidden addresses of a name out and uses the allowed one', async () => {
    const mixed = (): Promise<LookupAddress[]> =>
      Promise.resolve([
        { address: '169.254.169.254', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const body = await outgoing({}, mixed).fetchBytes(`http://image.test:${server.port}/`, {}, NEVER);
    expect(Buffer.from(body).toString()).toBe(BODY);
  });

  it('says the same of a blocked target, a closed port, an open one, a wrong status and a slow answer', async () => {
    const closed = await startLoopbackServer(() => undefined);
    await closed.close();
    const openToAll = { allowPrivateHosts: ['image.test'], timeoutMs: 300 };
    const failures = await Promise.all(
      [
        outgoing().fetchBytes(`http://127.0.0.1:${other.port}/`, {}, NEVER),
        outgoing().fetchBytes(`http://127.0.0.1:${closed.port}/`, {}, NEVER),
        outgoing(openToAll).fetchBytes(`http://image.test:${closed.port}/`, {}, NEVER),
        outgoing().fetchBytes('http://nowhere.test/', {}, NEVER),
        outgoing(openToAll).fetchBytes(`http://image.test:${server.port}/silent`, {}, NEVER),
        outgoing(openToAll).fetchBytes(`http://image.test:${server.port}/drip`, {}, NEVER),
        get('/missing'),
        get('/cut'),
      ].map(failureOf),
    );
    expect(failures.map(({ kind }) => kind)).toEqual([
      'blocked',
      'blocked',
      'unreachable',
      'unreachable',
      'timeout',
      'timeout',
      'bad_status',
      'unreachable',
    ]);
    expect(new Set(failures.map(({ message }) => message)).size).toBe(1);
    expect(failures[0]?.message).not.toMatch(/secret|127|image\.test|status/);
  });

  it('stops at the size limit, whether the server declares the length or not', async () => {
    expect((await failureOf(get('/endless'))).kind).toBe('too_large');
    expect((await failureOf(get('/declared'))).kind).toBe('too_large');
    expect((await failureOf(get('/', { maxBytes: 5 }))).kind).toBe('too_large');
  });

  it('ends with the reason of the caller who aborts', async () => {
    const controller = new AbortController();
    const pending = outgoing().fetchBytes(`http://image.test:${server.port}/silent`, {}, controller.signal);
    await delay(20);
    controller.abort(new Error('run cancelled'));
    await expect(pending).rejects.toThrow('run cancelled');
  });

  it('sends headers to the first origin only, and not again after leaving it', async () => {
    const guarded = outgoing({ allowPrivateHosts: ['image.test'] });
    const headers = { authorization: 'Bearer k', 'x-api-key': 'k' };
    const back = encodeURIComponent(`http://image.test:${server.port}/end`);
    const away = await startLoopbackServer((_request, response) =>
      response.writeHead(302, { location: decodeURIComponent(back) }).end(),
    );
    const to = encodeURIComponent(`http://image.test:${away.port}/`);
    await guarded.fetchBytes(`http://image.test:${server.port}/?to=${to}`, { headers }, NEVER);
    await away.close();
    const keys = [...server.requests.slice(0, 1), ...away.requests, ...server.requests.slice(1)].map(
      (request) => request.headers['x-api-key'] ?? request.headers.authorization,
    );
    expect(keys).toEqual(['k', undefined, undefined]);
  });
});
