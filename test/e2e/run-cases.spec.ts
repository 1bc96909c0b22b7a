import { oneServer } from '../support/replicas.js';
import { runCases } from './run-cases.suite.js';

describe('run cases in one process on SQLite', () => runCases(() => oneServer()));
