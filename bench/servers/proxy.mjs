/**
 * Forwards a question to the model and its answer back, and does nothing else.
 *
 *   node bench/servers/proxy.mjs MODEL-URL
 */
import { Agent, createServer, request as send } from 'node:http';
import { listen } from './lib/ready.mjs';

const model = new URL(process.argv[2]);
const agent = new Agent({ keepAlive: true, noDelay: true });

listen(
  createServer((request, response) => {
    const { host: _host, ...headers } = request.headers;
    const forwarded = send(
      {
        agent,
        method: request.method,
        host: model.hostname,
        port: model.port,
        path: `${model.pathname}${request.url}`,
        headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.once('error', () => response.destroy());
    request.pipe(forwarded);
  }),
);
