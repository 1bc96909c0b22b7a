import { TableColumn, type QueryRunner } from 'typeorm';

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
 * Adds a CHECK constraint. On SQLite constraints can only be written with the table, so there it is part of the
 * CREATE TABLE (`checksOf`); TypeORM drops `Table.checks` on MySQL without a word, so there it is raw SQL.
 */
export async function addChecks(
  runner: QueryRunner,
  table: string,
  checks: Readonly<Record<string, string>>,
): Promise<void> {
  if (kindOf(runner) !== 'mysql') return;
  for (const [name, expression] of Object.entries(checks)) {
    await runner.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (${expression})`);
  }
}

/** The same checks as `Table.checks`; used on SQLite. */
export const checksOf = (checks: Readonly<Record<string, string>>): { name: string; expression: string }[] =>
  Object.entries(checks).map(([name, expression]) => ({ name, expression }));

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
