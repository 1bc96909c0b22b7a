import { PROCESS_COUNTS } from '../../support/process-counts.js';
import { severalServers } from '../../support/replicas.js';
import { runCases } from '../run-cases.suite.js';

describe.each(PROCESS_COUNTS)('run cases in %d processes on one MariaDB', (count) => {
  runCases(() => severalServers(count));
});
