import { createConnection } from 'mysql2/promise';
import { startMariaDb } from '../../scripts/lib/mariadb.mjs';
import { wordsOf } from '../lib/answer.mjs';
import { startLoads } from '../lib/loads.mjs';
import { alternate, summary } from '../lib/rounds.mjs';
import { rowOf } from '../lib/table.mjs';

const CONCURRENCY = 64;
const WARM_UP_RUNS = 300;
const ROUNDS = 5;
const ROUND_MS = 3000;

/** Runs per second on a MariaDB of its own that flushes at each commit, against SQLite. */
export const mariadb = {
  name: 'mariadb',
  async measure({ servers }) {
    const database = servers.keep(await startMariaDb({ flushAtCommit: 1 }));
    const model = await servers.model();
    const onMariaDb = await servers.product({ ...model.env, BRIDLE_DATABASE_URL: await schemaOf(database) });
    const onSqlite = await servers.product(model.env);
    const loads = servers.keep(await startLoads());
    const load = ({ ready }, size) =>
      loads.load({ door: 'sse', target: ready.http, expected: wordsOf(50).join(''), ...size });

    for (const server of [onMariaDb, onSqlite]) await load(server, { concurrency: 16, runs: WARM_UP_RUNS });
    const side = (server) => async () => {
      const { runs, wallMs } = await load(server, { concurrency: CONCURRENCY, forMs: ROUND_MS });
      return (runs * 1000) / wallMs;
    };
    const rounds = await alternate(ROUNDS, { product: side(onMariaDb), peer: side(onSqlite) });
    return [
      rowOf({
        measure: 'mariadb',
        name: `runs/s on MariaDB, ${CONCURRENCY} at once`,
        unit: 'runs/s',
        peer: 'SQLite',
        aim: { of: 'ratio', atLeast: 0.7 },
        ...summary(rounds),
      }),
    ];
  },
};

async function schemaOf({ url }) {
  const connection = await createConnection(url);
  await connection.query('CREATE DATABASE bench');
  await connection.end();
  return `${url}bench`;
}
