import type { Dialect, Migration } from '../migrate.ts';

/**
 * Blocks, by which a list passes over rows in id order that a range can't have (see ../block-reads.ts).
 *
 * A stream is what one list walks: all rows of a company that share the first columns of an index. About 1 row in 64 of
 * each stream, chosen by chance when it comes, begins a block, which reaches to the next such row. What the rows of a
 * block hold lies within its bounds; the bounds may be wider than that. Rows before a stream's first block are in none,
 * so that the many short streams cost nothing. Chance is what keeps this simple, as in a skip list: no block has to be
 * counted or split, whatever the order in which ids come, and a row takes the beginning that it made with it.
 *
 * A company's changes are serial (design.md section 2, point 5); two transactions that wrote one stream at once could
 * leave a bound that is too tight.
 */
export const listBlocks: Migration = {
  name: '0003-list-blocks',
  statements: (dialect) => [
    blocksTable(dialect),
    ...streamIndexes,
    ...listed.flatMap((table) => fillings(table, dialect.name === 'sqlite' ? sqlite : postgres)),
    ...listed.flatMap((table) =>
      dialect.name === 'sqlite' ? sqliteTriggers(table) : postgresTrigger(table),
    ),
  ],
};

/** With 64, scanning a million rows' blocks takes as long as looking into those of one page: some 2 milliseconds. */
const BLOCK_ROWS = 64;

/** A table whose lists have ranges, with the columns that fix each of its streams. */
interface Listed {
  table: string;
  /** The time of change, or of creation. */
  time: string;
  day?: string;
  streams: readonly (readonly string[])[];
}

const listed: readonly Listed[] = [
  { table: 'customers', time: 'updated_at', streams: [[]] },
  { table: 'forms', time: 'updated_at', streams: [[]] },
  { table: 'jobs', time: 'updated_at', streams: [[]] },
  { table: 'submissions', time: 'created_at', streams: [['form_id']] },
  {
    table: 'invoices',
    time: 'updated_at',
    day: 'issue_date',
    streams: [
      ['status', 'kind'],
      ['status', 'kind', 'customer'],
    ],
  },
  {
    table: 'quotes',
    time: 'updated_at',
    day: 'valid_until',
    streams: [['status'], ['status', 'customer']],
  },
];

function blocksTable({ name, text, table }: Dialect): string {
  // A stream's name is its table and its columns' values. Only the last of those is anybody's choice.
  const columns = `
    company ${text} NOT NULL REFERENCES companies (id),
    stream ${text} NOT NULL,
    first_id ${text} NOT NULL,
    time_max ${text} NOT NULL,
    day_min ${text},
    day_max ${text},
    months ${name === 'sqlite' ? 'INTEGER' : 'BIGINT'} NOT NULL,
    PRIMARY KEY (company, stream, first_id)`;
  // Room for bounds to be replaced within their page, which leaves the key's index as it is.
  const storage = name === 'sqlite' ? `${table}, WITHOUT ROWID` : 'WITH (fillfactor = 70)';
  return `CREATE TABLE list_blocks (${columns}) ${storage}`;
}

/** What is looked into is read out of the index, and not row by row out of the table, which takes ten times as long. */
const streamIndexes = [
  'DROP INDEX submissions_of_form',
  'DROP INDEX invoices_of_kind',
  'DROP INDEX invoices_of_customer',
  'DROP INDEX quotes_of_status',
  'DROP INDEX quotes_of_customer',
  'CREATE INDEX submissions_of_form ON submissions (company, form_id, id, created_at)',
  'CREATE INDEX invoices_of_kind ON invoices (company, status, kind, id, updated_at, issue_date)',
  'CREATE INDEX invoices_of_customer ON invoices (company, customer, status, kind, id, updated_at, issue_date)',
  'CREATE INDEX quotes_of_status ON quotes (company, status, id, updated_at, valid_until)',
  'CREATE INDEX quotes_of_customer ON quotes (company, customer, status, id, updated_at, valid_until)',
];

/** The blocks of the rows that are there. */
function fillings({ table, time, day = 'NULL', streams }: Listed, { begins }: Words): string[] {
  return streams.map(
    (columns) => `
      INSERT INTO list_blocks (company, stream, first_id, time_max, day_min, day_max, months)
      SELECT company, stream, MIN(id), MAX(time), MIN(day), MAX(day), ${monthsOf('day')}
      FROM (
        SELECT
          company,
          ${streamOf(table, columns, '')} AS stream,
          id,
          ${time} AS time,
          CAST(${day} AS TEXT) AS day,
          SUM(CASE WHEN ${begins('id')} THEN 1 ELSE 0 END)
            OVER (PARTITION BY ${['company', ...columns].join(', ')} ORDER BY id ROWS UNBOUNDED PRECEDING) AS block
        FROM ${table}
      ) AS numbered
      WHERE block > 0
      GROUP BY company, stream, block`,
  );
}

const streamOf = (table: string, columns: readonly string[], row: string) =>
  [`'${table}'`, ...columns.map((column) => `${row}${column}`)].join(" || '/' || ");

/**
 * A day's month as one bit of 60, which stand for all months in turn. A block in which one draft was issued late reaches
 * over all months between, but has none of their days.
 */
const monthOf = (day: string) => `COALESCE(CAST(1 AS BIGINT) <<
  ((CAST(SUBSTR(${day}, 1, 4) AS INTEGER) * 12 + CAST(SUBSTR(${day}, 6, 2) AS INTEGER)) % 60), 0)`;

/** Bits that differ add up to what they are together. */
const monthsOf = (day: string) => `CAST(COALESCE(SUM(DISTINCT ${monthOf(day)}), 0) AS BIGINT)`;

/** What the engines say differently. */
interface Words {
  /** The functions that give the lesser and the greater of two values. */
  least: string;
  greatest: string;
  /** Whether the row with this id begins a block. */
  begins: (id: string) => string;
  /** After which of a stream's rows the block of a new row ends; null for none. */
  blockEnd: (table: string, inStream: string, ofStream: string) => string;
  /** Is after every id. */
  afterIds: string;
}

const sqlite: Words = {
  least: 'MIN',
  greatest: 'MAX',
  begins: () => `ABS(RANDOM() % ${BLOCK_ROWS}) = 0`,
  blockEnd: (_table, _inStream, ofStream) =>
    `SELECT MIN(first_id) FROM list_blocks WHERE ${ofStream} AND first_id > NEW.id`,
  afterIds: "x''",
};

/**
 * PostgreSQL runs the triggers of a statement's rows when all rows are there, among them those that will begin blocks
 * of their own. So the id tells, by the hash that hash indexes keep, which rows these are.
 */
const postgres: Words = {
  least: 'LEAST',
  greatest: 'GREATEST',
  begins: (id) => `HASHTEXT(${id}) & ${BLOCK_ROWS - 1} = 0`,
  blockEnd: (table, inStream) =>
    `SELECT id FROM ${table} WHERE ${inStream} AND id > NEW.id AND ${postgres.begins('id')} ORDER BY id LIMIT 1`,
  // 201 of the last character there is: an id has 200 at most.
  afterIds: 'REPEAT(CHR(1114111), 201)',
};

/** A stream in the statements of a trigger. */
function streamStatements({ table, time, day }: Listed, columns: readonly string[], words: Words) {
  const stream = (row: string) =>
    `company = ${row}.company AND stream = ${streamOf(table, columns, `${row}.`)}`;
  const inStream = ['company', ...columns].map((column) => `${column} = NEW.${column}`).join(' AND ');
  const wider = (column: string, other: string, choose: string) =>
    `${column} = COALESCE(${choose}(list_blocks.${column}, ${other}), list_blocks.${column}, ${other})`;
  const bounds = (timeMax: string, days: { min: string; max: string; months: string } | undefined) =>
    [
      `time_max = ${words.greatest}(list_blocks.time_max, ${timeMax})`,
      ...(days === undefined
        ? []
        : [
            wider('day_min', days.min, words.least),
            wider('day_max', days.max, words.greatest),
            `months = list_blocks.months | ${days.months}`,
          ]),
    ].join(', ');
  const newDay = `NEW.${day}`;
  const newDays = day ? { min: newDay, max: newDay, months: monthOf(newDay) } : undefined;
  const goneDays = day ? { min: 'gone.day_min', max: 'gone.day_max', months: 'gone.months' } : undefined;
  const days = day === undefined ? 'NULL, NULL' : `MIN(${day}), MAX(${day})`;
  return {
    /** Whether a changed row has come into this stream out of another. */
    isMoved: columns.map((column) => `NEW.${column} <> OLD.${column}`).join(' OR ') || 'FALSE',
    /** A block that begins with the new row has the bounds of the rows that it takes from the one before. */
    begin: `
      INSERT INTO list_blocks (company, stream, first_id, time_max, day_min, day_max, months)
      SELECT NEW.company, ${streamOf(table, columns, 'NEW.')}, NEW.id, MAX(${time}), ${days}, ${day === undefined ? '0' : monthsOf(day)}
      FROM ${table}
      WHERE ${inStream} AND id >= NEW.id AND id < COALESCE(
        (${words.blockEnd(table, inStream, stream('NEW'))}), ${words.afterIds});`,
    widen: `
      UPDATE list_blocks SET ${bounds(`NEW.${time}`, newDays)}
      WHERE ${stream('NEW')} AND first_id = (
        SELECT MAX(first_id) FROM list_blocks WHERE ${stream('NEW')} AND first_id <= NEW.id);`,
    /** The rows of a block that loses its first row belong to the one before. */
    leave: `
      UPDATE list_blocks SET ${bounds('gone.time_max', goneDays)}
      FROM (SELECT time_max, day_min, day_max, months FROM list_blocks WHERE ${stream('OLD')} AND first_id = OLD.id) AS gone
      WHERE ${stream('OLD')} AND first_id = (
        SELECT MAX(first_id) FROM list_blocks WHERE ${stream('OLD')} AND first_id < OLD.id);
      DELETE FROM list_blocks WHERE ${stream('OLD')} AND first_id = OLD.id;`,
  };
}

function sqliteTriggers(listedTable: Listed): string[] {
  const { table, streams } = listedTable;
  const trigger = (name: string, event: string, statements: string[], condition?: string) => `
    CREATE TRIGGER ${table}_${name} AFTER ${event} ON ${table}
    ${condition === undefined ? '' : `WHEN ${condition}`}
    BEGIN ${statements.join('')} END`;
  const statements = streams.map((columns) => streamStatements(listedTable, columns, sqlite));
  const begins = sqlite.begins('NEW.id');
  const widen = statements.map((stream) => stream.widen);
  return [
    trigger('widen_block', 'INSERT', widen),
    trigger(
      'begin_block',
      'INSERT',
      statements.map(({ begin }) => begin),
      begins,
    ),
    trigger('rewiden_block', 'UPDATE OF body', widen),
    trigger(
      'end_block',
      'DELETE',
      statements.map(({ leave }) => leave),
    ),
    ...statements.flatMap(({ isMoved, begin, leave }, index) =>
      isMoved === 'FALSE'
        ? []
        : [
            trigger(`leave_stream_${index}`, 'UPDATE OF body', [leave], isMoved),
            trigger(`enter_stream_${index}`, 'UPDATE OF body', [begin], `(${isMoved}) AND ${begins}`),
          ],
    ),
  ];
}

function postgresTrigger(listedTable: Listed): string[] {
  const { table, streams } = listedTable;
  const steps = streams.map((columns) => {
    const { isMoved, begin, widen, leave } = streamStatements(listedTable, columns, postgres);
    return `
      IF TG_OP = 'DELETE' THEN ${leave}
      ELSE
        IF TG_OP = 'UPDATE' THEN
          comes := ${isMoved};
          IF comes THEN ${leave} END IF;
        END IF;
        IF comes AND ${postgres.begins('NEW.id')} THEN ${begin} END IF;
        ${widen}
      END IF;`;
  });
  return [
    // A plan that is made while there are few rows would go on reading, or sorting, all of them.
    `CREATE FUNCTION keep_${table}_blocks() RETURNS TRIGGER LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
      DECLARE
        comes BOOLEAN := TRUE;
      BEGIN
        ${steps.join('')}
        RETURN NULL;
      END $$`,
    `CREATE TRIGGER ${table}_blocks AFTER INSERT OR UPDATE OF body OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION keep_${table}_blocks()`,
  ];
}
