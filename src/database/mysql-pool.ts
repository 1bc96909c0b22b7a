import type { Pool, PoolConnection } from 'mysql2';
import { drop, execute, mysqlConnectionOptions, mysqlDriver, setSession } from './mysql-session.js';

/** Size and patience of a pool. */
export interface PoolLimits {
  readonly poolSize: number;
  /** For a connection, and for a statement, milliseconds; 0 = a statement may take as long as it takes. */
  readonly timeoutMs: number;
  /** A connection that rested longer is asked whether it lives before it is given away; default 5000. */
  readonly trustedMs?: number;
}

const TRUSTED_MS = 5000;
/** How long that answer may take. */
const PING_MS = 1000;
/** What stands before a statement in its packet, and some more. */
const PACKET_HEAD_BYTES = 64;
/** For a connection, where statements have no limit. */
const PATIENCE_MS = 10_000;

type Callback = (error: unknown, connection?: BoundedConnection) => void;

/** All connections of the pool are busy. */
export class PoolBusyError extends Error {
  readonly code = 'POOL_BUSY';

  constructor(waitedMs: number, size: number) {
    super(`none of the ${size} connections of the pool was free within ${waitedMs} ms`);
    this.name = 'PoolBusyError';
  }
}

/** The server would cut the connection off, after it had taken the most of the statement. */
export class StatementTooLongError extends Error {
  readonly code = 'STATEMENT_TOO_LONG';

  constructor(bytes: number, maxBytes: number) {
    super(`a statement has ${bytes} bytes, the server takes ${maxBytes}; raise max_allowed_packet`);
    this.name = 'StatementTooLongError';
  }
}

/**
 * A pool as TypeORM's driver wants one. Every connection that it gives says what we depend on, is alive, and answers in
 * bounded time: the driver itself waits for ever for a free connection and for a server that does not answer.
 */
export class MysqlPool {
  private readonly pool: Pool;
  /** When a connection was given back last; one that is missing here is new. */
  private readonly restingSince = new WeakMap<PoolConnection, number>();
  /** Connections that rest since before this moment are lost: their neighbour was found dead. */
  private lostBefore = -Infinity;
  /** The longest statement that the server takes. */
  private maxBytes = Infinity;

  constructor(
    url: string,
    private readonly limits: PoolLimits,
  ) {
    this.pool = mysqlDriver().createPool({
      ...mysqlConnectionOptions(url, limits.timeoutMs || PATIENCE_MS),
      connectionLimit: limits.poolSize,
    });
    // one that breaks while it rests leaves the pool by itself
    this.pool.on('connection', (connection) => connection.on('error', () => undefined));
  }

  getConnection(done: Callback): void {
    this.acquire().then((connection) => done(null, connection), done);
  }

  /** Ends every connection; one that breaks meanwhile is ended too. */
  end(done: () => void): void {
    this.pool.end(() => done());
  }

  private async acquire(): Promise<BoundedConnection> {
    const patienceMs = this.limits.timeoutMs || PATIENCE_MS;
    const deadlineMs = performance.now() + patienceMs;
    for (let waitMs = patienceMs; waitMs > 0; waitMs = deadlineMs - performance.now()) {
      const connection = await this.next(waitMs);
      if (await this.isReady(connection)) return new BoundedConnection(connection, this.limits.timeoutMs, this);
    }
    throw new PoolBusyError(patienceMs, this.limits.poolSize);
  }

  private next(waitMs: number): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new PoolBusyError(Math.round(waitMs), this.limits.poolSize));
      }, waitMs);
      this.pool.getConnection((error, connection) => {
        clearTimeout(timer);
        if (isLate) connection?.release();
        else if (error) reject(error);
        else resolve(connection);
      });
    });
  }

  /** @throws the driver's error when a new connection refuses what we depend on */
  private async isReady(connection: PoolConnection): Promise<boolean> {
    const since = this.restingSince.get(connection);
    if (since === undefined) {
      try {
        this.maxBytes = await setSession(connection, this.limits.timeoutMs);
        return true;
      } catch (error) {
        drop(connection);
        throw error;
      }
    }
    if (performance.now() - since < (this.limits.trustedMs ?? TRUSTED_MS)) return true;
    if (since > this.lostBefore && (await answers(connection))) return true;
    this.lostBefore = Math.max(since, this.lostBefore);
    drop(connection);
    return false;
  }

  /** @throws StatementTooLongError */
  checkLength(connection: PoolConnection, sql: string, values: readonly unknown[] = []): void {
    // every character may become six bytes: most statements need no closer look
    const characters = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 32), 0);
    if ((sql.length + characters) * 6 < this.maxBytes) return;
    const bytes = Buffer.byteLength(connection.format(sql, [...values])) + PACKET_HEAD_BYTES;
    if (bytes > this.maxBytes) throw new StatementTooLongError(bytes, this.maxBytes);
  }

  /** Takes a connection back. */
  release(connection: PoolConnection): void {
    this.restingSince.set(connection, performance.now());
    connection.release();
  }
}

/** A connection of the pool as TypeORM uses it, from `getConnection` to `release`. */
export class BoundedConnection {
  constructor(
    private readonly connection: PoolConnection,
    private readonly timeoutMs: number,
    private readonly pool: MysqlPool,
  ) {}

  promise(): this {
    return this;
  }

  async query(sql: string, values?: unknown[]): Promise<[rows: unknown, fields: unknown]> {
    this.pool.checkLength(this.connection, sql, values);
    return execute(this.connection, sql, values, this.timeoutMs);
  }

  /** TypeORM looks here whether somebody hears of errors between statements; the pool does. */
  listeners(event: string): unknown[] {
    return this.connection.listeners(event);
  }

  release(): void {
    this.pool.release(this.connection);
  }
}

function answers(connection: PoolConnection): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), PING_MS);
    connection.ping((error) => {
      clearTimeout(timer);
      resolve(!error);
    });
  });
}
