import { storesUnderTest } from '../support/core.js';
import { runReadingContract } from './run-reading.contract.js';

describe.each(storesUnderTest())('reading runs on $name', runReadingContract);
