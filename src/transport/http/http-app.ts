import multipart from '@fastify/multipart';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../common/app-error.js';
import type { Config } from '../../config/config.js';
import { traceIdFrom } from '../../observability/trace-id.js';
import { allowOrigins } from './cors.js';
import { ErrorFilter } from './error.filter.js';
import { OpenStreams } from './open-streams.js';
import { deferContinue } from './request-body.js';
import { RouteTable } from './route-table.js';

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: RouteTable;
    /** Answers what the router itself refuses; set once the application exists. */
    answerError: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
  }
}

/** Head of a request must arrive within this time, milliseconds. */
const HEADERS_TIMEOUT_MS = 15_000;
/** How long answers that are under way may take when the server closes, milliseconds. */
const CLOSE_GRACE_MS = 1000;
const MAX_PATH_PARAMETER = 1024;

/**
 * Fastify as the contract needs it: bodies are left on the wire until a guard has let the caller in.
 * @param urlOf the URL to route by, for a dialect that reads paths leniently
 */
export function createHttpAdapter(config: Config, urlOf?: (url: string) => string): FastifyAdapter {
  const adapter = new FastifyAdapter({
    ...(urlOf && { rewriteUrl: (request: Pick<IncomingMessage, 'url'>) => urlOf(request.url ?? '/') }),
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER },
    requestTimeout: 0,
    return503OnClosing: false,
    trustProxy: trustOf(config.http.trustProxy),
    genReqId: (request: Pick<IncomingMessage, 'headers'>) => traceIdFrom(request.headers['traceparent']),
    frameworkErrors: (error: Error, request: unknown, reply: unknown) => {
      (request as FastifyRequest).server.answerError(error, request as FastifyRequest, reply as FastifyReply);
    },
    clientErrorHandler: refuseConnection,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: HEADERS_TIMEOUT_MS / 3 },
  });
  const fastify = adapter.getInstance();
  fastify.decorate('routeTable', new RouteTable(fastify));
  fastify.decorate('answerError', (_error: unknown, _request: FastifyRequest, reply: FastifyReply) => {
    void reply.code(503).send();
  });
  return adapter;
}

/** A hop count as the function that Fastify's types know. */
function trustOf(
  setting: Config['http']['trustProxy'],
): boolean | string[] | ((address: string, hop: number) => boolean) {
  if (typeof setting === 'number') return (_address, hop) => hop < setting;
  return typeof setting === 'boolean' ? setting : [...setting];
}

/** Sets the application up to listen: body handling, security headers, CORS, the errors of the router. */
export async function prepareHttpApp(app: NestFastifyApplication, config: Config): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const errors = app.get(ErrorFilter, { strict: false });
  const streams = app.get(OpenStreams, { strict: false });
  fastify.answerError = (error, request, reply) => errors.answer(error, request, reply);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _stream, done) => done(null, undefined));
  fastify.addHook('onRequest', (_request, _reply, done) =>
    done(streams.isClosing ? new AppError('DRAINING', 'the server is stopping', { retryAfterMs: 1000 }) : undefined),
  );
  // The type parser above comes first, so forms too stay unread until a handler asks for their parts.
  await app.register(multipart, {
    limits: { fileSize: config.vision.maxImageBytes, files: 1, parts: 10, fieldSize: 64 * 1024 },
  });
  stopListening(app, streams.stopping);
  endStragglers(app);
  addSecurityHeaders(app);
  allowOrigins(fastify, config.http.allowOrigins);
  const server = app.getHttpServer();
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    deferContinue(request);
    server.emit('request', request, response);
  });
}

/** From then on a balancer finds nobody here and goes on to the next server, instead of being told 503. */
function stopListening(app: NestFastifyApplication, stopping: AbortSignal): void {
  stopping.addEventListener('abort', () => app.getHttpServer().close(), { once: true });
}

/**
 * Cuts the connections that are left when the server closes: a body that does not come, half a head, silence. Node
 * waits for them without limit, and stops to enforce its own time-outs once it closes.
 */
function endStragglers(app: NestFastifyApplication): void {
  const server = app.getHttpServer();
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('preClose', (done) => {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS).unref();
      server.once('close', () => clearTimeout(timer));
      done();
    });
}

function addSecurityHeaders(app: NestFastifyApplication): void {
  app.useSecurityHeaders({
    // This server speaks plain HTTP; whoever puts TLS in front of it sets these two.
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  });
}

/** Answers what Node's own parser refuses, before there is a request. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = refusalOf(error.code ?? '');
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function refusalOf(code: string): [status: string, detail: string] {
  switch (code) {
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
    case 'HPE_INVALID_CONTENT_LENGTH':
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return ['400 Bad Request', 'invalid Content-Length'];
    case 'HPE_HEADER_OVERFLOW':
      return ['431 Request Header Fields Too Large', 'the request head is too large'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['408 Request Timeout', 'the request head did not arrive in time'];
    default:
      return ['400 Bad Request', 'not a valid HTTP request'];
  }
}
