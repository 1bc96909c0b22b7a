import { storesUnderTest } from '../support/core.js';
import { sessionsContract } from './sessions.contract.js';

describe.each(storesUnderTest())('sessions on $name', sessionsContract);
