import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface ConnectProxy {
  readonly port: number;
  /** What it was asked for so far: `host:port`, with the headers. */
  readonly asked: readonly { readonly target: string; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/**
 * A real proxy on 127.0.0.1 that knows CONNECT and nothing else; every name leads to the same port of this machine.
 * @param credentials `user:password` that it insists on
 */
export async function startConnectProxy(targetPort: number, credentials?: string): Promise<ConnectProxy> {
  const asked: { target: string; headers: IncomingHttpHeaders }[] = [];
  const sockets = new Set<Socket>();
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', ({ url = '', headers }, client) => {
    asked.push({ target: url, headers });
    if (wanted !== undefined && headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const target = connect(targetPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    const end = (): void => void (target.destroy(), client.destroy());
    for (const side of [target, client]) side.on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
