import { storesUnderTest } from '../support/core.js';
import { tenantsContract } from './tenants.contract.js';

describe.each(storesUnderTest())('a tenant on $name', tenantsContract);
