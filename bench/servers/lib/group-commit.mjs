import Database from 'better-sqlite3';

/** Opens a new SQLite file as durably as the product does: WAL, and a commit survives power failure. */
export function openDatabase(file, schema) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(schema);
  return database;
}

/** Group commit: all writes that wait when the event loop has a turn for them share one transaction. */
export class GroupCommit {
  #waiting = [];
  #flush;

  constructor(database) {
    this.#flush = database.transaction((jobs) => {
      for (const job of jobs) job.write();
    });
  }

  /**
   * @param {() => void} write its statements
   * @returns {Promise<void>} settles when they are durable
   */
  add(write) {
    if (this.#waiting.length === 0) setImmediate(() => this.#commit());
    return new Promise((resolve, reject) => this.#waiting.push({ write, resolve, reject }));
  }

  #commit() {
    const jobs = this.#waiting;
    this.#waiting = [];
    try {
      this.#flush(jobs);
      for (const job of jobs) job.resolve();
    } catch (error) {
      for (const job of jobs) job.reject(error);
    }
  }
}
