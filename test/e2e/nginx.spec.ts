import { setTimeout as sleep } from 'node:timers/promises';
import { adkTime, envelopeTime, readArrivals, readBlocks, type Arrival } from '../support/arrivals.js';
import { AdkClient, SESSIONS, until } from '../support/adk-client.js';
import { startDefaultNginx, startDocumentedNginx, type NginxFront } from '../support/nginx.js';
import { startServer, type TestServer } from '../support/server.js';
import { pathOf, V1Client, type RunKey } from '../support/v1-client.js';

/** The silence of P16 with the limits that are shipped, or all three made short alike. */
const isFull = process.env['BRIDLE_TEST_FULL'] !== undefined;
const QUIET_MS = isFull ? 90_000 : 4500;
const PING_MS = isFull ? 15_000 : 750;
const READ_TIMEOUT = isFull ? '60s' : '3s';
const QUIET_TEST_MS = QUIET_MS + 60_000;

const DELTAS = 5;
const EVERY_MS = isFull ? 1000 : 300;
const SCRIPT = `stream:${DELTAS}:${EVERY_MS}`;
const SLOW = 'tool:slow:20000;say:done';

const portOf = (url: string): number => Number(new URL(url).port);

/** Deltas that wait for the end of the stream are late by one pause more each. */
function expectOneByOne(arrivals: readonly Arrival[]): void {
  expect(arrivals).toHaveLength(DELTAS);
  const delays = arrivals.map(({ madeMs, arrivedMs }) => arrivedMs - madeMs).sort((a, b) => a - b);
  expect(delays[Math.floor(DELTAS / 2)]).toBeLessThan(300);
  expect(delays.at(-1)).toBeLessThan((DELTAS - 1) * EVERY_MS);
}

describe('behind nginx', () => {
  let server: TestServer;
  let plain: NginxFront;
  let squeezing: NginxFront;
  let documented: NginxFront;

  beforeAll(async () => {
    server = await startServer({ env: { BRIDLE_EVENTS_PING_MS: String(PING_MS), BRIDLE_EVENTS_COALESCE: 'false' } });
    plain = await startDefaultNginx(server, `proxy_read_timeout ${READ_TIMEOUT};`);
    squeezing = await startDefaultNginx(server, 'gzip on; gzip_types text/event-stream; gzip_proxied any;');
    documented = await startDocumentedNginx(
      [server],
      [
        ['proxy_read_timeout 60s;', `proxy_read_timeout ${READ_TIMEOUT};`],
        ['grpc_read_timeout 60s;', `grpc_read_timeout ${READ_TIMEOUT};`],
      ],
    );
  });

  afterAll(async () => {
    await Promise.all([plain, squeezing, documented].map((front) => front?.stop()));
    await server?.dispose();
  });

  /** A stream is over for the server too, soon after its reader has left. */
  const expectNoObserver = (): Promise<void> =>
    until(async () => /^bridle_open_observers 0$/m.test(await (await fetch(`${server.http}/metrics`)).text()));

  describe.each([
    ['default settings', () => plain],
    ['default settings and gzip for streams', () => squeezing],
    ['the documented file', () => documented],
  ])('with %s', (_name, front) => {
    it('C50 frames arrive one by one on every stream', async () => {
      const { http } = front();
      const v1 = new V1Client({ http });
      const adk = new AdkClient(portOf(http));
      const headers = { 'accept-encoding': 'gzip' };
      const actions = `${http}/v1/actions?encoding=envelope`;
      const run = await v1.send(await v1.session(), SCRIPT);
      const runSse = {
        appName: 'harness_agent',
        userId: 'u1',
        sessionId: ((await (await adk.request('POST', SESSIONS, {})).json()) as { id: string }).id,
        newMessage: { parts: [{ text: SCRIPT }] },
        streaming: true,
      };
      const streams = await Promise.all([
        readArrivals(actions, envelopeTime, { body: v1.message(await v1.session(), SCRIPT), headers }),
        readArrivals(`${http}${pathOf(run)}/events`, envelopeTime, { headers }),
        readArrivals(`${http}/run_sse`, adkTime, { body: runSse, headers }),
      ]);
      streams.forEach(expectOneByOne);
    });

    it('a reader that leaves is noticed, and on_disconnect is obeyed', async () => {
      const { http } = front();
      const v1 = new V1Client({ http });
      const [cancelled, kept] = [await v1.session(), await v1.session()];
      const leave = async (sessionId: string, onDisconnect: string): Promise<RunKey> => {
        const body = v1.message(sessionId, onDisconnect === 'cancel' ? SLOW : 'tool:quick:1500;say:done', {
          on_disconnect: onDisconnect,
        });
        const frames = await v1.stream(body, {}, (frame) => frame.event === 'run.tool_started');
        return { sessionId, runId: (JSON.parse(frames.at(-1)!.data) as { run_id: string }).run_id };
      };
      const runs = await Promise.all([leave(cancelled, 'cancel'), leave(kept, 'continue')]);
      await expectNoObserver();
      const ends = await Promise.all(runs.map((run) => v1.ended(run)));
      expect(ends.map(({ status }) => status)).toEqual(['cancelled', 'completed']);
    });
  });

  describe.each([
    ['default settings', () => plain],
    ['the documented file', () => documented],
  ])('with %s', (_name, front) => {
    it(
      `P16 a tool that is silent for ${QUIET_MS / 1000} s keeps its stream`,
      async () => {
        const v1 = new V1Client({ http: front().http });
        const run = await v1.send(await v1.session(), `tool:quiet:${QUIET_MS};say:done`);
        const startMs = Date.now();
        const response = await fetch(`${front().http}${pathOf(run)}/events`);
        const reading = readBlocks(response.body!);
        const cursorAt = async (share: number): Promise<number> => {
          await sleep(startMs + QUIET_MS * share - Date.now());
          return (await v1.page(run, 'limit=500')).next_cursor;
        };
        const early = await cursorAt(1 / 9);
        expect(await cursorAt(8 / 9)).toBe(early);

        const blocks = await reading;
        expect(blocks.at(-1)?.text).toContain('event: run.completed');
        const pings = blocks.filter(({ text }) => text.startsWith(':'));
        expect(pings.map(({ text }) => text)).toEqual(pings.map(() => ': ping'));
        expect(pings.length).toBeGreaterThanOrEqual(Math.floor(QUIET_MS / PING_MS / 2));
        const gaps = blocks.map(({ arrivedMs }, index) => arrivedMs - (blocks[index - 1]?.arrivedMs ?? startMs));
        expect(Math.max(...gaps)).toBeLessThan(PING_MS + 1500);
      },
      QUIET_TEST_MS,
    );
  });
});
