import { Controller, Get, Post } from '@nestjs/common';
import type { AppError } from '../../../src/common/app-error.js';
import { DialectErrors, type HttpFailure } from '../../../src/transport/http/dialect-errors.js';
import { bootHttp, type HttpApp } from '../../support/http-app.js';
import { rawExchange } from '../../support/raw-http.js';
import { aConfig } from '../../support/test-config.js';

class PlainErrors extends DialectErrors {
  owns(): boolean {
    return true;
  }
  toFailure(error: AppError): HttpFailure {
    return { status: error.http, body: { code: error.reason } };
  }
}

@Controller('things')
class ThingsController {
  @Get()
  read() {
    return {};
  }

  @Post()
  write() {
    return {};
  }
}

const KEYS = `me:${'0'.repeat(64)}:t:u`;

describe('the guard against pages of other sites', () => {
  let server: HttpApp | undefined;

  const boot = async (env: Record<string, string> = {}): Promise<HttpApp> =>
    (server = await bootHttp({ config: aConfig(env), dialects: [PlainErrors], controllers: [ThingsController] }));

  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  async function statusOf(method: string, headers: Record<string, string>): Promise<number> {
    const { port } = server!;
    const all = { host: `127.0.0.1:${port}`, connection: 'close', 'content-length': '0', ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const answer = await rawExchange(port, `${method} /things HTTP/1.1\r\n${lines.join('')}\r\n`);
    return Number(answer.split(' ')[1]);
  }

  it('lets no foreign origin change anything', async () => {
    const { port } = await boot();
    expect(await statusOf('POST', { origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf('POST', { origin: 'null' })).toBe(403);
    expect(await statusOf('POST', { origin: `http://127.0.0.1:${port}` })).toBe(201);
    expect(await statusOf('POST', {})).toBe(201);
    expect(await statusOf('GET', { origin: 'https://evil.example' })).toBe(200);
  });

  it('refuses a name that is not of this machine: it may have been pointed here', async () => {
    await boot();
    expect(await statusOf('GET', { host: 'evil.example' })).toBe(403);
    expect(await statusOf('GET', { host: 'localhost:8000' })).toBe(200);
    expect(await statusOf('GET', { host: '[::1]' })).toBe(200);
    expect(await statusOf('GET', { host: 'bridle:8000' })).toBe(200);
    expect(await statusOf('GET', { host: '10.0.0.1' })).toBe(403);
  });

  it('takes the public URL and configured origins for its own', async () => {
    await boot({
      BRIDLE_SERVER_PUBLIC_URL: 'https://bridle.example',
      BRIDLE_HTTP_ALLOW_ORIGINS: 'https://app.example',
    });
    expect(await statusOf('POST', { host: 'bridle.example', origin: 'https://bridle.example' })).toBe(201);
    expect(await statusOf('POST', { origin: 'https://app.example' })).toBe(201);
    expect(await statusOf('POST', { origin: 'https://evil.example' })).toBe(403);
  });

  it('leaves a server with keys to its keys', async () => {
    await boot({ BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: KEYS });
    expect(await statusOf('GET', { host: 'evil.example' })).toBe(401);
  });
});
