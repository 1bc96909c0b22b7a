import { storesUnderTest } from '../support/core.js';
import { runCommandsContract } from './run-commands.contract.js';

describe.each(storesUnderTest())('the commands of runs on $name', runCommandsContract);
