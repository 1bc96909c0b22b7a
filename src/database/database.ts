import type { DataSource, EntityManager } from 'typeorm';
import type { Clock } from '../common/clock.js';
import type { DatabaseKind } from './columns.js';
import { isRepeatable, withStoreFault } from './database-errors.js';
import { mysqlSource, sqlitePath, sqliteReader, sqliteWriter, type DatabaseLocation } from './data-sources.js';
import { concurrent, gated, type InTransaction, type Lane } from './in-transaction.js';
import { takeLockFile } from './lock-file.js';
import { isUpToDate, migrateMysql, migrateSchema, schemaState, type SchemaState } from './migrate.js';
import { DEFAULT_TIMEOUT_MS } from './mysql-session.js';
import { MYSQL_NOW_MS } from './now.js';

/** The rows of the server: one writer gate, one reader, migrated before use. */
export class Database {
  private constructor(
    readonly kind: DatabaseKind,
    /** False for SQLite in memory: runs end with the process. */
    readonly isDurable: boolean,
    private readonly writer: DataSource,
    private readonly reader: DataSource | undefined,
    private readonly gate: InTransaction,
    private readonly clock: Clock,
    private readonly unlock: () => void,
    private readonly bringUpToDate: () => Promise<void>,
  ) {}

  /**
   * Opens the database and brings its schema up to date.
   * @throws FileInUseError when another process has the SQLite file
   */
  static async open(location: DatabaseLocation, clock: Clock): Promise<Database> {
    const database = await Database.connect(location, clock);
    try {
      await database.migrate();
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  }

  /**
   * Opens the database with whatever schema it has, so that it can be checked before anything is changed.
   * @throws FileInUseError when another process has the SQLite file
   */
  static async connect(location: DatabaseLocation, clock: Clock): Promise<Database> {
    const path = sqlitePath(location.url);
    return path === undefined ? Database.openMysql(location, clock) : Database.openSqlite(path, location, clock);
  }

  private static async openSqlite(path: string, location: DatabaseLocation, clock: Clock): Promise<Database> {
    const inMemory = path === ':memory:';
    const writer = sqliteWriter(path, location.synchronous);
    const unlock = inMemory ? () => undefined : takeLockFile(path);
    try {
      await writer.initialize();
      const reader = inMemory ? undefined : await sqliteReader(path).initialize();
      const migrate = (): Promise<void> => migrateSchema(writer);
      return new Database('sqlite', !inMemory, writer, reader, gated(writer), clock, unlock, migrate);
    } catch (error) {
      if (writer.isInitialized) await writer.destroy();
      unlock();
      throw error;
    }
  }

  private static async openMysql(location: DatabaseLocation, clock: Clock): Promise<Database> {
    const { url, poolSize, timeoutMs = DEFAULT_TIMEOUT_MS } = location;
    const pool = await mysqlSource(url, { poolSize, timeoutMs }).initialize();
    const nothing = (): void => undefined;
    const migrate = async (): Promise<void> => {
      if (!isUpToDate(await schemaState(pool))) await migrateMysql(url);
    };
    return new Database('mysql', true, pool, pool, concurrent(pool, isRepeatable), clock, nothing, migrate);
  }

  /** What the schema has of our migrations. */
  schemaState(): Promise<SchemaState> {
    return schemaState(this.writer);
  }

  /**
   * Brings the schema up to date.
   * @throws NewerSchemaError when it is newer than this program
   */
  async migrate(): Promise<void> {
    await this.bringUpToDate();
  }

  /**
   * Runs the work in one transaction. Nothing in it may await anything but the database, and it never calls
   * this again: pass the manager on.
   * @param lane `command` (default) goes before `batch`
   * @throws AppError `STORE_UNAVAILABLE` when the database cannot be reached: nobody knows then what it kept
   */
  async inTransaction<T>(work: (manager: EntityManager) => Promise<T>, lane: Lane = 'command'): Promise<T> {
    try {
      return await this.gate(work, lane);
    } catch (error) {
      throw withStoreFault(error);
    }
  }

  /**
   * Reads committed rows outside a transaction; `?` placeholders on every database.
   * @throws AppError `STORE_UNAVAILABLE` when the database cannot be reached
   */
  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const { reader } = this;
    if (reader === undefined) return this.inTransaction((manager) => manager.query<Row[]>(sql, [...parameters]));
    try {
      return await reader.query<Row[]>(sql, [...parameters]);
    } catch (error) {
      throw withStoreFault(error);
    }
  }

  /** ` FOR UPDATE` where the database has row locks. */
  get forUpdate(): string {
    return this.kind === 'mysql' ? ' FOR UPDATE' : '';
  }

  /** Locks what is free and passes over what is not, where the database has row locks. */
  get skipLocked(): string {
    return this.kind === 'mysql' ? ' FOR UPDATE SKIP LOCKED' : '';
  }

  /** The time by which leases are judged: the database's own on MySQL, so that replicas' clocks never matter. */
  async nowMs(manager: EntityManager): Promise<number> {
    if (this.kind === 'sqlite') return this.clock.nowMs();
    const rows = await manager.query<{ now: number }[]>(`SELECT ${MYSQL_NOW_MS} AS now`);
    return Number(rows[0]?.now);
  }

  /** Answers within the database's own limits, or throws. */
  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  async close(): Promise<void> {
    if (this.reader !== undefined && this.reader !== this.writer) await this.reader.destroy();
    await this.writer.destroy();
    this.unlock();
  }
}
