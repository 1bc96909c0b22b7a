import { storesUnderTest } from '../support/core.js';
import { openWorkContract } from './open-work.contract.js';

describe.each(storesUnderTest())('what a broken-off run leaves open on $name', openWorkContract);
