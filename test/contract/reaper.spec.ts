import { storesUnderTest } from '../support/core.js';
import { reaperContract } from './reaper.contract.js';

describe.each(storesUnderTest())('the reaper against others on $name', reaperContract);
