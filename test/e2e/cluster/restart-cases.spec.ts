import { PAIR_COUNTS } from '../../support/process-counts.js';
import { QUICK_LEASES } from '../../support/cluster.js';
import { severalServers } from '../../support/replicas.js';
import { restartCases } from '../restart-cases.suite.js';

describe.each(PAIR_COUNTS)('restart cases in %d processes on one MariaDB', (count) => {
  restartCases(() => severalServers(count, { env: QUICK_LEASES }));
});
