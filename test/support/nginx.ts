import { readFileSync } from 'node:fs';
import { startNginx, type Nginx } from '../../scripts/lib/nginx.mjs';
import type { TestServer } from './server.js';

const DOCUMENTED = 'config/nginx/bridle.conf';

/** A running nginx, in the words of a server: clients of both doors take it for one. */
export interface NginxFront extends Pick<Nginx, 'log' | 'stop'> {
  readonly http: string;
  /** `host:port`; with nginx's default settings there is no such door. */
  readonly grpc: string;
}

/** One line of the documented file, as it stands there, and what a test needs in its place. */
export type Change = readonly [line: string, instead: string];

/**
 * nginx with the file that we ship: other ports, other names of servers, and nothing else unless a test says so.
 * @throws Error when a line that shall be changed is not in the file
 */
export async function startDocumentedNginx(
  servers: readonly Pick<TestServer, 'http' | 'grpc'>[],
  changes: readonly Change[] = [],
): Promise<NginxFront> {
  const nginx = await startNginx(2, ([http, grpc]) =>
    changed(readFileSync(DOCUMENTED, 'utf8'), [
      ['listen 8080;', `listen 127.0.0.1:${http};`],
      ['listen 50051 http2;', `listen 127.0.0.1:${grpc} http2;`],
      ...['api-1', 'api-2'].flatMap((name, index): Change[] => {
        // One server stands for both when a test has only one.
        const server = servers[index] ?? servers[0]!;
        return [
          [`server ${name}:8000 `, `server ${new URL(server.http).host} `],
          [`server ${name}:50051 `, `server ${server.grpc} `],
        ];
      }),
      ...changes,
    ]),
  );
  return { ...nginx, http: urlOf(nginx.ports[0]), grpc: `127.0.0.1:${nginx.ports[1]}` };
}

/**
 * nginx as whoever writes the five lines of a first proxy has it: HTTP/1.0 to the server, buffering on.
 * @param directives more lines of the server block
 */
export async function startDefaultNginx(server: Pick<TestServer, 'http'>, directives = ''): Promise<NginxFront> {
  const nginx = await startNginx(
    1,
    ([port]) => `server { listen 127.0.0.1:${port}; ${directives} location / { proxy_pass ${server.http}; } }`,
  );
  return { ...nginx, http: urlOf(nginx.ports[0]), grpc: '' };
}

function changed(text: string, changes: readonly Change[]): string {
  return changes.reduce((soFar, [line, instead]) => {
    if (!soFar.includes(line)) throw new Error(`${DOCUMENTED} holds no "${line}"`);
    return soFar.replaceAll(line, instead);
  }, text);
}

const urlOf = (port: number | undefined): string => `http://127.0.0.1:${port}`;
