import type { RunKey } from '../support/v1-client.js';
import { fencedWritesOf, type ChaosCluster } from './chaos-cluster.js';
import type { Seen } from './doors.js';
import { countsOf, faultsAtRest, type Counts } from './invariants.js';

const SHOWN = 20;

/** A run that a client sent, and what each of its observers saw of it. */
export interface ObservedRun {
  readonly key: RunKey;
  /** The text of its result, if it is completed. */
  readonly text: string;
  readonly observations: readonly (readonly Seen[])[];
}

/** What scenarios and their clients note. */
export interface Findings {
  /** What must never happen; empty when all is well. */
  readonly faults: string[];
  readonly runs: ObservedRun[];
  connections: number;
  /** Answers 503 and UNAVAILABLE with the time to try again. */
  refusals: number;
  kills: number;
  /** Of processes that were killed later; what the living ones counted they still know. */
  fencedWrites: number;
}

export const noFindings = (): Findings => ({
  faults: [],
  runs: [],
  connections: 0,
  refusals: 0,
  kills: 0,
  fencedWrites: 0,
});

export interface Report extends Counts, Omit<Findings, 'runs'> {
  readonly seed: number;
  readonly seconds: number;
}

/** Checks everything that must hold now that the load is over, and says what happened. */
export async function reportOf(
  cluster: ChaosCluster,
  findings: Findings,
  { seed, startMs }: { readonly seed: number; readonly startMs: number },
): Promise<Report> {
  const { runs, faults, fencedWrites, ...counted } = findings;
  const fenced = await Promise.all(cluster.servers.map((server) => fencedWritesOf(server)));
  const found = await faultsAtRest(cluster, runs);
  return {
    seed,
    ...counted,
    ...(await countsOf(cluster)),
    fencedWrites: fenced.reduce((sum, n) => sum + n, fencedWrites),
    faults: shortened([...faults, ...found]),
    seconds: Math.round((Date.now() - startMs) / 1000),
  };
}

/** The first ones tell enough. */
function shortened(faults: readonly string[]): string[] {
  const shown = faults.slice(0, SHOWN).map((fault) => fault.slice(0, 500));
  return faults.length > SHOWN ? [...shown, `and ${faults.length - SHOWN} more`] : shown;
}
