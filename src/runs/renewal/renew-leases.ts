import type { Lease } from '../run.js';

/** A statement with `?` placeholders, inside the caller's transaction; the rows of a SELECT. */
export type Query = (sql: string, parameters: readonly unknown[]) => Promise<unknown>;

interface Row {
  readonly id: string;
  readonly epoch: number | string;
  readonly lease_owner: string | null;
}

export interface RenewedLeases {
  /** Somebody else has taken these. */
  readonly lost: readonly Lease[];
  /** Their rows are not there, or were passed over because they are locked. */
  readonly unseen: readonly Lease[];
}

/**
 * Prolongs leases. Rows are locked in id order, as every batch does; a run that has ended meanwhile is left alone.
 * @param lock what follows the SELECT, e.g. ` FOR UPDATE`
 * @param until the new end of the leases, epoch milliseconds, as a term of SQL
 */
export async function renewLeases(
  query: Query,
  leases: readonly Lease[],
  { owner, lock, until }: { readonly owner: string; readonly lock: string; readonly until: string },
): Promise<RenewedLeases> {
  const rows = (await query(
    `SELECT id, epoch, lease_owner FROM runs WHERE id IN (${marksOf(leases)}) ORDER BY id${lock}`,
    idsOf(leases),
  )) as readonly Row[];
  const found = new Map(rows.map((row) => [row.id, row]));
  const isLost = ({ runId, epoch }: Lease): boolean => found.has(runId) && Number(found.get(runId)?.epoch) !== epoch;
  const ours = leases.filter((lease) => found.get(lease.runId)?.lease_owner === owner && !isLost(lease));
  if (ours.length > 0) {
    await query(`UPDATE runs SET lease_until = ${until} WHERE id IN (${marksOf(ours)})`, idsOf(ours));
  }
  return { lost: leases.filter(isLost), unseen: leases.filter(({ runId }) => !found.has(runId)) };
}

const marksOf = (leases: readonly Lease[]): string => leases.map(() => '?').join(', ');
const idsOf = (leases: readonly Lease[]): string[] => leases.map(({ runId }) => runId);
