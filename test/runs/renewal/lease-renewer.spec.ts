import { jest } from '@jest/globals';
import { LeaseRenewer, type RenewsLeases } from '../../../src/runs/renewal/lease-renewer.js';
import type { FromRenewal } from '../../../src/runs/renewal/renewal-messages.js';
import type { Lease } from '../../../src/runs/run.js';

/** A database that the test answers for. */
class FakeStore implements RenewsLeases {
  readonly asked: string[][] = [];
  lost: Lease[] = [];
  isClosed = false;
  /** What the database does before it answers. */
  work: () => Promise<void> = () => Promise.resolve();

  async renew(leases: readonly Lease[]): Promise<readonly Lease[]> {
    this.asked.push(leases.map(({ runId, epoch }) => `${runId}:${epoch}`));
    const { lost } = this;
    await this.work();
    return lost;
  }

  close(): void {
    this.isClosed = true;
  }
}

const HEARTBEAT_MS = 5000;
const SILENCE_MS = 60_000;
const lease = (runId: string, epoch = 1): Lease => ({ runId, epoch });
const away = (code?: unknown): Promise<void> =>
  Promise.reject(Object.assign(new Error('connect refused'), code === undefined ? {} : { code }));

describe('LeaseRenewer', () => {
  let store: FakeStore;
  let told: FromRenewal[];
  let renewer: LeaseRenewer;
  let nowMs: number;

  const begin = (...leases: Lease[]): void => {
    const settings = { url: '', owner: 'me', leaseMs: 3 * HEARTBEAT_MS, heartbeatMs: HEARTBEAT_MS };
    const start = { ...settings, silenceMs: SILENCE_MS, leases };
    renewer = new LeaseRenewer(
      store,
      start,
      (message) => told.push(message),
      () => nowMs,
    );
  };

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Math, 'random').mockReturnValue(0);
    store = new FakeStore();
    told = [];
    nowMs = 1000;
  });

  afterEach(() => {
    renewer.hear({ type: 'stop' });
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('renews what it was started with and what was added, by id, without what was removed', async () => {
    begin(lease('c'), lease('a'));
    renewer.hear({ type: 'add', lease: lease('b') });
    await renewer.round();
    renewer.hear({ type: 'remove', lease: lease('a') });
    await renewer.round();
    expect(store.asked).toEqual([
      ['a:1', 'b:1', 'c:1'],
      ['b:1', 'c:1'],
    ]);
  });

  it('asks nothing when it has nothing to renew', async () => {
    begin();
    await renewer.round();
    expect(store.asked).toEqual([]);
  });

  it('renews the newest lease of a run, also when the older one is removed late', async () => {
    begin(lease('a', 1));
    renewer.hear({ type: 'add', lease: lease('a', 3) });
    renewer.hear({ type: 'remove', lease: lease('a', 1) });
    await renewer.round();
    expect(store.asked).toEqual([['a:3']]);
  });

  it('begins a round each heartbeat, and one second after a round that failed', async () => {
    begin(lease('a'));
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS);
    expect(store.asked).toHaveLength(1);
    store.work = () => away();
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS);
    expect(store.asked).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1000);
    expect(store.asked).toHaveLength(3);
  });

  it('tells of a lost lease once, and renews it no more', async () => {
    begin(lease('a'), lease('b'));
    store.lost = [lease('a')];
    await renewer.round();
    await renewer.round();
    expect(told.filter(({ type }) => type === 'lost')).toEqual([{ type: 'lost', leases: [lease('a')] }]);
    expect(store.asked).toEqual([['a:1', 'b:1'], ['b:1']]);
  });

  it('does not tell of a lease that was let go, or replaced, while the database was asked', async () => {
    begin(lease('a'), lease('b'));
    store.lost = [lease('a'), lease('b')];
    store.work = async () => {
      renewer.hear({ type: 'remove', lease: lease('a') });
      renewer.hear({ type: 'add', lease: lease('b', 3) });
    };
    await renewer.round();
    store.lost = [];
    await renewer.round();
    expect(told.filter(({ type }) => type === 'lost')).toEqual([]);
    expect(store.asked.at(-1)).toEqual(['b:3']);
  });

  it('tells of a failure with its code and its words, and when it works again', async () => {
    begin(lease('a'));
    store.work = () => away('ECONNREFUSED');
    await renewer.round();
    store.work = () => away(1045);
    await renewer.round();
    store.work = () => Promise.resolve();
    await renewer.round();
    expect(told).toEqual([
      { type: 'failed', code: 'ECONNREFUSED', message: 'connect refused' },
      { type: 'failed', code: 'UNKNOWN', message: 'connect refused' },
      { type: 'worked' },
    ]);
    expect(store.asked).toHaveLength(3);
  });

  describe('when its process is silent', () => {
    const silent = (silentMs: number): FromRenewal => ({ type: 'silent', silentMs });

    it('renews up to the limit and not after it, and says so once', async () => {
      begin(lease('a'));
      nowMs += SILENCE_MS;
      await renewer.round();
      expect(store.asked).toHaveLength(1);
      nowMs += 1;
      await renewer.round();
      nowMs += 10;
      await renewer.round();
      expect(store.asked).toHaveLength(1);
      expect(told.filter(({ type }) => type === 'silent')).toEqual([silent(SILENCE_MS + 1)]);
    });

    it.each([{ type: 'alive' }, { type: 'add', lease: lease('b') }, { type: 'remove', lease: lease('c') }] as const)(
      'goes on after $type, and tells of the next silence',
      async (message) => {
        begin(lease('a'), lease('c'));
        nowMs += SILENCE_MS + 1;
        await renewer.round();
        renewer.hear(message);
        await renewer.round();
        expect(store.asked).toHaveLength(1);
        nowMs += SILENCE_MS + 2;
        await renewer.round();
        expect(store.asked).toHaveLength(1);
        expect(told.filter(({ type }) => type === 'silent')).toEqual([silent(SILENCE_MS + 1), silent(SILENCE_MS + 2)]);
      },
    );
  });

  it('stops: no round begins by itself, the connection is closed, and what fails then is nobody’s business', async () => {
    begin(lease('a'));
    let fail = (): void => undefined;
    store.work = () => new Promise((_resolve, reject) => (fail = () => reject(new Error('closed'))));
    const round = renewer.round();
    renewer.hear({ type: 'stop' });
    fail();
    await round;
    await jest.advanceTimersByTimeAsync(10 * HEARTBEAT_MS);
    expect([store.asked.length, store.isClosed, told]).toEqual([1, true, []]);
  });
});
