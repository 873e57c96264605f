import { type Compilable, type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely';

import type { Engine } from './engine.ts';
import { and, isOfDays, liesIn, type Slots, streamSlot, unindexed } from './list-queries.ts';
import type { ListedRow, Range, Selection } from './lists.ts';
import { countQuery, sortFewQuery, sortQuery } from './range-queries.ts';
import type { RecordTableName, Tables } from './schema.ts';

/**
 * A row that was found, or none, in no order. Those with a horizon tell up to which id the statement has found all: the
 * least one counts, and without any it has looked up to the end.
 */
export type Sighting = (ListedRow | { id: null; body: null; digest: null }) & { horizon: string | null };

/** Where a stream's blocks are looked through to: the place where the first stream has had its share, or its own. */
type Share = 'least' | 'own';

/**
 * Finds the rows that lie in every range by the blocks that can hold some: the rows after the cursor up to the next
 * block, and then those of each block whose bounds meet the ranges. No stream is looked through beyond the horizon, the
 * place where the first of them has had its share of blocks, so that all that is found can be put in order.
 */
export function blocksQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  slot: Slots,
): Compilable<Sighting> {
  const { ends, found } = blockParts(engine, selection, slot, 'least');
  const query = sql<Sighting>`
    WITH
      horizon (id) AS MATERIALIZED (SELECT MIN(first_id) FROM (${ends}) AS stream_ends),
      ${foundRows(found, slot)}
    SELECT found.id, record.body, record.digest, horizon.id AS horizon
    FROM horizon
      LEFT JOIN found ON TRUE
      ${withRecord(selection, slot)}`;
  return { compile: () => query.compile(db) };
}

/**
 * The whole of a list with ranges in one statement, for PostgreSQL, where each one is a round trip: counts the matches of
 * each range as long as they are few, sorts those of the first range that has few, and otherwise looks into blocks. What
 * isn't asked for is begun all the same, though it isn't run: each part of it costs every list some microseconds, so
 * that here a stream knows nothing of the others' shares.
 */
export function rangesQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  slot: Slots,
): Compilable<Sighting> {
  const { ends, found } = blockParts(engine, selection, slot, 'own');
  const indexes = [...selection.ranges.keys()];
  const isChosen = (way: number) => sql<SqlBool>`(SELECT way FROM chosen) = ${sql.lit(way)}`;
  const shorts = indexes.map((index) => {
    const count = countQuery(engine, db, selection, index, slot);
    return sql`WHEN ${count} < ${slot.countMax} THEN CAST(${sql.lit(index)} AS INTEGER)`;
  });
  const sorts = indexes.map((index) => {
    // With texts to read as well, PostgreSQL would look for days and times in the index of days alone.
    const sort = indexes.length === 1 ? sortFewQuery : sortQuery;
    const sorted = sort(engine, db, selection, index, slot);
    return sql`SELECT id, body, digest, NULL AS horizon FROM ${sorted} AS sorted WHERE ${isChosen(index)}`;
  });
  const query = sql<Sighting>`
    WITH
      chosen (way) AS MATERIALIZED (SELECT CASE ${sql.join(shorts, sql` `)} ELSE -1 END),
      ${foundRows(sql`SELECT id FROM (${found}) AS in_blocks WHERE ${isChosen(-1)}`, slot)}
    ${unionAll(sorts)}
    UNION ALL
    SELECT found.id, record.body, record.digest, NULL FROM found ${withRecord(selection, slot)}
    UNION ALL
    SELECT NULL, NULL, NULL, first_id FROM (${ends}) AS stream_ends WHERE ${isChosen(-1)}`;
  return { compile: () => query.compile(db) };
}

/** The ends of the streams' shares of blocks, and the rows that are found in those. */
function blockParts(engine: Engine, selection: Selection, slot: Slots, share: Share) {
  const streams = selection.streams.map((_stream, index) =>
    streamParts(engine, selection, index, slot, share),
  );
  return {
    ends: unionAll(streams.map(({ end }) => sql`SELECT first_id FROM (${end}) AS stream_end`)),
    found: unionAll(
      streams.flatMap(({ head, blocks }) => [
        sql`SELECT id FROM (${head}) AS head`,
        sql`SELECT id FROM (${blocks}) AS blocks`,
      ]),
    ),
  };
}

const unionAll = (queries: RawBuilder<unknown>[]) => sql.join(queries, sql` UNION ALL `);

/** Of all that is found, what the list has room for. */
const foundRows = (found: RawBuilder<unknown>, slot: Slots) => sql`
  found (id) AS MATERIALIZED (SELECT id FROM (${found}) AS matches ORDER BY id LIMIT ${slot.limit})`;

/** Joins the records of what was found: texts are read for these alone, whatever was passed on the way. */
const withRecord = ({ table }: Selection, slot: Slots) => sql`
  LEFT JOIN ${sql.table(table)} AS record ON record.company = ${slot.company} AND record.id = found.id`;

/** The parts of the statement that are about one stream. */
function streamParts(
  engine: Engine,
  { table, streams, ranges }: Selection,
  index: number,
  slot: Slots,
  share: Share,
) {
  // No text in SQLite comes after a blob; an id has 200 characters at most, of which none is greater than this one.
  const afterIds = engine.name === 'sqlite' ? sql`x''` : sql`REPEAT(CHR(1114111), 201)`;
  const upToHorizon = (id: RawBuilder<unknown>) =>
    share === 'own' ? sql`TRUE` : sql`${id} <= COALESCE((SELECT id FROM horizon), ${afterIds})`;
  const ofStream = sql`company = ${slot.company} AND stream = ${slot[blockSlot(index)]}`;
  const nextBlock = (id: RawBuilder<unknown>) => sql`
    COALESCE((SELECT MIN(first_id) FROM list_blocks WHERE ${ofStream} AND first_id > ${id}), ${afterIds})`;
  const meeting = and([
    ofStream,
    sql`first_id > ${slot.after}`,
    ...ranges.flatMap((range, at) => meets(range, at, slot)),
  ]);
  const columns = Object.keys(streams[index] ?? {});
  const isWanted = and([
    sql`company = ${slot.company}`,
    ...columns.map((column) => sql`${sql.ref(column)} = ${slot[streamSlot(index, column)]}`),
    ...ranges.flatMap((range, at) => liesIn(range, at, slot)),
  ]);
  const stream = sql`${sql.table(table)} AS record`;
  const candidates = sql`SELECT first_id FROM list_blocks WHERE ${meeting} AND ${upToHorizon(sql`first_id`)}`;
  // The block at which its share ends is the horizon, which is looked at as well.
  const ownShare = share === 'own' ? sql`LIMIT ${slot.blocksMax} + 1` : sql``;
  const inBlock = sql`id >= first_id AND id < ${nextBlock(sql`block.first_id`)} AND ${upToHorizon(unindexed('id'))}`;
  // SQLite doesn't see by itself that the longer index is the better one, but that a cross join gives the wanted order.
  const source =
    engine.name === 'sqlite' ? sql`${stream} INDEXED BY ${sql.ref(streamIndex(table, columns))}` : stream;
  const rows = sql`SELECT id FROM ${source} WHERE ${isWanted}`;
  const joined = sql`
    SELECT id FROM (${candidates}) AS block CROSS JOIN ${source}
    WHERE ${isWanted} AND ${inBlock}
    ORDER BY first_id, id LIMIT ${slot.limit}`;
  const lateral = sql`
    SELECT id FROM (${candidates} ORDER BY first_id ${ownShare}) AS block
    CROSS JOIN LATERAL (${rows} AND ${inBlock} ORDER BY id LIMIT ${slot.limit}) AS rows
    ORDER BY first_id, id LIMIT ${slot.limit}`;
  return {
    /** The block at which the stream has had its share, if it has so many. */
    end: sql`
      SELECT first_id FROM list_blocks WHERE ${meeting} ORDER BY first_id LIMIT 1 OFFSET ${slot.blocksMax}`,
    /** The rows before the next block. */
    head: sql`
      ${rows} AND id > ${slot.after} AND ${upToHorizon(unindexed('id'))} AND id < ${nextBlock(sql`${slot.after}`)}
      ORDER BY id LIMIT ${slot.limit}`,
    /** The rows of the blocks after that: the blocks in their order, and within each the rows in theirs. */
    blocks: engine.name === 'sqlite' ? joined : lateral,
  };
}

/** Whether a block can have rows that lie in a range. */
function meets({ column, from, to }: Range, at: number, slot: Slots): RawBuilder<unknown>[] {
  if (!isOfDays({ column })) {
    if (to !== undefined || from === undefined) throw new Error('Blocks know the latest time and no other.');
    return [sql`time_max >= ${slot[`from${at}`]}`];
  }
  return [
    ...(from === undefined ? [] : [sql`day_max >= ${slot[`from${at}`]}`]),
    ...(to === undefined ? [] : [sql`day_min <= ${slot[`to${at}`]}`]),
    ...(from === undefined || to === undefined
      ? []
      : [sql`months & CAST(${slot[monthsSlot(at)]} AS BIGINT) <> 0`]),
  ];
}

const blockSlot = (index: number) => `block_stream${index}`;
const monthsSlot = (at: number) => `months${at}`;

/** The values of a selection that only its blocks are asked for. */
export function blockBindings({ table, streams, ranges }: Selection): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  streams.forEach((stream, index) => {
    values[blockSlot(index)] = blockStream(table, stream);
  });
  ranges.forEach(({ column, from, to }, at) => {
    if (from !== undefined && to !== undefined && isOfDays({ column }))
      values[monthsSlot(at)] = monthBits(from, to);
  });
  return values;
}

/** The columns whose values, after the table, name a stream in `list_blocks`. */
const streamColumns = ['form_id', 'status', 'kind', 'customer'];

function blockStream(table: RecordTableName, stream: Readonly<Record<string, string>>): string {
  return [table, ...streamColumns.flatMap((column) => stream[column] ?? [])].join('/');
}

/** The index that begins with a stream's columns. */
function streamIndex(table: RecordTableName, columns: readonly string[]): string {
  const by = ['customer', 'form_id', 'kind', 'status'].find((column) => columns.includes(column));
  return by === undefined ? `${table}_by_id` : `${table}_of_${by.replace('_id', '')}`;
}

/** The months from one day to another as the bits that `list_blocks` has for them: 60, which come again and again. */
function monthBits(from: string, to: string): string {
  const monthOf = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  let bits = 0n;
  const first = monthOf(from);
  for (let month = first; month <= monthOf(to) && month < first + 60; month += 1)
    bits |= 1n << BigInt(month % 60);
  return bits.toString();
}
