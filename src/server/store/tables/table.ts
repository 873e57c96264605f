/*
 * A table is said once, by a definition: from it come the types that Kysely sees, the statements that make it on both engines,
 * reading and writing of its rows, and the lists of tables and columns of whatever goes through all of them.
 */
import type { ColumnType, Generated, GeneratedAlways, InsertType } from 'kysely';

export type EngineName = 'sqlite' | 'postgres';

/** How columns of a kind are declared in each engine. */
type Declared = Readonly<Record<EngineName, string>>;

/** Text that compares byte by byte on both engines. */
const TEXT: Declared = { sqlite: 'TEXT', postgres: 'TEXT COLLATE "C"' };
const INTEGER: Declared = { sqlite: 'INTEGER', postgres: 'INTEGER' };
const BIG_INTEGER: Declared = { sqlite: 'INTEGER', postgres: 'BIGINT' };
/** JSON text, exactly as written, into which expressions look. */
const DOCUMENT: Declared = { sqlite: 'TEXT', postgres: 'JSON' };
const BYTES: Declared = { sqlite: 'BLOB', postgres: 'BYTEA' };

/** A column. `Stored` is its type for Kysely, and `Value` that of the member that `readRow` makes of it. */
export interface Column<Stored = unknown, Value = unknown> {
  readonly declared: Declared;
  /** How its values are stored: as they are, as JSON, or as a switch of 0 or 1. */
  readonly form: 'plain' | 'json' | 'flag';
  /** SQL behind the type, such as `NOT NULL`. */
  readonly constraints: (name: string, engine: EngineName) => string;
  /** Whether nobody is shown it, not even in an export of its company: `readRow` leaves it out. */
  readonly isSecret: boolean;
  /** Whether the database computes it. */
  readonly isComputed: boolean;
  /** Never set: it carries the two types. */
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

/** A text. Times are `YYYY-MM-DDTHH:MM:SS.mmmZ` and days `YYYY-MM-DD`: both order as text. */
export const text = column<string>(TEXT);
export const integer = column<number>(INTEGER);
/** An integer of 64 bits, which PostgreSQL's driver gives as text. */
export const bigInteger = column<ColumnType<number | string, number, number>>(BIG_INTEGER);
/** A switch: 0 or 1 in the database. */
export const flag = column<number, boolean>(INTEGER, {
  form: 'flag',
  constraints: check((name) => `${name} IN (0, 1)`),
});
/** The JSON text of a record, or of a part of it. */
export const recordText = column<string>(DOCUMENT);
export const bytes = column<Buffer, never>(BYTES, { isSecret: true });
/** The digest of a token, or a sealed secret. */
export const secret = column<string, never>(TEXT, { isSecret: true });
export const secretInteger = column<number, never>(INTEGER, { isSecret: true });
/** The company that has the row. */
export const company = column<string>(TEXT, { constraints: () => 'NOT NULL REFERENCES companies (id)' });

/** A value that is stored as JSON. */
export const json = <Value>() => column<string, Value>(TEXT, { form: 'json' });

/** One of some words. */
export const oneOf = <const Word extends string>(...words: Word[]) =>
  column<Word>(TEXT, {
    constraints: check((name) => `${name} IN (${words.map((word) => `'${word}'`).join(', ')})`),
  });

/** A column that may be null, too. */
export function orNull<Stored, Value>(
  of: Column<Stored, Value>,
): Column<Stored | null, [Value] extends [never] ? never : Value | null> {
  const constraints: Column['constraints'] = (...args) => of.constraints(...args).replace(/^NOT NULL ?/, '');
  return column(of.declared, { ...of, constraints });
}

/** A column with a value for rows that are added without one. @param value as SQL has it. */
export function orElse<Stored, Value>(
  of: Column<Stored, Value>,
  value: string,
): Column<Generated<Stored>, Value> {
  const constraints: Column['constraints'] = (...args) =>
    of.constraints(...args).replace(/^NOT NULL/, `NOT NULL DEFAULT ${value}`);
  return column(of.declared, { ...of, constraints });
}

/**
 * A column that the database computes from the text of its record, so that the two can't disagree.
 * @param expression is null only in a column that `orNull` makes.
 * @param isKept false where SQLite computes it when it is read, because an index holds it.
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

/** A table's definition. */
export interface Table {
  readonly name: string;
  readonly columns: Columns;
  /** Columns that together are unique and never change; none where the table has one row. */
  readonly key: readonly string[];
  /** Conditions on a whole row, and references to other tables. */
  readonly constraints?: readonly string[];
  /** Indexes by their names, each with the SQL behind the table's name: columns, and a condition. */
  readonly indexes?: Readonly<Record<string, string | ((engine: EngineName) => string)>>;
  readonly uniqueIndexes?: Readonly<Record<string, string>>;
  /** Whether its rows are small and found by their key alone: in SQLite the key's tree is all they need. */
  readonly isKeyed?: boolean;
  /** Column that says when a row grew old; `removeBefore` removes old ones by it. */
  readonly age?: string;
  /** Whether each machine of Citus has a copy, because it is small and read beside the rows of companies. */
  readonly isOnEachMachine?: boolean;
  /** Whether it describes the database itself: no copy of a store has its rows. */
  readonly isOfDatabase?: boolean;
  /** Whether an export leaves its rows out, because they mean nothing to anybody outside. */
  readonly isInternal?: boolean;
  /** Whether it holds counts that only processes with a shared database need, and a crash may lose. */
  readonly isCounter?: boolean;
  /** Statements behind those that make the table. */
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

/** Gives the statements that make a table on an engine. */
export function statementsFor(table: Table, engine: EngineName): string[] {
  if (table.isCounter && engine === 'sqlite') return [];
  const { name, columns, key, constraints = [], indexes = {}, uniqueIndexes = {} } = table;
  const lines = Object.entries(columns).map(([column, { declared, constraints }]) =>
    `${column} ${declared[engine]} ${constraints(column, engine)}`.trimEnd(),
  );
  // SQLite takes no computed column into a primary key; a unique index serves the same.
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

function optionsOf({ isKeyed }: Table, engine: EngineName): string {
  if (engine === 'postgres') return '';
  return isKeyed ? 'STRICT, WITHOUT ROWID' : 'STRICT';
}

type StoredOf<C> = C extends Column<infer Stored> ? Stored : never;
type ValueOf<C> = C extends Column<unknown, infer Value> ? Value : never;

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** A table as Kysely sees it. */
export type ColumnsOf<T extends Table> = { [N in keyof T['columns']]: StoredOf<T['columns'][N]> };

/** A row as the program has it: its columns in camel case, JSON as values, switches as booleans, and no secrets. */
export type RowOf<T extends Table> = {
  [
    N in keyof T['columns'] & string as [ValueOf<T['columns'][N]>] extends [never] ? never : Camel<N>
  ]: ValueOf<T['columns'][N]>;
};

/** Makes of a row, or of some of its columns, what the program works with. What isn't a column of the table is left out. */
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

/** Makes the columns of members that have a column; what is undefined is left out. */
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

/** Turns `made_by` into `madeBy`. Each request reads rows, and a look takes a tenth of the time. */
function camelCase(column: string): string {
  const known = camelCased.get(column);
  if (known !== undefined) return known;
  const name = column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  camelCased.set(column, name);
  return name;
}
