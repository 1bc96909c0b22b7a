import { setTimeout as sleep } from 'node:timers/promises';
import type { LeaseRenewal } from '../../src/runs/ports/lease-renewal.port.js';
import type { Lease } from '../../src/runs/run.js';
import { aSession, finish, submitted, until, useCore, type Core, type StoreUnderTest } from '../support/core.js';

export const HEARTBEAT_MS = 100;
/** Enough for several rounds, were there any. */
const ROUNDS_MS = 5 * HEARTBEAT_MS;

/** Makes the renewal of a process, which claims by this core; the URL is the one of its database. */
export type OpenRenewal = (core: Core, url: string) => LeaseRenewal;

/** What `LeaseRenewal` promises, whatever thread it works in. */
export function leaseRenewalContract(store: StoreUnderTest, open: OpenRenewal): void {
  let url = '';
  const create = async (): ReturnType<StoreUnderTest['create']> => {
    const place = await store.create();
    url = place.url;
    return place;
  };
  const variables = { BRIDLE_RUNS_HEARTBEAT_MS: String(HEARTBEAT_MS) };
  const suite = useCore({ ...store, create }, () => ({ variables }));
  let core: Core;
  let renewal: LeaseRenewal;
  let lost: Lease[];

  beforeEach(() => {
    core = suite.core;
    renewal = open(core, url);
    lost = [];
    renewal.lost$.subscribe((lease) => lost.push(lease));
  });

  afterEach(() => renewal.stop());

  /** A lease whose end is long ago. */
  const claimed = async (): Promise<Lease> => {
    await submitted(core, await aSession(core));
    const lease = (await core.claims.claimNext())!;
    await change('lease_until = 1', lease);
    return lease;
  };
  const change = (what: string, { runId }: Lease): Promise<unknown> =>
    core.database.inTransaction((manager) => manager.query(`UPDATE runs SET ${what} WHERE id = ?`, [runId]));
  const endOf = async ({ runId }: Lease): Promise<number | null> => {
    const [row] = await core.database.query<{ end: number | string | null }>(
      'SELECT lease_until AS end FROM runs WHERE id = ?',
      [runId],
    );
    return row === undefined || row.end === null ? null : Number(row.end);
  };
  const renewed = (lease: Lease): Promise<void> =>
    until('the renewal', async () => ((await endOf(lease)) ?? 0) > Date.now());

  it('prolongs what it has by `runs.leaseMs` from now, again and again', async () => {
    const [early, late] = [await claimed(), await claimed()];
    renewal.add(early);
    renewal.start();
    renewal.add(late);
    await Promise.all([renewed(early), renewed(late)]);
    await change('lease_until = 1', early);
    await renewed(early);
    const leftMs = ((await endOf(early)) ?? 0) - Date.now();
    expect(leftMs).toBeLessThanOrEqual(core.config.runs.leaseMs + 1000);
    expect(leftMs).toBeGreaterThan(core.config.runs.leaseMs - 10_000);
    expect(lost).toEqual([]);
  });

  it('leaves alone what was removed, and what it never had', async () => {
    const [kept, removed, foreign] = [await claimed(), await claimed(), await claimed()];
    renewal.start();
    renewal.add(kept);
    renewal.add(removed);
    renewal.remove(removed);
    await renewed(kept);
    await sleep(ROUNDS_MS);
    expect([await endOf(removed), await endOf(foreign)]).toEqual([1, 1]);
  });

  it('keeps the newer lease of a run when the older one is removed', async () => {
    const lease = await claimed();
    const newer = { ...lease, epoch: lease.epoch + 1 };
    await change('epoch = epoch + 1', lease);
    renewal.add(lease);
    renewal.add(newer);
    renewal.remove(lease);
    renewal.start();
    await renewed(newer);
    expect(lost).toEqual([]);
  });

  it('tells once of a lease that somebody has taken, and does not touch it', async () => {
    const [kept, taken] = [await claimed(), await claimed()];
    await change("epoch = epoch + 1, lease_owner = 'another'", taken);
    renewal.start();
    renewal.add(kept);
    renewal.add(taken);
    await until('the loss', () => lost.length > 0);
    await sleep(ROUNDS_MS);
    expect(lost).toEqual([taken]);
    expect(await endOf(taken)).toBe(1);
    await renewed(kept);
  });

  it('tells of a lease whose run is there no more', async () => {
    const gone = { runId: '0198a000-0000-7000-8000-000000000000', epoch: 1 };
    renewal.start();
    renewal.add(gone);
    await until('the loss', () => lost.length > 0);
    expect(lost).toEqual([gone]);
  });

  it('leaves a run alone that has ended under its lease', async () => {
    const [kept, ended] = [await claimed(), await claimed()];
    await finish(core, ended);
    const endBefore = await endOf(ended);
    renewal.start();
    renewal.add(ended);
    renewal.add(kept);
    await renewed(kept);
    await sleep(ROUNDS_MS);
    expect([lost, await endOf(ended)]).toEqual([[], endBefore]);
  });

  it('renews nothing after its stop, which may come twice or before the start', async () => {
    const lease = await claimed();
    renewal.start();
    renewal.add(lease);
    await renewed(lease);
    await renewal.stop();
    await change('lease_until = 1', lease);
    renewal.add(lease);
    await renewal.stop();
    await sleep(ROUNDS_MS);
    expect(await endOf(lease)).toBe(1);
    await open(core, url).stop();
  });
}
