import type { Migration } from '../migrate.ts';

/**
 * Blocks of each day's documents, by which those of a range of days that have also changed are found in id order,
 * wherever they lie (see ../day-walks.ts): what blocks of all days can't tell where each has rows of these days, and
 * changed rows, but none that are both. They are as the others (see ./0003-list-blocks.ts), with the day for a stream's
 * name, and know the latest time of change alone. On SQLite only: PostgreSQL looks at all rows of a day.
 */
export const dayBlocks: Migration = {
  name: '0015-day-blocks',
  statements: ({ name }) => (name === 'sqlite' ? [...index, ...blocksOf(issued, 'day', (day) => day)] : []),
};

/** What is walked is read out of the index alone. PostgreSQL would take it for the index of days and changes. */
const index = [
  'DROP INDEX invoices_issued',
  'CREATE INDEX invoices_issued ON invoices (company, issue_date, id, updated_at, status, kind, customer)',
];

/** Records that have a day, and the columns that come before that in its index. */
export interface Dated {
  table: string;
  day: string;
  within: readonly string[];
}

export const issued: Dated = { table: 'invoices', day: 'issue_date', within: [] };

const BLOCK_ROWS = 64;
const begins = `ABS(RANDOM() % ${BLOCK_ROWS}) = 0`;
const columns = '(company, stream, first_id, time_max, months)';

/** A row of a statement; one that is told by the columns alone, or a trigger's. */
type Row = '' | 'OLD.' | 'NEW.';

/**
 * Fills the blocks of days, or of what else days lie in, and keeps them.
 * @param span goes into the names of the triggers.
 * @param spanOf is what stands for a day, in SQL.
 */
export function blocksOf(dated: Dated, span: string, spanOf: (day: string) => string): string[] {
  const { table, day, within } = dated;
  const ofRow = (row: Row) => spanOf(`${row}${day}`);
  const streamOf = (row: Row) =>
    [`'${table}/'`, ofRow(row), ...within.map((column) => `'/' || ${row}${column}`)].join(' || ');
  const filling = `
    INSERT INTO list_blocks ${columns}
    SELECT company, stream, MIN(id), MAX(updated_at), 0
    FROM (
      SELECT
        company,
        ${streamOf('')} AS stream,
        id,
        updated_at,
        SUM(CASE WHEN ${begins} THEN 1 ELSE 0 END)
          OVER (PARTITION BY company, ${[...within, ofRow('')].join(', ')} ORDER BY id ROWS UNBOUNDED PRECEDING) AS block
      FROM ${table}
      WHERE ${day} IS NOT NULL
    ) AS numbered
    WHERE block > 0
    GROUP BY company, stream, block`;
  return [filling, ...triggersOf(dated, span, ofRow, streamOf)];
}

function triggersOf(
  { table, day, within }: Dated,
  span: string,
  spanOf: (row: Row) => string,
  streamOf: (row: Row) => string,
): string[] {
  const ofSpan = (row: 'OLD.' | 'NEW.') => `company = ${row}company AND stream = ${streamOf(row)}`;
  const inSpan = [
    'company = NEW.company',
    ...within.map((column) => `${column} = NEW.${column}`),
    `${spanOf('')} = ${spanOf('NEW.')}`,
  ].join(' AND ');
  // A block that begins with the new row has the latest change of the rows that it takes from the one before.
  const begin = `
    INSERT INTO list_blocks ${columns}
    SELECT NEW.company, ${streamOf('NEW.')}, NEW.id, MAX(updated_at), 0
    FROM ${table}
    WHERE ${inSpan} AND id >= NEW.id AND id < COALESCE(
      (SELECT MIN(first_id) FROM list_blocks WHERE ${ofSpan('NEW.')} AND first_id > NEW.id), x'');`;
  const widen = `
    UPDATE list_blocks SET time_max = MAX(time_max, NEW.updated_at)
    WHERE ${ofSpan('NEW.')} AND first_id = (
      SELECT MAX(first_id) FROM list_blocks WHERE ${ofSpan('NEW.')} AND first_id <= NEW.id);`;
  // The rows of a block that loses its first row belong to the one before.
  const leave = `
    UPDATE list_blocks SET time_max = MAX(list_blocks.time_max, gone.time_max)
    FROM (SELECT time_max FROM list_blocks WHERE ${ofSpan('OLD.')} AND first_id = OLD.id) AS gone
    WHERE ${ofSpan('OLD.')} AND first_id = (
      SELECT MAX(first_id) FROM list_blocks WHERE ${ofSpan('OLD.')} AND first_id < OLD.id);
    DELETE FROM list_blocks WHERE ${ofSpan('OLD.')} AND first_id = OLD.id;`;
  const trigger = (name: string, event: string, statements: string, condition: string) => `
    CREATE TRIGGER ${table}_${name}_${span} AFTER ${event} ON ${table}
    WHEN ${condition}
    BEGIN ${statements} END`;
  // Of a record that gets another day, or its first one, or has none any more.
  const moves = [
    `${spanOf('NEW.')} IS NOT ${spanOf('OLD.')}`,
    ...within.map((column) => `NEW.${column} <> OLD.${column}`),
  ];
  const isMoved = moves.length > 1 ? `(${moves.join(' OR ')})` : moves.join('');
  const isNew = `NEW.${day} IS NOT NULL`;
  return [
    trigger('widen', 'INSERT', widen, isNew),
    trigger('begin', 'INSERT', begin, `${isNew} AND ${begins}`),
    trigger('rewiden', 'UPDATE OF body', widen, isNew),
    trigger('end', 'DELETE', leave, `OLD.${day} IS NOT NULL`),
    trigger('leave', 'UPDATE OF body', leave, `${isMoved} AND OLD.${day} IS NOT NULL`),
    trigger('enter', 'UPDATE OF body', begin, `${isMoved} AND ${isNew} AND ${begins}`),
  ];
}
