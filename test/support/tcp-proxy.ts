import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a client and a server, and fails as networks do. */
export interface TcpProxy {
  readonly port: number;
  /** How many connections were made through it so far. */
  readonly made: number;
  /** What is connected now stays so, and nothing passes any more: a cable is cut, a firewall has forgotten. */
  lose(): void;
  /** New connections are lost too, until `heal`. */
  loseNew(): void;
  /** Loses, old and new, from the moment on when a client sends these words. */
  loseAt(words: string): void;
  heal(): void;
  close(): Promise<void>;
}

/** @param target port on 127.0.0.1 */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isLosing = false;
  let fatalWords: string | undefined;
  let made = 0;
  const server = createServer((client) => {
    made += 1;
    const upstream = connect(target, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
    client.on('data', (sent: Buffer) => {
      if (fatalWords === undefined || !sent.includes(fatalWords)) return;
      isLosing = true;
      for (const each of pairs) cut(each);
    });
    if (isLosing) cut(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get made() {
      return made;
    },
    lose: () => {
      for (const pair of pairs) cut(pair);
    },
    loseNew: () => {
      isLosing = true;
    },
    loseAt: (words) => {
      fatalWords = words;
    },
    heal: () => {
      isLosing = false;
      fatalWords = undefined;
    },
    close: async () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function cut([client, upstream]: readonly [Socket, Socket]): void {
  client.unpipe(upstream).pause();
  upstream.unpipe(client).pause();
}
