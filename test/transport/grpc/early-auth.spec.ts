import { createHash } from 'node:crypto';
import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { startGrpcApp, type RunningGrpcApp } from '../../support/grpc-app.js';
import { aConfig } from '../../support/test-config.js';

const KEY = 'a-key-for-the-test';
const SHA = createHash('sha256').update(KEY).digest('hex');
const SUBMIT = '/harness.v1.AgentHarness/Submit';
const MIB = 1024 * 1024;

describe('a gRPC call without a key', () => {
  let door: RunningGrpcApp;
  let session: ClientHttp2Session;

  beforeAll(async () => {
    const env = { BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: `me:${SHA}:t:u` };
    door = await startGrpcApp(aConfig(env), {});
    session = connect(`http://${door.address}`);
  });

  afterAll(async () => {
    session.destroy();
    await door.close();
  });

  /** The status of a call whose message never ends; undefined when none came within the time. */
  function statusOf(path: string, headers: OutgoingHttpHeaders, ms: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      const call = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      });
      const timer = setTimeout(() => finish(undefined), ms);
      const finish = (code: number | undefined): void => {
        clearTimeout(timer);
        call.on('error', () => undefined).close();
        resolve(code);
      };
      call.on('response', (answer) => finish(Number(answer['grpc-status'])));
      // The prefix announces a MiB, of which one byte comes.
      call.write(Buffer.from([0, 0, MIB / 65536, 0, 0, 1]));
    });
  }

  it('is refused before its message is read', async () => {
    expect(await statusOf(SUBMIT, {}, 10_000)).toBe(status.UNAUTHENTICATED);
    expect(await statusOf(SUBMIT, { authorization: 'Bearer wrong' }, 10_000)).toBe(status.UNAUTHENTICATED);
  });

  it('is waited for when it has one', async () => {
    expect(await statusOf(SUBMIT, { authorization: `Bearer ${KEY}` }, 500)).toBeUndefined();
  });

  it('is waited for at the health service, which is open', async () => {
    expect(await statusOf('/grpc.health.v1.Health/Check', {}, 500)).toBeUndefined();
  });
});
