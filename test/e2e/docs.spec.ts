import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { validate } from '@readme/openapi-parser';
import { startServer, type TestServer } from '../support/server.js';

type Operation = { operationId: string; 'x-codeSamples'?: { source: string }[] };
type Document = { servers: { url: string }[]; paths: Record<string, Record<string, Operation>> };

const STREAMS: ReadonlySet<string> = new Set(['act', 'streamRun']);
const shell = promisify(execFile);

describe('the documentation of a fresh server', () => {
  let server: TestServer;
  let document: Document;
  beforeAll(async () => {
    server = await startServer();
    document = (await (await fetch(`${server.http}/openapi.json`)).json()) as Document;
  });
  afterAll(() => server.dispose());

  it('is one valid document of all its doors, and names the address that answers', async () => {
    expect(await validate(structuredClone(document) as never)).toMatchObject({ valid: true });
    expect(document.servers).toEqual([{ url: server.http }]);
  });

  it('gives each operation an id of its own', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(ids.filter((id) => !/^[a-zA-Z][a-zA-Z0-9]*$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('serves a page that loads from this server alone', async () => {
    const page = await fetch(`${server.http}/docs`);
    expect(page.status).toBe(200);
    expect(await page.text()).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect((await fetch(`${server.http}/docs/swagger-ui-bundle.js`)).status).toBe(200);
  });

  it('holds samples that run as they are', async () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const samples = operations.flatMap(({ operationId, 'x-codeSamples': found }) =>
      (found ?? []).map(({ source }) => ({ operationId, source })),
    );
    expect(samples.length).toBeGreaterThanOrEqual(9);
    for (const { operationId, source } of samples) {
      const { stdout } = await shell('bash', ['-euo', 'pipefail', '-c', source], { maxBuffer: 32e6 });
      if (operationId === 'harnessRuntimeRunSse') {
        expect(stdout).toMatch(/^(data: \{.*\}\n\n)+$/);
      } else if (STREAMS.has(operationId)) {
        expect(stdout).toMatch(/^(retry: 2000\n\n)?id: 1\nevent: run\.queued\n/);
        expect(stdout).toMatch(/\nevent: run\.completed\ndata: .*\n\n$/);
      } else {
        const { error = null } = JSON.parse(stdout) as { error?: unknown };
        expect({ operationId, error }).toEqual({ operationId, error: null });
      }
    }
  });

  it('is away when it is switched off', async () => {
    await server.stop();
    await server.restart({ BRIDLE_DOCS_ENABLED: 'false' });
    expect((await fetch(`${server.http}/docs`)).status).toBe(404);
    expect((await fetch(`${server.http}/openapi.json`)).status).toBe(404);
  });
});
