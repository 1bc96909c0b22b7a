import {
  CreateSessionsAndRuns1796000000000,
  FIRST_CHECKS,
  FIRST_TABLES,
} from './1796000000000-create-sessions-and-runs.js';

/** Every migration, oldest first. A change of the schema is a new file here. */
export const MIGRATIONS = [CreateSessionsAndRuns1796000000000];

/** Every table of ours, as the newest migration leaves them. */
export const TABLES: readonly string[] = FIRST_TABLES;

/** The names of their CHECK constraints. */
export const CHECKS: readonly string[] = Object.values(FIRST_CHECKS).flatMap(Object.keys);
