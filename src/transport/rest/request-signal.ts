import type { FastifyReply } from 'fastify';

/** A signal that aborts when the client goes away before it has its answer. */
export function whileConnected(reply: FastifyReply): AbortSignal {
  const abort = new AbortController();
  const { raw } = reply;
  if (raw.destroyed) abort.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) abort.abort();
  });
  return abort.signal;
}
