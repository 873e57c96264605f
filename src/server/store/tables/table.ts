/*
 * Each table has one definition. From it come Kysely's types, the statements that create the table on both engines, the
 * functions that read and write its rows, and the lists of tables and columns for code that handles all of them.
 */
import type { ColumnType, Generated, GeneratedAlways, InsertType } from 'kysely';

export type EngineName = 'sqlite' | 'postgres';

/** The SQL type of a column on each database engine. */
type Declared = Readonly<Record<EngineName, string>>;

/** The type of text that compares byte by byte on both engines. */
const TEXT: Declared = { sqlite: 'TEXT', postgres: 'TEXT COLLATE "C"' };
const INTEGER: Declared = { sqlite: 'INTEGER', postgres: 'INTEGER' };
const BIG_INTEGER: Declared = { sqlite: 'INTEGER', postgres: 'BIGINT' };
/** JSON text, stored exactly as written, that expressions can query. */
const DOCUMENT: Declared = { sqlite: 'TEXT', postgres: 'JSON' };
const BYTES: Declared = { sqlite: 'BLOB', postgres: 'BYTEA' };

/** A column. `Stored` is its type for Kysely, and `Value` the type that `readRow` converts it to. */
export interface Column<Stored = unknown, Value = unknown> {
  readonly declared: Declared;
  /** The form in which the column's values are stored: unchanged, as JSON, or as a flag of 0 or 1. */
  readonly form: 'plain' | 'json' | 'flag';
  /** Returns the SQL after the type, such as `NOT NULL`. */
  readonly constraints: (name: string, engine: EngineName) => string;
  /** Whether `readRow` leaves the column out, so that nobody is shown it, not even in an export of the company. */
  readonly isSecret: boolean;
  /** Whether the database computes the column's values. */
  readonly isComputed: boolean;
  /** Type information only; never set. */
  readonly types?: { stored: Stored; value: Value };
}

function column<Stored, Value = Stored>(
  declared: Declared,
  options: Partial<Omit<Column, 'declared' | 'types'>> = {},
): Column<Stored, Value> {
  return {
    ...{ form: 'plain', constraints: () => 'NOT NULL', isSecret: false, isComputed: false },
    ...options,
    declared,
  };
}

const check = (condition: (name: string) => string) => (name: string) =>
  `NOT NULL CHECK (${condition(name)})`;

/** A text column. Times are `YYYY-MM-DDTHH:MM:SS.mmmZ` and days `YYYY-MM-DD`, which sort correctly as text. */
export const text = column<string>(TEXT);
export const integer = column<number>(INTEGER);
/** A column of 64-bit integers, which PostgreSQL's driver returns as text. */
export const bigInteger = column<ColumnType<number | string, number, number>>(BIG_INTEGER);
/** A boolean column, stored as 0 or 1. */
export const flag = column<number, boolean>(INTEGER, {
  form: 'flag',
  constraints: check((name) => `${name} IN (0, 1)`),
});
/** A column with the JSON text of a record, or of a part of it. */
export const recordText = column<string>(DOCUMENT);
export const bytes = column<Buffer, never>(BYTES, { isSecret: true });
/** A column with a token's digest or an encrypted secret. */
export const secret = column<string, never>(TEXT, { isSecret: true });
export const secretInteger = column<number, never>(INTEGER, { isSecret: true });
/** The column with the company that a row belongs to. */
export const company = column<string>(TEXT, { constraints: () => 'NOT NULL REFERENCES companies (id)' });

/** Creates a column for values stored as JSON. */
export const json = <Value>() => column<string, Value>(TEXT, { form: 'json' });

/** Creates a column that accepts only the given words. */
export const oneOf = <const Word extends string>(...words: Word[]) =>
  column<Word>(TEXT, {
    constraints: check((name) => `${name} IN (${words.map((word) => `'${word}'`).join(', ')})`),
  });

/** Makes a column nullable. */
export function orNull<Stored, Value>(
  of: Column<Stored, Value>,
): Column<Stored | null, [Value] extends [never] ? never : Value | null> {
  const constraints: Column['constraints'] = (...args) => of.constraints(...args).replace(/^NOT NULL ?/, '');
  return column(of.declared, { ...of, constraints });
}

/** Gives a column a default value. @param value the default as SQL text. */
export function orElse<Stored, Value>(
  of: Column<Stored, Value>,
  value: string,
): Column<Generated<Stored>, Value> {
  const constraints: Column['constraints'] = (...args) =>
    of.constraints(...args).replace(/^NOT NULL/, `NOT NULL DEFAULT ${value}`);
  return column(of.declared, { ...of, constraints });
}

/**
 * Creates a column that the database computes from the record's text, so that the two can't disagree.
 * @param expression may be null only in a column made by `orNull`.
 * @param isKept false if SQLite computes it on reading, because an index holds it.
 */
export function computed<Stored>(
  expression: string,
  { of, isKept = true }: { of: Column<Stored>; isKept?: boolean },
): Column<GeneratedAlways<Stored>, Stored> {
  const constraints: Column['constraints'] = (name, engine) => {
    const kept = isKept || engine === 'postgres' ? 'STORED' : 'VIRTUAL';
    return `GENERATED ALWAYS AS (${expression}) ${kept} ${of.constraints(name, engine)}`;
  };
  return column(of.declared, { isComputed: true, constraints });
}

type Columns = Readonly<Record<string, Column>>;

/** A database table, from which its SQL statements and the type of its rows are derived. */
export interface Table {
  readonly name: string;
  readonly columns: Columns;
  /** Columns that together are unique and never change; empty for a table with one row. */
  readonly key: readonly string[];
  /** Conditions on a whole row, and references to other tables. */
  readonly constraints?: readonly string[];
  /** Indexes by name, each with the SQL after the table's name: columns and any condition. */
  readonly indexes?: Readonly<Record<string, string | ((engine: EngineName) => string)>>;
  readonly uniqueIndexes?: Readonly<Record<string, string>>;
  /** Whether rows are small and found by key alone, so that SQLite needs only the key's B-tree. */
  readonly isKeyed?: boolean;
  /** The column by which `removeBefore` decides whether a row is old. */
  readonly age?: string;
  /** Whether each Citus machine has a copy of the table, because it is small and joined with companies' rows. */
  readonly isOnEachMachine?: boolean;
  /** Whether the table describes the database itself, so that copies of a store leave out its rows. */
  readonly isOfDatabase?: boolean;
  /** Whether an export leaves the table's rows out, because they mean nothing outside the program. */
  readonly isInternal?: boolean;
  /** Whether the table holds counts that only processes sharing a database need, and that a crash may lose. */
  readonly isCounter?: boolean;
  /** Returns statements to run after those that create the table. */
  readonly also?: (engine: EngineName) => readonly string[];
}

export function defineTable<const Name extends string, const Own extends Columns>(
  definition: Table & {
    readonly name: Name;
    readonly columns: Own;
    readonly key: readonly (keyof Own & string)[];
    readonly age?: keyof Own & string;
  },
): Omit<Table, 'name' | 'columns'> & { readonly name: Name; readonly columns: Own } {
  return definition;
}

/** Returns a table with only some of its columns and indexes, such as those that an older database has, or lacks. */
export function partOf(table: Table, isIn: (name: string) => boolean): Table {
  const among = <Of>(all: Readonly<Record<string, Of>> = {}) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => isIn(name)));
  return { ...table, columns: among(table.columns), indexes: among(table.indexes) };
}

/** Returns the statements that add the columns and indexes of a part to its table, whose last columns they are. */
export function statementsToAdd(part: Table, engine: EngineName): string[] {
  return [
    ...Object.entries(part.columns).map(
      (each) => `ALTER TABLE ${part.name} ADD COLUMN ${columnText(each, engine)}`,
    ),
    ...createTableStatements(part, engine).filter((statement) => statement.startsWith('CREATE INDEX')),
  ];
}

/** Returns the statements that create a table on an engine. */
export function createTableStatements(table: Table, engine: EngineName): string[] {
  if (table.isCounter && engine === 'sqlite') return [];
  const { name, columns, key, constraints = [], indexes = {}, uniqueIndexes = {} } = table;
  const lines = Object.entries(columns).map((column) => columnText(column, engine));
  // SQLite accepts no computed column in a primary key, so a unique index is used instead.
  const isComputed = key.some((column) => columns[column]?.isComputed);
  if (key.length > 0 && !isComputed) lines.push(`PRIMARY KEY (${key.join(', ')})`);
  const unique = { ...(isComputed && { [`${name}_by_id`]: `(${key.join(', ')})` }), ...uniqueIndexes };
  return [
    `CREATE ${table.isCounter ? 'UNLOGGED ' : ''}TABLE ${name} (\n  ${[...lines, ...constraints].join(',\n  ')}\n) ${optionsOf(table, engine)}`,
    ...Object.entries(unique).map(([index, on]) => `CREATE UNIQUE INDEX ${index} ON ${name} ${on}`),
    ...Object.entries(indexes).map(
      ([index, on]) => `CREATE INDEX ${index} ON ${name} ${typeof on === 'string' ? on : on(engine)}`,
    ),
    ...(table.also?.(engine) ?? []),
  ];
}

function columnText(
  [name, { declared, constraints }]: readonly [string, Column],
  engine: EngineName,
): string {
  return `${name} ${declared[engine]} ${constraints(name, engine)}`.trimEnd();
}

function optionsOf({ isKeyed }: Table, engine: EngineName): string {
  if (engine === 'postgres') return '';
  return isKeyed ? 'STRICT, WITHOUT ROWID' : 'STRICT';
}

type StoredOf<C> = C extends Column<infer Stored> ? Stored : never;
type ValueOf<C> = C extends Column<unknown, infer Value> ? Value : never;

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** A table's row type for Kysely. */
export type ColumnsOf<T extends Table> = { [N in keyof T['columns']]: StoredOf<T['columns'][N]> };

/** A row in the program's form: camel-case names, parsed JSON, booleans for flags, and no secrets. */
export type RowOf<T extends Table> = {
  [
    N in keyof T['columns'] & string as [ValueOf<T['columns'][N]>] extends [never] ? never : Camel<N>
  ]: ValueOf<T['columns'][N]>;
};

/** Converts a row, or some of its columns, to the program's form. Members that aren't columns of the table are left out. */
export function readRow<T extends Table, Row extends { [N in keyof T['columns']]?: unknown }>(
  { columns }: T,
  row: Row,
): Pick<RowOf<T>, Camel<keyof Row & keyof T['columns'] & string> & keyof RowOf<T>> {
  const members = Object.entries(row).flatMap(([name, stored]): [string, unknown][] => {
    const column = columns[name];
    if (!column || column.isSecret) return [];
    if (column.form === 'flag') return [[camelCase(name), stored === 1]];
    const isJson = column.form === 'json' && stored !== null;
    return [[camelCase(name), isJson ? JSON.parse(stored as string) : stored]];
  });
  return Object.fromEntries(members) as RowOf<T>;
}

/** Converts an object's members to the values stored in a table's columns. Undefined members, and those without a column, are left out. */
export function writeRow<T extends Table, Members extends Partial<RowOf<T>>>(
  { columns }: T,
  members: Members,
): {
  [N in keyof T['columns'] & string as Camel<N> extends keyof Members ? N : never]: InsertType<
    StoredOf<T['columns'][N]>
  >;
} {
  const given = members as Record<string, unknown>;
  const written = Object.entries(columns).flatMap(([name, { form, isComputed }]): [string, unknown][] => {
    const value = given[camelCase(name)];
    if (value === undefined || isComputed) return [];
    if (value === null || form === 'plain') return [[name, value]];
    return [[name, form === 'flag' ? Number(value) : JSON.stringify(value)]];
  });
  return Object.fromEntries(written) as never;
}

const camelCased = new Map<string, string>();

/** Turns `made_by` into `madeBy`. Cached, because every request reads rows and a lookup takes a tenth of the time. */
function camelCase(column: string): string {
  const known = camelCased.get(column);
  if (known !== undefined) return known;
  const name = column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  camelCased.set(column, name);
  return name;
}
