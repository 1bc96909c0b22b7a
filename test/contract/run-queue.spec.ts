import { storesUnderTest } from '../support/core.js';
import { runQueueContract } from './run-queue.contract.js';

describe.each(storesUnderTest())('the queue of runs on $name', runQueueContract);
