import { storesUnderTest } from '../support/core.js';
import { eventLogContract } from './event-log.contract.js';

describe.each(storesUnderTest())('the event log on $name', eventLogContract);
