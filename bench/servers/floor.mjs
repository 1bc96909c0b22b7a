/**
 * The least that a durable run server can do: one table, one row an event.
 *
 *   node bench/servers/floor.mjs DATABASE-FILE MODEL-URL
 */
import { openDatabase } from './lib/group-commit.mjs';
import { servePeer } from './lib/peer.mjs';

const [file, modelUrl] = process.argv.slice(2);

const database = openDatabase(
  file,
  `CREATE TABLE run_events (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
  )`,
);
const insert = database.prepare('INSERT INTO run_events (run_id, seq, type, at, data) VALUES (?, ?, ?, ?, ?)');

const append = (run, events) => {
  for (const { seq, type, at, data } of events) insert.run(run.id, seq, type, at, data);
};

servePeer(database, { session: () => undefined, begin: append, append, end: append }, modelUrl);
