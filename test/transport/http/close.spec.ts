import { Controller, Post } from '@nestjs/common';
import type { AppError } from '../../../src/common/app-error.js';
import { DialectErrors, type HttpFailure } from '../../../src/transport/http/dialect-errors.js';
import { bootHttp } from '../../support/http-app.js';
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

describe('closing the server', () => {
  it.each([
    ['says nothing', ''],
    ['stops in its head', 'POST /things HTTP/1.1\r\nhost: loc'],
    ['stops in its body', 'POST /things HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{'],
  ])('does not wait for a client that %s', async (_what, sent) => {
    // The test's own time limit is far below this one.
    const config = aConfig({ BRIDLE_HTTP_BODY_TIMEOUT_MS: '600000' });
    const server = await bootHttp({ config, dialects: [PlainErrors], controllers: [ThingsController] });
    const socket = await rawConnect(server.port);
    const gone = readAll(socket);
    socket.write(sent);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.close();
    await gone;
    expect(socket.destroyed).toBe(true);
  });
});
