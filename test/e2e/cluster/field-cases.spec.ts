import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { mysqlUnderTest } from '../../support/databases.js';
import { PAIR_COUNTS } from '../../support/process-counts.js';
import { severalServers } from '../../support/replicas.js';
import { runServerToEnd } from '../../support/server.js';
import { sessionCases } from '../field-cases/sessions.suite.js';

describe.each(PAIR_COUNTS)('field cases of sessions in %d processes on one MariaDB', (count) => {
  sessionCases((env) => severalServers(count, { env }));
});

describe('C22 a schema that would make ? of a character', () => {
  it('is refused at the start by a sentence that says what to do, and stays empty', async () => {
    const place = await mysqlUnderTest().create();
    const connection = await createConnection(place.url);
    const schema = new URL(place.url).pathname.slice(1);
    await connection.query(`ALTER DATABASE ${schema} CHARACTER SET latin1`);
    const storageDir = mkdtempSync(join(tmpdir(), 'bridle-latin1-'));
    const { code, output } = await runServerToEnd([], { storageDir, env: { BRIDLE_DATABASE_URL: place.url } });
    const [tables] = await connection.query('SHOW TABLES');
    await connection.end();
    await place.drop();
    rmSync(storageDir, { recursive: true });

    expect(code).toBe(1);
    expect(output.trim().split('\n').at(-1)).toContain(`ALTER DATABASE ${schema} CHARACTER SET utf8mb4`);
    expect(tables).toEqual([]);
  });
});
