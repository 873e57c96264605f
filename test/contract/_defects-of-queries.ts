import { inLists, queryOf, withQuery } from './_planting.ts';
import type { Defect, ProxiedReply, ProxiedRequest } from './_proxy.ts';

type Again = (request: ProxiedRequest) => Promise<ProxiedReply>;

const LIST = /^\/api\/v1\/(?:jobs|people|forms|forms\/\w+\/submissions|customers|invoices|quotes)(?:\?|$)/;
const FILTERS = ['kind', 'status', 'customer', 'issuedFrom', 'issuedTo', 'updatedSince', 'versions'] as const;

/** Lists are asked with another limit than none. */
function unlessTold(
  limit: number,
  isFor: (query: URLSearchParams) => boolean,
): NonNullable<Defect['request']> {
  return (request) => {
    const query = queryOf(request);
    if (!LIST.test(request.target) || query.has('limit') || !isFor(query)) return request;
    return withQuery(request, (changed) => changed.set('limit', String(limit)));
  };
}

/** The query without a filter, when there are as many others beside it. */
function lostAmong(name: string, others: number): NonNullable<Defect['request']> {
  return (request) => {
    const given = FILTERS.filter((filter) => queryOf(request).has(filter));
    if (!given.some((filter) => filter === name) || given.length <= others) return request;
    return withQuery(request, (query) => query.delete(name));
  };
}

/** A page after the first holds what it would without a filter. */
function lostOnLaterPages(name: string): NonNullable<Defect['reply']> {
  return async (reply, request, again) => {
    const query = queryOf(request);
    const cursor = query.get('cursor');
    if (reply.status !== 200 || cursor === null || !query.has(name)) return reply;
    // Our own cursors end with the id after which their page begins.
    const after = Buffer.from(cursor.slice(13), 'base64url').toString('utf8');
    const unfiltered = withQuery(request, (changed) => {
      for (const parameter of [name, 'cursor', 'limit']) changed.delete(parameter);
    });
    const data = (await wholeOf(unfiltered, again)).filter(({ id }) => id > after);
    const change = inLists(request.target.split('?')[0] ?? '', (page) => ({
      ...page,
      data: data.slice(0, Number(query.get('limit') ?? 50)),
    }));
    return change(reply, request, again, undefined as never);
  };
}

async function wholeOf(request: ProxiedRequest, again: Again): Promise<{ id: string }[]> {
  const records: { id: string }[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 10; pages++) {
    const { body } = await again(
      withQuery(request, (query) => {
        query.set('limit', '100');
        if (cursor !== null) query.set('cursor', cursor);
      }),
    );
    const page = JSON.parse(body.toString('utf8')) as { data: { id: string }[]; nextCursor: string | null };
    records.push(...page.data);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return records;
}

/** Notes with which limit each cursor was given, and refuses it with another. */
function boundToLimit(): NonNullable<Defect['reply']> {
  const limits = new Map<string, string | null>();
  return (reply, request, again) => {
    const query = queryOf(request);
    const given = limits.get(query.get('cursor') ?? '');
    if (given !== undefined && given !== query.get('limit')) {
      return again(withQuery(request, (changed) => changed.set('cursor', '1aaaaaaaaaaaaaaaaaa')));
    }
    const [, next] = /"nextCursor":"([^"]+)"/.exec(reply.body.toString('utf8')) ?? [];
    if (next !== undefined) limits.set(next, query.get('limit'));
    return reply;
  };
}

/** Notes which path gave each cursor, and takes it there with any filters. */
function boundToPath(): NonNullable<Defect['reply']> {
  const paths = new Map<string, string>();
  return (reply, request, again) => {
    const path = request.target.split('?')[0] ?? '';
    if (reply.status === 400 && paths.get(queryOf(request).get('cursor') ?? '') === path) {
      return again(withQuery(request, (query) => query.delete('cursor')));
    }
    const [, next] = /"nextCursor":"([^"]+)"/.exec(reply.body.toString('utf8')) ?? [];
    if (next !== undefined) paths.set(next, path);
    return reply;
  };
}

/** Changes the time in `updatedSince`. */
function since(change: (time: string) => string): NonNullable<Defect['request']> {
  return (request) => {
    const time = queryOf(request).get('updatedSince');
    return time === null ? request : withQuery(request, (query) => query.set('updatedSince', change(time)));
  };
}

function withoutRepetition(which: 0 | -1): NonNullable<Defect['request']> {
  return (request) => {
    const query = queryOf(request);
    const names = [...new Set(query.keys())];
    if (names.length === query.size) return request;
    return withQuery(request, (changed) => {
      for (const name of names) changed.set(name, query.getAll(name).at(which) ?? '');
    });
  };
}

function withoutEmpty(isFor: (name: string) => boolean): NonNullable<Defect['request']> {
  return (request) => {
    const empty = [...queryOf(request)].filter(([name, value]) => value === '' && isFor(name));
    if (empty.length === 0) return request;
    return withQuery(request, (query) => {
      for (const [name] of empty) query.delete(name);
    });
  };
}

/** Defects in how the queries of lists are read. */
export const queryDefects: readonly Defect[] = [
  {
    name: 'a page has a hundred records unless told',
    within: /fifty records/,
    says: /has 100 records, not 50/,
    request: unlessTold(100, () => true),
  },
  {
    name: 'a page has 25 records unless told',
    within: /fifty records/,
    says: /has 25 records, not 50/,
    request: unlessTold(25, () => true),
  },
  {
    name: 'a later page has a hundred records unless told',
    within: /fifty records/,
    says: /has 100 records, not 50/,
    request: unlessTold(100, (query) => query.has('cursor')),
  },
  ...FILTERS.map((name) => ({
    name: `the filter ${name} is ignored among three`,
    within: /every filter counts/,
    says: /the records are/,
    request: lostAmong(name, 2),
  })),
  ...FILTERS.map((name) => ({
    name: `the filter ${name} is ignored after the first page`,
    within: /every filter counts/,
    says: /the records are/,
    reply: lostOnLaterPages(name),
  })),
  {
    name: 'a cursor is taken with other filters',
    within: /a cursor belongs/,
    says: /200, not 400/,
    reply: boundToPath(),
  },
  {
    name: 'a cursor is refused with another limit',
    within: /a cursor belongs/,
    says: /400 invalid_cursor, not 200/,
    reply: boundToLimit(),
  },
  {
    name: 'the offset of a time is ignored',
    within: /a time may have any offset/,
    says: /the records are/,
    request: since((time) => time.replace(/[+-]\d\d:\d\d$/, 'Z')),
  },
  {
    name: 'the offset of a time counts the other way',
    within: /a time may have any offset/,
    says: /the records are/,
    request: since((time) => time.replace(/[+-](?=\d\d:\d\d$)/, (sign) => (sign === '+' ? '-' : '+'))),
  },
  {
    name: 'the minutes of an offset are ignored',
    within: /a time may have any offset/,
    says: /the records are/,
    request: since((time) => time.replace(/(?<=[+-]\d\d):\d\d$/, ':00')),
  },
  {
    name: 'a finer part of a time is cut off',
    within: /a time may have any offset/,
    says: /the records are/,
    request: since((time) => time.replace(/(\.\d{3})\d+/, '$1')),
  },
  {
    name: 'a plus that was not escaped is taken',
    says: /the status is 200, not 400/,
    request: since((time) => time.replace(' ', '+')),
  },
  {
    name: 'of a repeated parameter the first counts',
    within: /comes twice/,
    says: /the status is 200, not 400/,
    request: withoutRepetition(0),
  },
  {
    name: 'of a repeated parameter the last counts',
    within: /comes twice/,
    says: /the status is 200, not 400/,
    request: withoutRepetition(-1),
  },
  {
    name: 'an empty parameter is ignored',
    within: /is empty|has no value/,
    says: /the status is 200, not 400/,
    request: withoutEmpty((name) => name !== 'cursor'),
  },
  {
    name: 'an empty cursor begins at the start',
    within: /is empty|has no value/,
    says: /the status is 200, not 400/,
    request: withoutEmpty((name) => name === 'cursor'),
  },
];
