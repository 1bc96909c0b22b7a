import { CreateSessionsAndRuns1796000000000 } from './1796000000000-create-sessions-and-runs.js';

/** Every migration, oldest first. A change of the schema is a new file here. */
export const MIGRATIONS = [CreateSessionsAndRuns1796000000000];
