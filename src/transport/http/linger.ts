import type { IncomingMessage } from 'node:http';

/** How long a client may go on sending what nobody wants, milliseconds. */
const LINGER_MS = 1000;

/**
 * Lets a client that is still sending its body read the answer. Closing at once would make the system reset the
 * connection, and most clients then report the reset and never see why they were refused. What comes after the
 * answer is thrown away, for a second at most.
 */
export function lingerAfterAnswer(request: IncomingMessage): void {
  const { socket } = request;
  // Node calls it when the last response of the connection is out.
  socket.destroySoon = (): void => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.end();
    request.resume();
  };
}
