import type { FastifyReply } from 'fastify';

/** A signal that aborts when the client goes away before it has its answer, or when the server stops. */
export function whileConnected(reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const { raw } = reply;
  if (raw.destroyed) gone.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return AbortSignal.any([gone.signal, stopping]);
}
