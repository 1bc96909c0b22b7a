import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import { ThreadRenewal } from '../../../src/runs/adapters/thread-renewal.js';
import type { FromRenewal, RenewalStart, ToRenewal } from '../../../src/runs/renewal/renewal-messages.js';
import type { Lease } from '../../../src/runs/run.js';
import { CollectingLogger } from '../../support/http-app.js';

/** A thread that does what the test says. */
class FakeThread extends EventEmitter {
  readonly heard: ToRenewal[] = [];
  isUnreferenced = false;
  /** Whether it obeys a stop. */
  isObedient = true;
  isTerminated = false;

  constructor(readonly start: RenewalStart) {
    super();
  }

  postMessage(message: ToRenewal): void {
    this.heard.push(message);
    if (message.type === 'stop' && this.isObedient) void Promise.resolve().then(() => this.emit('exit', 0));
  }

  unref(): void {
    this.isUnreferenced = true;
  }

  terminate(): Promise<number> {
    this.isTerminated = true;
    this.emit('exit', 1);
    return Promise.resolve(1);
  }

  say(message: FromRenewal): void {
    this.emit('message', message);
  }

  die(error?: Error): void {
    if (error !== undefined) this.emit('error', error);
    this.emit('exit', 1);
  }
}

const HEARTBEAT_MS = 1000;
const SETTINGS = { url: 'mysql://u:p@h/d', owner: 'me', leaseMs: 3000, heartbeatMs: HEARTBEAT_MS, silenceMs: 60_000 };
const lease = (runId: string, epoch = 1): Lease => ({ runId, epoch });

/** How threads are started, told, replaced and ended; a real one is in the contract suite of the port. */
describe('ThreadRenewal', () => {
  let logger: CollectingLogger;
  let threads: FakeThread[];
  let renewal: ThreadRenewal;
  let lost: Lease[];

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Math, 'random').mockReturnValue(1);
    logger = new CollectingLogger();
    threads = [];
    lost = [];
    renewal = new ThreadRenewal(SETTINGS, logger, (start) => {
      const thread = new FakeThread(start);
      threads.push(thread);
      return thread as never;
    });
    renewal.lost$.subscribe((one) => lost.push(one));
  });

  afterEach(async () => {
    await renewal.stop();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const newest = (): FakeThread => threads.at(-1)!;
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  const messages = (): string[] => logger.lines.map(({ level, message }) => `${level} ${message}`);

  it('tells its thread what to renew, and gives a sign of life each heartbeat', async () => {
    renewal.add(lease('early'));
    renewal.start();
    expect(newest().start).toEqual({ ...SETTINGS, leases: [lease('early')] });
    expect(newest().isUnreferenced).toBe(true);
    renewal.add(lease('a'));
    renewal.add(lease('a', 3));
    renewal.remove(lease('a', 1)); // a newer one stands
    renewal.remove(lease('early'));
    await pass(2 * HEARTBEAT_MS);
    expect(newest().heard).toEqual([
      { type: 'add', lease: lease('a') },
      { type: 'add', lease: lease('a', 3) },
      { type: 'remove', lease: lease('early') },
      { type: 'alive' },
      { type: 'alive' },
    ]);
  });

  it('tells of a lost lease once, and not of one that was let go or replaced', () => {
    renewal.start();
    for (const one of [lease('a'), lease('b'), lease('b', 3), lease('c')]) renewal.add(one);
    renewal.remove(lease('c'));
    newest().say({ type: 'lost', leases: [lease('a'), lease('b'), lease('c')] });
    newest().say({ type: 'lost', leases: [lease('a')] });
    expect(lost).toEqual([lease('a')]);
  });

  it('tells of an outage at its start and its end, and of a silence', () => {
    renewal.start();
    newest().say({ type: 'failed', code: 'ECONNREFUSED', message: 'connect refused' });
    newest().say({ type: 'failed', code: 'ECONNREFUSED', message: 'connect refused' });
    newest().say({ type: 'worked' });
    newest().say({ type: 'silent', silentMs: 60_001 });
    expect(messages()).toEqual([
      'warn leases could not be renewed',
      'info over: leases could not be renewed',
      'error the process gave no sign of life, and its leases were not renewed',
    ]);
    expect(logger.lines[0]?.fields['error']).toMatchObject({ message: 'connect refused', code: 'ECONNREFUSED' });
    expect(logger.lines[2]?.fields).toEqual({ silentMs: 60_001 });
  });

  it('starts a thread that died again, with the leases held then, and says so once', async () => {
    renewal.start();
    renewal.add(lease('a'));
    renewal.add(lease('b'));
    newest().die(new Error('out of memory'));
    renewal.remove(lease('a'));
    renewal.add(lease('c'));
    expect(threads).toHaveLength(1);
    await pass(100);
    expect(threads).toHaveLength(2);
    expect(newest().start.leases).toEqual([lease('b'), lease('c')]);
    newest().say({ type: 'started' });
    expect(messages()).toEqual([
      'warn the thread that renews leases ended',
      'info over: the thread that renews leases ended',
    ]);
    expect(logger.lines[0]?.fields['error']).toMatchObject({ message: 'out of memory' });
    renewal.remove(lease('c'));
    expect(newest().heard).toEqual([{ type: 'remove', lease: lease('c') }]);
  });

  it('waits longer and longer for one that dies at once, up to a heartbeat, and forgets that after a good one', async () => {
    renewal.start();
    const waits: number[] = [];
    const dies = async (): Promise<void> => {
      const before = threads.length;
      newest().die();
      let waitedMs = 0;
      for (; threads.length === before; waitedMs += 50) await pass(50);
      waits.push(waitedMs);
    };
    for (let n = 0; n < 6; n += 1) await dies();
    expect(waits).toEqual([100, 200, 400, 800, HEARTBEAT_MS, HEARTBEAT_MS]);
    await pass(HEARTBEAT_MS + 1);
    await dies();
    expect(waits.at(-1)).toBe(100);
    expect(messages()).toEqual(['warn the thread that renews leases ended']);
    expect(logger.lines[0]?.fields['error']).toMatchObject({ message: 'it ended with code 1' });
  });

  it('stops its thread, and starts no other', async () => {
    renewal.start();
    await renewal.stop();
    await renewal.stop();
    expect(newest().heard).toEqual([{ type: 'stop' }]);
    await pass(10 * HEARTBEAT_MS);
    expect([threads.length, newest().isTerminated, messages()]).toEqual([1, false, []]);
  });

  it('ends a thread that does not end by itself, after two seconds', async () => {
    renewal.start();
    newest().isObedient = false;
    let isStopped = false;
    void renewal.stop().then(() => (isStopped = true));
    await pass(1999);
    expect([isStopped, newest().isTerminated]).toEqual([false, false]);
    await pass(1);
    expect([isStopped, newest().isTerminated]).toEqual([true, true]);
    expect(messages()).toEqual([]);
  });

  it('stops between two threads, and before the first', async () => {
    renewal.start();
    newest().die();
    await renewal.stop();
    await pass(10 * HEARTBEAT_MS);
    expect(threads).toHaveLength(1);
    await new ThreadRenewal(SETTINGS, logger, () => assertNoThread()).stop();
  });
});

function assertNoThread(): never {
  throw new Error('no thread was to be started');
}
