import { InProcessHints } from '../../src/runs/adapters/in-process-hints.js';
import { runHintsContract } from './run-hints.contract.js';

describe('hints in the process', () => runHintsContract(() => new InProcessHints()));
