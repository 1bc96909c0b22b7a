import { once } from 'node:events';
import { connect } from 'node:http2';
import { startGrpcApp } from '../../support/grpc-app.js';
import { grpcConfig } from '../../support/grpc-fixtures.js';

describe('pings of gRPC connections', () => {
  it('come every events.pingMs, whether or not a call is open', async () => {
    const running = await startGrpcApp(grpcConfig({ BRIDLE_EVENTS_PING_MS: '100' }), {});
    const session = connect(`http://${running.address}`);
    try {
      const startMs = performance.now();
      for (let n = 1; n <= 3; n += 1) await once(session, 'ping', { signal: AbortSignal.timeout(10_000) });
      expect(performance.now() - startMs).toBeGreaterThan(250);
    } finally {
      session.destroy();
      await running.close();
    }
  });
});
