import { randomUUID } from 'node:crypto';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { purge } from '../../../../src/server/commands/purge.ts';
import { revokeKey } from '../../../../src/server/features/keys/keys.ts';
import { openKeyUsage } from '../../../../src/server/features/usage/key-usage.ts';
import { type KeyRequest, listKeyRequests } from '../../../../src/server/features/usage/stored-requests.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { until } from '../../../_command.ts';
import { keyFor, STORY_NOW } from '../../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  makeKey,
  onEachEngine,
  onSqlite,
  PASSWORD,
} from '../../portal/_portal.ts';
import type { TestPortal } from '../../portal/_portal.ts';

const DAY_MS = 86_400_000;
const ALL = { key: '', status: '', code: '', id: '', before: '' };
const daysAgo = (days: number, ms = 0) => new Date(STORY_NOW.getTime() - days * DAY_MS + ms);
const idOf = (key: string) => key.split('.')[2] ?? '';

function listAll(engine: Engine, limit = 60_000, company = COMPANY): Promise<KeyRequest[]> {
  const span = { from: new Date(0), until: daysAgo(-1), limit };
  return listKeyRequests(engine, company, ALL, span);
}

/** Asks the API, and gives the id of the request. */
async function ask({ http }: TestPortal, key: string, path: string, method: 'GET' | 'HEAD' = 'GET') {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await http(`api/v1/${path}`, { method, headers });
  return `${answer.statusCode} ${String(answer.headers['x-request-id'])}`;
}

/** Waits until so many requests are written: one is noted when its answer is gone, which its client sees first. */
async function written({ engine, usage }: TestPortal, count: number): Promise<void> {
  await until(async () => {
    await usage.flush();
    return (await listAll(engine)).length >= count;
  });
}

/** The rows of the table as texts, the newest first. */
const rowsIn = (shown: string) =>
  [...shown.matchAll(/<tr role="row">\s*<td.*?<\/tr>/gs)].map(([row]) =>
    row
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );

onEachEngine(
  'the list says of each request with a known key what was asked and how it was answered',
  { rateLimitPerMinute: 4 },
  async (t, portal) => {
    const { engine } = portal;
    const visitor = await portal.signedIn();
    t.match(await visitor.read('/portal/requests'), /No requests/);
    const busy = await keyFor(engine, COMPANY);
    const narrow = await keyFor(engine, COMPANY, ['people:read']);
    const secret = 'a-value-of-theirs';
    const wanted: string[] = [];
    const row = (key: string, method: string, path: string, status: string, id: string) => {
      const [answered, requestId] = id.split(' ');
      t.equal(answered, status.slice(0, 3), path);
      wanted.push(`${method} ${path} ${status} Test ${idOf(key)} ${requestId}`);
    };
    row(busy, 'GET', '/api/v1/jobs', '200', await ask(portal, busy, 'jobs?limit=1'));
    row(busy, 'HEAD', '/api/v1/jobs', '200', await ask(portal, busy, 'jobs', 'HEAD'));
    const one = '/api/v1/jobs/{jobId}';
    row(busy, 'GET', one, '404 not_found', await ask(portal, busy, `jobs/${secret}`));
    const bad = await ask(portal, busy, `jobs?limit=${secret}`);
    row(busy, 'GET', '/api/v1/jobs', '400 invalid_parameter', bad);
    row(busy, 'GET', '/api/v1/jobs', '429 rate_limited', await ask(portal, busy, 'jobs'));
    row(narrow, 'GET', '/api/v1/jobs', '403 missing_scope', await ask(portal, narrow, 'jobs'));
    await revokeKey(engine, COMPANY, idOf(narrow), STORY_NOW);
    row(narrow, 'GET', '/api/v1/people', '401 revoked_key', await ask(portal, narrow, 'people'));
    await ask(portal, `${busy}x`, 'jobs');
    await ask(portal, busy, `${secret}/nowhere`);
    await written(portal, wanted.length);

    const requests = await listAll(engine);
    const told = requests.map(
      ({ method, operation, status, code, keyId, id }) =>
        `${method} ${operation} ${[status, code].join(' ').trim()} Test ${keyId} ${id}`,
    );
    t.strictSame(told.sort(), wanted.sort(), 'a wrong key and a wrong address are nobody’s');
    t.ok(requests.every(({ ms }) => Number.isInteger(ms) && ms >= 0));
    t.notMatch(JSON.stringify(await engine.run('SELECT * FROM key_requests')), secret);

    await visitor.visit('/portal/requests');
    t.equal(rowsIn(visitor.shown).length, wanted.length);
    const missing = rowsIn(visitor.shown).find((text) => text.includes(' 404 not_found '));
    t.match(
      missing,
      /^GET \/api\/v1\/jobs\/\{jobId\} [\w-]{36} 20 Nov 2026, 12:00:00 404 not_found Test \d+.*ms$/,
    );
    t.notMatch(visitor.shown, secret);
    const count = async (query: string) => {
      await visitor.visit(`/portal/requests?${query}`);
      return rowsIn(visitor.shown).length;
    };
    t.equal(await count(`key=${idOf(narrow)}`), 2);
    t.match(visitor.shown, new RegExp(`<option value="${idOf(narrow)}" selected>`), 'an ended key too');
    t.equal(await count('status=4xx'), 5);
    t.equal(await count('status=404'), 1);
    t.equal(await count('code=revoked_key'), 1);
    t.equal(await count(`id=%20${bad.split(' ')[1]}`), 1);
    t.equal(await count('id=nowhere'), 0);
    t.equal(await count(`key=${idOf(busy)}&status=2xx&day=2026-11-20`), 2);
    t.equal(await count('day=2026-11-19'), 0);
    const wrong = '/portal/requests?status=nonsense&day=2026-11-01&code=nonsense';
    t.equal((await visitor.visit(wrong)).statusCode, 422);
    t.equal(visitor.shown.match(/isn’t one of these/g)?.length, 3, 'each at its field');
    t.equal((await visitor.visit('/portal/requests?key=%00')).statusCode, 400, 'what no database stores');

    for (const place of ['keys', 'usage']) {
      await visitor.visit(`/portal/${place}`);
      for (const key of [busy, narrow]) t.match(visitor.shown, `"/portal/requests?key=${idOf(key)}"`, place);
    }
    await createCompany(engine, 'acme', {}, STORY_NOW);
    await addAdministrator(engine, { email: 'x@acme.example', password: PASSWORD, company: 'acme' });
    const other = await portal.signedIn({ email: 'x@acme.example', password: PASSWORD });
    t.match(await other.read(`/portal/requests?key=${idOf(busy)}`), /No requests/);
    t.notMatch(other.shown, `(…${idOf(busy).slice(-4)})`);
  },
);

/** Notes so many requests of a key, one a millisecond, as they come within one flush. */
async function noteMany(engine: Engine, keyId: string, count: number, code: string | null = null) {
  let at = STORY_NOW.getTime();
  const usage = openKeyUsage(engine, {
    now: () => new Date((at += 1)),
    onError: (error) => {
      throw error;
    },
  });
  const asked = { method: 'GET', operation: '/api/v1/jobs', status: code === null ? 200 : 429, ms: 0.6 };
  for (let index = 0; index < count; index += 1)
    usage.note({ company: COMPANY, keyId, id: randomUUID(), code, ...asked });
  await usage[Symbol.asyncDispose]();
}

onSqlite('requests are told from the newest on, page by page, each once', async (t, portal) => {
  const { id } = await makeKey(portal.engine);
  await noteMany(portal.engine, id, 120);
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/requests?status=2xx');
  const seen: string[] = [];
  for (let page = 1; page <= 3; page += 1) {
    seen.push(...rowsIn(visitor.shown).map((text) => /\S{36}/.exec(text)?.[0] ?? ''));
    t.equal(await visitor.turnPage(), page < 3, `page ${page}`);
  }
  const rows = await listAll(portal.engine);
  t.strictSame(
    seen,
    rows.map((request) => request.id),
  );
  t.ok(rows.every(({ at }, index) => index === 0 || at < (rows[index - 1]?.at ?? '')));
});

onEachEngine(
  'a flood of one key is cut short, and requests of no key are not kept',
  async (t, { engine }) => {
    const keys = [await makeKey(engine), await makeKey(engine)] as const;
    await noteMany(engine, keys[0].id, 2_000);
    await noteMany(engine, keys[1].id, 2_000, 'rate_limited');
    await noteMany(engine, 'erased', 5);
    const rows = await listAll(engine);
    const of = (key: string) => rows.filter(({ keyId }) => keyId === key).length;
    t.strictSame([of(keys[0].id), of(keys[1].id), of('erased')], [500, 10, 0]);
  },
);

onEachEngine(
  'a company keeps 50,000 requests, the newest, and none for longer than 7 days',
  async (t, { engine }) => {
    const { id } = await makeKey(engine);
    const fill = (company: string, day: Date, count: number) =>
      engine.run(`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      INSERT INTO key_requests (company, at, id, key_id, method, operation, status, code, ms)
      SELECT '${company}', '${day.toISOString()}', substr(CAST(1000000 + n AS TEXT), 2), '${id}', 'GET', '/api/v1/jobs', 200, NULL, 1 FROM numbers`);
    await fill(COMPANY, daysAgo(1), 50_600);
    await fill('another', daysAgo(7, -1), 600);
    await fill('another', daysAgo(7), 1);
    await noteMany(engine, id, 200);
    const kept = await listAll(engine);
    t.equal(kept.length, 50_000);
    t.equal(kept.at(-1)?.id, '000801', 'the oldest go first');
    const begun = performance.now();
    const rare = await listKeyRequests(
      engine,
      COMPANY,
      { ...ALL, code: 'not_found' },
      { from: daysAgo(7), until: daysAgo(-1), limit: 51 },
    );
    t.comment(`${performance.now() - begun} ms for none of 50,000`);
    t.strictSame(rare, []);
    await purge(engine, () => STORY_NOW);
    t.equal((await listAll(engine)).length, 50_000);
    t.equal((await listAll(engine, 60_000, 'another')).length, 1);
  },
);
