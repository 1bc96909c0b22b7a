import { Controller, Post } from '@nestjs/common';
import type { AppError } from '../../../src/common/app-error.js';
import { DialectErrors, type HttpFailure } from '../../../src/transport/http/dialect-errors.js';
import { bootHttp, type HttpApp } from '../../support/http-app.js';
import { rawConnect, readAll } from '../../support/raw-http.js';
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
  @Post()
  write() {
    return {};
  }
}

const MIB = 1024 * 1024;

describe('a refusal while the body is still coming', () => {
  let server: HttpApp;

  beforeAll(async () => {
    const env = { BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: `me:${'0'.repeat(64)}:t:u` };
    server = await bootHttp({ config: aConfig(env), dialects: [PlainErrors], controllers: [ThingsController] });
  });

  afterAll(() => server.close());

  it('reaches a client that sends everything before it reads', async () => {
    const statuses: number[] = [];
    for (let call = 0; call < 10; call += 1) {
      const body = 'a'.repeat(8 * MIB);
      statuses.push((await fetch(`${server.url}/things`, { method: 'POST', body })).status);
    }
    expect(statuses).toEqual(Array<number>(10).fill(401));
  });

  it('ends the connection of a client that never stops', async () => {
    const socket = await rawConnect(server.port);
    const answer = readAll(socket);
    socket.write('POST /things HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const sending = setInterval(() => socket.write('1\r\na\r\n'), 10);
    expect(await answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i);
    await new Promise((resolve) => (socket.destroyed ? resolve(undefined) : socket.once('close', resolve)));
    clearInterval(sending);
  });
});
