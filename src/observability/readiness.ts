/** Whether this process takes work now. */
export abstract class Readiness {
  /** Why it does not: starting, draining, no database. Empty = ready. */
  abstract problems(): readonly string[];
  /** What an operator should know although it is ready, e.g. that runs do not survive a restart. */
  abstract notes(): readonly string[];
}
