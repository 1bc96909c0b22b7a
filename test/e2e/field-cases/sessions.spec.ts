import { oneServer } from '../../support/replicas.js';
import { sessionCases } from './sessions.suite.js';

describe('field cases of sessions in one process on SQLite', () => sessionCases((env) => oneServer({ env })));
