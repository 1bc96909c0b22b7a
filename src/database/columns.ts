import { Table, TableColumn, type QueryRunner } from 'typeorm';

/** The two families of databases that one migration set serves. */
export type DatabaseKind = 'sqlite' | 'mysql';

interface ColumnOptions {
  readonly nullable?: boolean;
  readonly primary?: boolean;
  readonly unique?: boolean;
}

/** Column makers for migrations: the same meaning on SQLite and on MySQL/MariaDB. */
export class Columns {
  constructor(private readonly kind: DatabaseKind) {}

  /** A short text compared byte by byte: ids, names, enumerations. `length` counts characters. */
  id(name: string, length = 36, options: ColumnOptions = {}): TableColumn {
    return new TableColumn({
      name,
      type: 'varchar',
      length: String(length),
      ...(this.kind === 'mysql' ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {}),
      isNullable: options.nullable ?? false,
      isPrimary: options.primary ?? false,
      isUnique: options.unique ?? false,
    });
  }

  integer(name: string, options: ColumnOptions & { default?: number } = {}): TableColumn {
    return new TableColumn({
      name,
      type: this.kind === 'mysql' ? 'int' : 'integer',
      isNullable: options.nullable ?? false,
      isPrimary: options.primary ?? false,
      ...(options.default === undefined ? {} : { default: String(options.default) }),
    });
  }

  /** Epoch milliseconds. */
  epochMs(name: string, options: ColumnOptions = {}): TableColumn {
    return new TableColumn({ name, type: 'bigint', isNullable: options.nullable ?? false });
  }

  json(name: string, options: ColumnOptions = {}): TableColumn {
    return new TableColumn({
      name,
      type: this.kind === 'mysql' ? 'json' : 'text',
      isNullable: options.nullable ?? false,
    });
  }

  longText(name: string, options: ColumnOptions = {}): TableColumn {
    return new TableColumn({
      name,
      type: this.kind === 'mysql' ? 'longtext' : 'text',
      ...(this.kind === 'mysql' ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {}),
      isNullable: options.nullable ?? false,
    });
  }
}

/** A CHECK that only these values pass; NULL passes when the column allows it. */
export const oneOf = (column: string, values: readonly string[]): string =>
  `${column} IN (${values.map((value) => `'${value}'`).join(', ')})`;

/**
 * Makes a table with its CHECKs, or what is missing of it: a migration that was killed half-way on MySQL, where each
 * statement is kept at once, goes on where it ended. On SQLite CHECKs are part of the CREATE TABLE; TypeORM drops
 * `Table.checks` on MySQL without a word, so there they are added one by one.
 * @param checks expressions by name
 */
export async function createTable(
  runner: QueryRunner,
  table: Table,
  checks: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (kindOf(runner) === 'sqlite') {
    const withTable = Object.entries(checks).map(([name, expression]) => ({ name, expression }));
    await runner.createTable(new Table({ ...table, checks: withTable }), true);
    return;
  }
  await runner.createTable(new Table({ ...table, engine: 'InnoDB' }), true);
  const present = await checksIn(runner, table.name);
  for (const [name, expression] of Object.entries(checks)) {
    if (present.has(name)) continue;
    await runner.query(`ALTER TABLE ${table.name} ADD CONSTRAINT ${name} CHECK (${expression})`);
  }
}

async function checksIn(runner: QueryRunner, table: string): Promise<ReadonlySet<string>> {
  const rows = (await runner.query(
    `SELECT constraint_name AS name FROM information_schema.table_constraints
     WHERE constraint_schema = DATABASE() AND table_name = ? AND constraint_type = 'CHECK'`,
    [table],
  )) as { name: string }[];
  return new Set(rows.map(({ name }) => name));
}

export function kindOf(runner: QueryRunner): DatabaseKind {
  return runner.connection.options.type === 'better-sqlite3' ? 'sqlite' : 'mysql';
}

/** A value for a JSON column. */
export function toJson(value: unknown): string {
  return JSON.stringify(value);
}

/** Reads a JSON column: one server delivers an object, another the text. */
export function fromJson<T>(column: unknown): T {
  return (typeof column === 'string' ? JSON.parse(column) : column) as T;
}

/** Reads a JSON column that may be NULL. */
export function fromJsonOrNull<T>(column: unknown): T | null {
  return column === null || column === undefined ? null : fromJson<T>(column);
}
