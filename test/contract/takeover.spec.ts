import { storesUnderTest } from '../support/core.js';
import { takeoverContract } from './takeover.contract.js';

describe.each(storesUnderTest())('lost and stopped workers on $name', takeoverContract);
