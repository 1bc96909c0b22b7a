import { Body, Controller, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { AppError } from '../../../src/common/app-error.js';
import { DialectErrors, type HttpFailure } from '../../../src/transport/http/dialect-errors.js';
import { aConfig } from '../../support/test-config.js';
import { bootHttp, type HttpApp } from '../../support/http-app.js';
import { rawConnect, rawExchange, readAll } from '../../support/raw-http.js';

const MAX_BODY = 2048;
const KEY = 'test-key';
const SHA = createHash('sha256').update(KEY).digest('hex');

class ApiErrors extends DialectErrors {
  owns(path: string): boolean {
    return path.startsWith('/api');
  }
  toFailure(error: AppError): HttpFailure {
    return { status: error.http, body: { api: error.reason, message: error.message } };
  }
}

class OtherErrors extends DialectErrors {
  owns(): boolean {
    return true;
  }
  toFailure(error: AppError): HttpFailure {
    return { status: error.http, body: { detail: error.message }, headers: { 'x-door': 'other' } };
  }
}

@Controller('api')
class ApiController {
  @Post('echo')
  @HttpCode(200)
  echo(@Body() body: Buffer | undefined) {
    return { isBuffer: Buffer.isBuffer(body), bytes: body?.length ?? 0 };
  }

  @Get('things/:id')
  read(@Param('id') id: string) {
    return { id };
  }

  @Put('things/:id')
  write(@Param('id') id: string) {
    return { id };
  }

  @Get('things/:id/parts/:part')
  part(@Param() params: object) {
    return params;
  }

  @Get('boom')
  boom() {
    throw new Error('password is hunter2');
  }
}

const auth = `authorization: Bearer ${KEY}\r\n`;
const head = (line: string, headers = '') => `${line} HTTP/1.1\r\nhost: x\r\n${auth}${headers}\r\n`;
const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as unknown;

describe('the HTTP application', () => {
  let server: HttpApp;
  beforeAll(async () => {
    server = await bootHttp({
      config: aConfig({
        BRIDLE_HTTP_MAX_BODY_BYTES: String(MAX_BODY),
        BRIDLE_HTTP_BODY_TIMEOUT_MS: '300',
        BRIDLE_AUTH_MODE: 'key',
        BRIDLE_AUTH_KEYS: `test:${SHA}:acme:ann`,
      }),
      dialects: [ApiErrors, OtherErrors],
      controllers: [ApiController],
    });
  });
  afterAll(() => server.close());

  const call = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { ...init, headers: { authorization: `Bearer ${KEY}`, ...init.headers } });

  describe('bodies', () => {
    it('hands the bytes to the handler unparsed, whatever the type', async () => {
      for (const type of ['application/json', 'image/png', 'text/plain']) {
        const response = await call('/api/echo', { method: 'POST', body: '{bad', headers: { 'content-type': type } });
        expect(await response.json()).toEqual({ isBuffer: true, bytes: 4 });
      }
    });

    it('takes a body of exactly the limit and refuses one byte more, by length and by count', async () => {
      const exact = await call('/api/echo', { method: 'POST', body: 'x'.repeat(MAX_BODY) });
      expect(await exact.json()).toEqual({ isBuffer: true, bytes: MAX_BODY });
      const over = await call('/api/echo', { method: 'POST', body: 'x'.repeat(MAX_BODY + 1) });
      expect(over.status).toBe(413);
      expect(over.headers.get('connection')).toBe('close');
      expect(await over.json()).toEqual({ api: 'BODY_TOO_LARGE', message: 'the body is larger than 2048 bytes' });

      const socket = await rawConnect(server.port);
      const answer = readAll(socket);
      socket.write(head('POST /api/echo', 'transfer-encoding: chunked\r\n'));
      const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
      const feed = setInterval(() => socket.writable && socket.write(chunk), 5);
      const text = await answer;
      clearInterval(feed);
      expect(text).toMatch(/^HTTP\/1\.1 413 /);
      expect(bodyOf(text)).toEqual({ api: 'BODY_TOO_LARGE', message: 'the body is larger than 2048 bytes' });
    });

    it('gives up on a body that does not come', async () => {
      const text = await rawExchange(server.port, `${head('POST /api/echo', 'content-length: 10\r\n')}abc`);
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      expect(text).toMatch(/connection: close/i);
    });

    it('reads no byte of the body of a caller it does not let in', async () => {
      const answer = await rawExchange(
        server.port,
        'POST /api/echo HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n',
      );
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).not.toContain('100 Continue');
    });

    it('asks for the body of a waiting client once it is let in', async () => {
      const socket = await rawConnect(server.port);
      const first = readAll(socket, (text) => text.includes('100 Continue'));
      socket.write(head('POST /api/echo', 'expect: 100-continue\r\nconnection: close\r\ncontent-length: 3\r\n'));
      expect(await first).toContain('HTTP/1.1 100 Continue');
      const rest = readAll(socket);
      socket.write('abc');
      expect(bodyOf(await rest)).toEqual({ isBuffer: true, bytes: 3 });
    });

    it('does not ask a waiting client for a body that is too large', async () => {
      const answer = await rawExchange(
        server.port,
        head('POST /api/echo', 'expect: 100-continue\r\ncontent-length: 5000\r\n'),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    });

    it('survives a client that leaves in the middle', async () => {
      const socket = await rawConnect(server.port);
      socket.write(`${head('POST /api/echo', 'content-length: 10\r\n')}abc`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
      const next = await call('/api/echo', { method: 'POST', body: 'fine' });
      expect(next.status).toBe(200);
    });

    it.each([
      ['content-length: 3\r\ncontent-length: 3\r\n', 'a doubled length'],
      ['content-length: -1\r\n', 'a negative length'],
      ['content-length: 3\r\ntransfer-encoding: chunked\r\n', 'length and chunks'],
    ])('refuses %j (%s)', async (headers) => {
      const answer = await rawExchange(server.port, `${head('POST /api/echo', headers)}abc`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(bodyOf(answer)).toEqual({ detail: 'invalid Content-Length' });
    });
  });

  describe('routes', () => {
    it('says 405 with every method of the path, in the words of its owner', async () => {
      const response = await call('/api/things/7', { method: 'DELETE' });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, PUT');
      expect(await response.json()).toEqual({
        api: 'METHOD_NOT_ALLOWED',
        message: 'DELETE is not allowed here, use GET, PUT',
      });
    });

    it('does not answer HEAD by running the handler', async () => {
      const response = await call('/api/things/7', { method: 'HEAD' });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, PUT');
    });

    it('says 404 for what is no route, in the words of the owner of the path', async () => {
      const own = await call('/api/nothing');
      expect([own.status, await own.json()]).toEqual([404, { api: 'ROUTE_NOT_FOUND', message: 'no such route' }]);
      const other = await call('/elsewhere');
      expect([other.status, await other.json()]).toEqual([404, { detail: 'no such route' }]);
      expect(other.headers.get('x-door')).toBe('other');
    });

    it.each([
      ['/api/things/a%2Fb', 404, 'ROUTE_NOT_FOUND'],
      ['/api/things/a%5Cb', 404, 'ROUTE_NOT_FOUND'],
      ['/api/things/a%00b', 400, 'ID_INVALID'],
      ['/api/things/a%0Ab', 400, 'ID_INVALID'],
      [`/api/things/${'x'.repeat(257)}`, 400, 'ID_INVALID'],
      [`/api/things/${'x'.repeat(1025)}`, 400, 'ID_INVALID'],
      ['/api/things/a%ZZ', 400, 'INVALID_BODY'],
      ['/api/things//parts/1', 404, 'ROUTE_NOT_FOUND'],
    ])('refuses %s with %i', async (path, status, reason) => {
      const response = await call(path);
      expect([response.status, ((await response.json()) as { api: string }).api]).toEqual([status, reason]);
    });

    it('takes an id of 256 characters', async () => {
      const id = 'x'.repeat(256);
      expect(await (await call(`/api/things/${id}`)).json()).toEqual({ id });
    });
  });

  it('tells nothing of an unknown error and logs it once', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const response = await call('/api/boom', { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    expect([response.status, await response.json()]).toEqual([500, { api: 'INTERNAL', message: 'internal error' }]);
    const lines = server.logger.lines.filter((line) => line.fields['traceId'] === trace);
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'request failed',
        fields: { traceId: trace, method: 'GET', path: '/api/boom', error: expect.any(Error) },
      },
    ]);
  });

  it('sends security headers with answers and with errors', async () => {
    for (const path of ['/api/things/1', '/api/nothing']) {
      const { headers } = await call(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    }
  });

  it('lets no other origin in unless it is configured', async () => {
    const response = await call('/api/things/1', { headers: { origin: 'https://evil.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('CORS', () => {
  it('answers the preflight of a configured origin', async () => {
    const server = await bootHttp({
      config: aConfig({ BRIDLE_HTTP_ALLOW_ORIGINS: 'https://app.example.com' }),
      dialects: [OtherErrors],
      controllers: [ApiController],
    });
    const preflight = (origin: string) =>
      fetch(`${server.url}/api/things/1`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'PUT' },
      });
    expect((await preflight('https://app.example.com')).headers.get('access-control-allow-origin')).toBe(
      'https://app.example.com',
    );
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
    await server.close();
  });
});
