import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import fc from 'fast-check';

import { revokeFeedToken } from '../../../src/server/features/feed-tokens/stored-feed-tokens.ts';
import { changeNames } from '../../../src/contract/feed.ts';
import { anyCharacter } from '../../_characters.ts';
import { keyFor, STORY_NOW } from '../../_server.ts';
import { onSqlite } from '../backoffice/_backoffice.ts';
import { customerSave, jobCreate, openStaffedCompany, personSave } from '../backoffice/_changes.ts';
import { bearer, job, openDoor, type Reply, replyProblems, tokenFor } from './_door.ts';

const REQUESTS = Number(process.env.FEED_REQUESTS ?? 3_000);
/** Fewer than a token may have under way. */
const BATCH = 6;

const companies = ['company-1', 'company-1', 'company-1', 'company-2', 'nobody', '', '__proto__'];
const number = fc.integer({ min: 0, max: 40 });

/** Changes that can be made, that can't, and that are none. */
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        id: number.map((id) => `c${id}`),
        company: fc.constantFrom(...companies),
        source: fc.option(fc.constantFrom('erp', 'crm'), { nil: undefined }),
        sequence: fc.option(fc.integer({ min: -1, max: 1e9 }), { nil: undefined }),
        what: fc.oneof(
          number.map((id) => jobCreate({ id: `job_${id}` })),
          number.map((id) => ({ change: 'job.complete', with: { id: `job_${id}` } })),
          fc.constant(customerSave({ id: 'cus_2' })),
          fc.constant(personSave({ id: 'per_9' })),
          fc.constant({ change: 'company.save', with: { name: 'Brook' } }),
          fc.constant({ change: 'company.switch', with: { api: false } }),
        ),
      })
      .map(({ what, ...rest }) => ({ ...rest, ...what })),
  },
  fc.record(
    {
      id: fc.jsonValue(),
      company: fc.constantFrom(...companies),
      change: fc.constantFrom(...changeNames()),
      with: fc.jsonValue(),
    },
    { requiredKeys: ['change'] },
  ),
  fc.jsonValue(),
);

interface Body {
  bytes: Buffer;
  type: string;
  coding?: string;
}

const written: fc.Arbitrary<Body> = fc.oneof(
  fc.array(change, { maxLength: 12 }).map((changes) => ({
    bytes: Buffer.from(JSON.stringify(changes)),
    type: 'application/json',
  })),
  fc.array(change, { maxLength: 12 }).map((changes) => ({
    bytes: Buffer.from(changes.map((one) => JSON.stringify(one)).join('\n')),
    type: 'application/x-ndjson',
  })),
);

const compressions: Record<string, (bytes: Buffer) => Buffer> = { gzip: gzipSync, zstd: zstdCompressSync };
const compressed = fc.tuple(written, fc.constantFrom('gzip', 'zstd')).map(([body, coding]): Body => ({
  ...body,
  bytes: compressions[coding]?.(body.bytes) ?? body.bytes,
  coding,
}));

/** The same with bytes changed or cut off, or called something else. */
const damaged = fc
  .tuple(fc.oneof(written, compressed), fc.nat(), fc.uint8Array({ maxLength: 4 }), fc.boolean(), fc.string())
  .map(([{ bytes, ...body }, place, edit, isCut, type]): Body => {
    const at = place % (bytes.length + 1);
    const rest = isCut ? [] : [bytes.subarray(at + edit.length)];
    const named = place % 5 === 0 ? { type: type.replace(/[^ -~]/g, ''), coding: 'br' } : {};
    return { ...body, bytes: Buffer.concat([bytes.subarray(0, at), edit, ...rest]), ...named };
  });

const escaped = (value: string) => encodeURIComponent(value.toWellFormed());
const anyText = fc.string({ unit: anyCharacter, minLength: 1 });
const anyId = fc.oneof(
  number.map((id) => `c${id}`),
  anyText.map(escaped),
);
const right = fc.constantFrom(...companies).map((company) => [`company=${company}`]);
const names = fc.constantFrom('company', 'source', 'sauce', '__proto__', 'company[]');
const queryOf = (more: readonly string[]) =>
  fc.oneof(
    right.map((query) => [...query, ...more].join('&')),
    fc
      .array(fc.tuple(names, fc.oneof(fc.constantFrom(...companies), anyText)), { maxLength: 4 })
      .map((pairs) => pairs.map(([name, value]) => `${name}=${escaped(value)}`).join('&')),
  );

interface Target {
  method: string;
  path: string;
  operation?: string;
}

const nowhere = '/ /feed /feed/v1/changes /feed/v1/changes/% /feed/v1//position /api/v1/jobs'.split(' ');
const target: fc.Arbitrary<Target> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constant({ method: 'POST', path: '/feed/v1/changes', operation: 'applyChanges' }),
  },
  fc.tuple(anyId, queryOf([])).map(([id, query]) => ({
    method: 'GET',
    path: `/feed/v1/changes/${id}?${query}`,
    operation: 'getChange',
  })),
  queryOf(['source=erp']).map((query) => ({
    method: 'GET',
    path: `/feed/v1/position?${query}`,
    operation: 'getPosition',
  })),
  fc.record({
    method: fc.constantFrom('GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
    path: fc.constantFrom(...nowhere),
  }),
);

const tokens = ['limited', 'limited', 'limited', 'limited', 'revoked', 'key', 'wrong', 'none'] as const;

interface One {
  target: Target;
  body: Body;
  token: (typeof tokens)[number];
}

const one: fc.Arbitrary<One> = fc.record({
  target,
  body: fc.oneof(written, compressed, damaged),
  token: fc.constantFrom(...tokens),
});

const all = [
  ...['applyChanges 200', 'applyChanges 400', 'applyChanges 401', 'none 404', 'none 405'],
  ...[
    'getChange 200',
    'getChange 400',
    'getChange 404',
    'getPosition 200',
    'getPosition 400',
    'getPosition 404',
  ],
];

onSqlite(`${REQUESTS} requests get declared answers, and memory does not grow`, async (t, office) => {
  const { engine, openCompany } = office;
  await openStaffedCompany(openCompany);
  await openStaffedCompany(openCompany);
  const limited = await tokenFor(engine, { companies: ['company-1'] });
  const revoked = await tokenFor(engine);
  await revokeFeedToken(engine, revoked.id, STORY_NOW);
  await using door = await openDoor(engine, limited.token);
  const key = await keyFor(engine, 'company-1');
  const given = { limited: limited.token, revoked: revoked.token, key, wrong: 'x', none: undefined };
  const agent = new Agent({ keepAlive: true, maxSockets: BATCH });
  t.teardown(() => agent.destroy());
  const ask = async (
    { method, path }: Target,
    headers: Record<string, string>,
    body: Buffer,
  ): Promise<Reply> => {
    // Without it Node sends the body of a GET as if it were another request.
    const framed = { ...headers, 'content-length': body.length };
    const sent = request(`${door.url}${path}`, { agent, method, headers: framed }).end(body);
    const [res] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: res.statusCode ?? 0, headers: res.headers, body: await text(res) };
  };
  const statuses: Record<string, number> = {};
  const problemsOf = async ({
    target: asked,
    body: { bytes, type, coding },
    token,
  }: One): Promise<string[]> => {
    const authorization = given[token] === undefined ? {} : bearer(given[token]);
    const encoded = coding === undefined ? {} : { 'content-encoding': coding };
    const reply = await ask(asked, { 'content-type': type, ...encoded, ...authorization }, bytes);
    const { operation } = asked;
    const name = `${operation ?? 'none'} ${reply.status}`;
    statuses[name] = (statuses[name] ?? 0) + 1;
    const isLetIn = token === 'limited' || operation === undefined;
    const isDeclared = isLetIn ? reply.status < 429 && reply.status !== 401 : reply.status === 401;
    const foreign = isDeclared ? [] : [`${reply.status} for a token that is ${token}: ${reply.body}`];
    return [...replyProblems(operation, reply), ...foreign];
  };
  const runs = Math.ceil(REQUESTS / BATCH);
  let [run, before] = [0, 0];
  const property = fc.asyncProperty(
    fc.array(one, { minLength: BATCH, maxLength: BATCH }),
    async (requests) => {
      run += 1;
      if (run === Math.ceil(runs / 2)) before = await memory();
      const problems = (await Promise.all(requests.map(problemsOf))).flat();
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  );
  // On failure fast-check says what was sent, and from which seed it can be had again.
  await t.resolves(fc.assert(property, { numRuns: runs, endOnFailure: true }));
  for (const name of all) t.ok((statuses[name] ?? 0) > 0, `${name}: ${statuses[name]}`);
  const grown = (await memory()) - before;
  t.ok(grown < 5_000_000, `${grown} bytes`);
  const found = await engine.run(
    'SELECT DISTINCT company, token FROM applied_changes WHERE token IS NOT NULL',
  );
  t.strictSame(found, [{ company: 'company-1', token: limited.id }], 'nothing foreign comes in');
  t.strictSame(await engine.run("SELECT id FROM jobs WHERE company <> 'company-1'"), []);
  t.strictSame((await engine.run('SELECT id FROM companies')).length, 2);
  t.strictSame(await door.apply([job('company-1', 999)]), ['1 c999 applied']);
});

/** The bytes that this process holds, once the collector has been through. */
async function memory(): Promise<number> {
  setFlagsFromString('--expose-gc');
  // It isn't there unless it is asked for.
  const collect = runInNewContext('gc') as () => void;
  for (let turns = 0; turns < 5; turns += 1) {
    collect();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
