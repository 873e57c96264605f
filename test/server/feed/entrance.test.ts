import { setTimeout as pause } from 'node:timers/promises';

import got from 'got';

import { revokeFeedToken } from '../../../src/server/features/feed-tokens/stored-feed-tokens.ts';
import { createLogger } from '../../../src/server/process/log.ts';
import { until } from '../../_command.ts';
import { keyFor, startTestServer, STORY_NOW } from '../../_server.ts';
import { connectTo, type RawConnection } from '../../_socket.ts';
import { customerSave, jobCreate } from '../backoffice/_changes.ts';
import {
  bearer,
  errorIn,
  headOf,
  onEachDoor,
  onDoor,
  openDoor,
  portOf,
  replyProblems,
  tokenFor,
} from './_door.ts';

onDoor('only a right token is let in, and only here', async (t, door) => {
  const { engine, company } = door;
  const key = await keyFor(engine, company.id);
  const revoked = await tokenFor(engine);
  await revokeFeedToken(engine, revoked.id, STORY_NOW);
  const [prefix = '', id = '', secret = ''] = door.token.split('.');
  const wrong: [what: string, headers: Record<string, string>, code: string][] = [
    ['none', { authorization: '' }, 'invalid_key'],
    ['another scheme', { authorization: `Basic ${door.token}` }, 'invalid_key'],
    ['an API key', bearer(key), 'invalid_key'],
    ['an unknown id', bearer([prefix, '000000000000', secret].join('.')), 'invalid_key'],
    ['a wrong secret', bearer([prefix, id, `${secret.slice(1)}x`].join('.')), 'invalid_key'],
    ['no secret', bearer(`${prefix}.${id}.`), 'invalid_key'],
    ['another prefix', bearer(['fl', id, secret].join('.')), 'invalid_key'],
    ['more parts', bearer(`${door.token}.x`), 'invalid_key'],
    ['a very long one', bearer('x'.repeat(8_000)), 'invalid_key'],
    ['a revoked one', bearer(revoked.token), 'revoked_key'],
    ['a revoked one with a wrong secret', bearer(`${revoked.token}x`), 'invalid_key'],
  ];
  const change = { id: '1', company: company.id, ...customerSave({ id: 'cus_2' }) };
  for (const [what, headers, code] of wrong) {
    const replies = [
      await door.post([change], headers),
      await door.get(`changes/1?company=${company.id}`, headers),
      await door.get(`position?company=${company.id}&source=s`, headers),
    ];
    for (const { status, body, headers: answered } of replies)
      t.strictSame([status, answered['www-authenticate'], errorIn(body).code], [401, 'Bearer', code], what);
  }
  t.equal(await company.record('customers', 'cus_2'), undefined);
  await using server = await startTestServer({ engine });
  const elsewhere = { headers: bearer(door.token) };
  t.equal((await server.http('api/v1/customers', elsewhere)).statusCode, 401, 'it is no API key');
  t.equal((await server.http.post('feed/v1/changes', { ...elsewhere, json: [change] })).statusCode, 404);
  const api = await got(`${door.url}/api/v1/customers`, { headers: bearer(key), throwHttpErrors: false });
  t.equal(api.statusCode, 404, 'the API is not on the port of the feed');
  t.equal((await got(`${door.url}/readyz`)).statusCode, 200, 'which a load balancer can ask for its state');
});

onEachDoor('what became of a change is told with its record as it is now', async (t, door) => {
  const { id: company } = door.company;
  const ids = ['1', 'a/b?c#d', '100 %', 'ü'.repeat(200), '..x'];
  await door.apply(
    ids.map((id, number) => ({ id, company, ...jobCreate({ id: `job_${number}`, title: 'Old' }) })),
  );
  await door.company.apply({ change: 'job.update', with: { id: 'job_0', title: 'New' } });
  const ask = (id: string) => door.get(`changes/${encodeURIComponent(id)}?company=${company}`);
  const { status, body } = await ask('1');
  const record = await door.company.record('jobs', 'job_0');
  const about = { id: '1', company, change: 'job.create', status: 'applied' };
  t.equal(status, 200);
  t.strictSame(JSON.parse(body), { ...about, appliedAt: STORY_NOW.toISOString(), record });
  t.equal(record?.title, 'New');
  for (const id of ids) t.match(JSON.parse((await ask(id)).body), { id, record: { updatedAt: /Z$/ } });
  for (const id of ['2', 'x'.repeat(201), '\u0000', '\n']) t.equal((await ask(id)).status, 404);
});

onDoor('parameters keep to their rules', async (t, door) => {
  const { id: company } = door.company;
  const wrong: [query: string, message: RegExp][] = [
    ['', /^company must be given once, with 1 to 64 characters that can be seen\.$/],
    [`company=${company}`, /^source must be given once, with 1 to 100 characters/],
    [`company=${company}&source=`, /^source must/],
    [`company=${company}&source=a&source=b`, /^source must/],
    [`company=${company}&source=${'x'.repeat(101)}`, /^source must/],
    [`company=${company}&source=a%00b`, /^source must/],
    ['company=%0a&source=a', /^company must/],
    [`company=${company}&source=a&sauce=b`, /^"sauce" is not a parameter of this .*; did you mean source\?$/],
    [`company=${company}&source=%ff`, /^The parameter "source=%ff" has bytes that are not UTF-8\.$/],
    [`company=${company}&source=a%C3&x=%zz`, /^The parameter "source=a%C3" has bytes/],
    ...[' ', '\u007f', '\u0085', '\u00ad', '\u200b', '\u2028', '\u2060', '\u3164', '\ufeff'].map(
      (unseen): [string, RegExp] => [
        `company=${company}&source=${encodeURIComponent(unseen)}`,
        /^source must/,
      ],
    ),
    [`company=${company}&source=a&__proto__=b`, /^"__proto__" is not a parameter/],
    [`company=${company}&source[x]=a`, /^(?:source must|"source\[x\]" is not)/],
  ];
  for (const [query, message] of wrong) {
    const { status, body } = await door.get(`position?${query}`);
    t.equal(status, 400, query);
    t.match(errorIn(body), { code: 'invalid_parameter', message }, query);
  }
});

onDoor('HEAD has the headers of GET and no body', async (t, door) => {
  const { id: company } = door.company;
  await door.apply([{ id: '1', company, ...jobCreate({ id: 'job_1' }) }]);
  const paths = [
    `changes/1?company=${company}`,
    `position?company=${company}&source=ä`,
    'changes/2?company=no',
  ];
  for (const path of [...paths, `position?company=${company}`, `position?company=${company}&source=%ff`]) {
    const asked = { ...quiet, headers: bearer(door.token) };
    const got1 = await got(`${door.url}/feed/v1/${path}`, asked);
    const head = await got.head(`${door.url}/feed/v1/${path}`, asked);
    const shown = ({ statusCode, headers }: typeof head) => [
      ...[statusCode, headers['content-type'], headers['content-length']],
    ];
    t.strictSame([...shown(head), head.body], [...shown(got1), ''], path);
  }
});

const quiet = { throwHttpErrors: false, retry: { limit: 0 } };

onDoor('a path that is none gets 404, and a method 405', async (t, door) => {
  const { token } = door;
  const replyTo = async (path: string, given: object) => {
    const { statusCode: status, headers, body } = await got(`${door.url}/${path}`, { ...quiet, ...given });
    return { status, headers, body };
  };
  const others = 'feed feed/v1 feed/v1/changes/ feed/v1/Changes feed/v2/changes feed//v1/changes';
  const parts = ['feed/v1/changes/a/b', 'feed/v1/changes/%', 'feed/v1/changes/%e9?company=a'];
  for (const path of ['', 'metrics', ...others.split(' '), ...parts]) {
    const reply = await replyTo(path, { headers: bearer(token) });
    t.equal(reply.status, 404, path);
    t.strictSame(replyProblems(undefined, reply), [], path);
  }
  const methods = [
    ['feed/v1/changes', 'POST'],
    ['feed/v1/changes/1', 'GET, HEAD'],
    ['feed/v1/position', 'GET, HEAD'],
  ] as const;
  const all = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
  for (const [path, allowed] of methods)
    for (const method of all.filter((name) => !allowed.includes(name))) {
      const reply = await replyTo(path, { method });
      t.strictSame([reply.status, reply.headers.allow], [405, allowed], `${method} ${path}`);
      if (method !== 'HEAD') t.strictSame(replyProblems(undefined, reply), []);
    }
});

onDoor('a token has a number of requests in a minute, and of requests at once', async (t, door) => {
  const { engine, token } = door;
  const second = await tokenFor(engine);
  await using slow = await openDoor(engine, token, { requestsPerMinute: 2 });
  const path = `position?company=${door.company.id}&source=s`;
  const ask = async (token: string) => slow.get(path, bearer(token));
  t.strictSame([(await ask(token)).status, (await ask(token)).status], [200, 200]);
  const { status, headers, body } = await ask(token);
  t.equal(status, 429);
  t.match(Number(headers['retry-after']) > 50, true);
  t.match(errorIn(body), {
    code: 'rate_limited',
    message: /^This feed token may send 2 requests a minute\. Wait \d+ seconds\.$/,
  });
  t.equal((await ask(second.token)).status, 200, 'another token has its own');

  const held: RawConnection[] = [];
  for (let count = 0; count < 8; count += 1) {
    const connection = await connectTo(portOf(door));
    connection.send(headOf('POST /feed/v1/changes', token, 'Content-Length: 2'));
    held.push(connection);
  }
  let busy = await door.get(path);
  while (busy.status !== 429) busy = await door.get(path);
  t.match(errorIn(busy.body).message, 'This feed token may have 8 requests under way. Wait a second.');
  t.equal((await door.get(path, bearer(second.token))).status, 200);
  for (const connection of held) connection[Symbol.dispose]();
  while (busy.status !== 200) busy = await door.get(path);
  t.pass('whose end makes room');
});

onDoor('the log has a line for each request, and no secret or body', async (t, { engine, company }) => {
  const { token, id } = await tokenFor(engine);
  const log = createLogger('silent');
  const lines: object[] = [];
  for (const level of ['info', 'error', 'warn'] as const)
    log[level] = (line: object, message?: string) => void lines.push({ ...line, message });
  await using door = await openDoor(engine, token, { log });
  const change = { id: '1', company: company.id, ...jobCreate({ id: 'job_1', title: 'A secret title' }) };
  const { headers } = await door.post([change, change, { ...change, company: 'x' }]);
  await door.post('[', {});
  const requestId = headers['x-request-id'];
  const about = { method: 'POST', operation: 'applyChanges', token: id, message: 'feed.answered' };
  t.match(lines, [
    { ...about, requestId, status: 200, applied: 1, skipped: 1, refused: 1 },
    { ...about, status: 400, code: 'invalid_request' },
  ]);
  t.notMatch(JSON.stringify(lines), /secret title|fl-feed/);
});

onDoor('whoever hangs up has no request under way, and nothing more done', async (t, door) => {
  const { id: company } = door.company;
  const send = async (line: string, body = '') => {
    const connection = await connectTo(portOf(door));
    connection.send(`${headOf(line, door.token, `Content-Length: ${body.length}`)}${body}`);
    return connection;
  };
  const path = `position?company=${company}&source=s`;
  for (let count = 0; count < 50; count += 1) {
    const connection = await send(`GET /feed/v1/${path}`);
    await pause(count % 4);
    connection[Symbol.dispose]();
  }
  await until(async () => (await door.get(path)).status === 200);
  const jobs = Array.from({ length: 1_000 }, (_, number) => ({ id: `c${number}`, company, ...jobCreate() }));
  const countJobs = async () => Number((await door.engine.run('SELECT COUNT(*) AS jobs FROM jobs'))[0]?.jobs);
  const connection = await send('POST /feed/v1/changes', JSON.stringify(jobs));
  await until(async () => (await countJobs()) > 0);
  connection[Symbol.dispose]();
  let [before, after] = [0, await countJobs()];
  while (before !== after) {
    await pause(200);
    [before, after] = [after, await countJobs()];
  }
  t.ok(after < 1_000, `${after} of 1,000 were applied`);
});
