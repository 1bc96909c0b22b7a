import { connect, type Socket } from 'node:net';

/** Opens a connection to the loopback. */
export function rawConnect(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Everything that the peer sends until it closes, or until `isEnough`; a reset counts as a close. */
export function readAll(socket: Socket, isEnough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const finish = (): void => resolve(text);
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('utf8');
      if (isEnough(text)) finish();
    });
    socket.once('close', finish);
    socket.once('error', finish);
  });
}

/** Sends a text as it is and reads the answer until the peer closes. */
export async function rawExchange(port: number, text: string): Promise<string> {
  const socket = await rawConnect(port);
  const answer = readAll(socket);
  socket.write(text);
  return answer;
}
