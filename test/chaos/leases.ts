/** For scenarios in which a run comes back only because its lease has ended. */
export const SHORT_LEASES = {
  BRIDLE_RUNS_LEASE_MS: '3000',
  BRIDLE_RUNS_HEARTBEAT_MS: '1000',
  BRIDLE_RUNS_REAPER_MS: '500',
  BRIDLE_LOG_LEVEL: 'warn',
} as const;

/** For scenarios in which whoever holds a run must give it back: an outage is shorter than a lease. */
export const LONG_LEASES = {
  BRIDLE_RUNS_LEASE_MS: '20000',
  BRIDLE_RUNS_HEARTBEAT_MS: '5000',
  BRIDLE_DATABASE_TIMEOUT_MS: '1500',
  BRIDLE_LOG_LEVEL: 'warn',
} as const;
