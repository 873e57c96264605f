import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { createKey, listKeys, revokeKey } from '../../../src/server/access/keys.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { engineNames, KEY_PREFIX, keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';
import { customerOf, formOf, invoiceOf, jobOf, quoteOf, store, uuidOf } from './_records.ts';

async function start(t: Test, name: (typeof engineNames)[number]) {
  const { database, server, engine } = await startEmptyServer(t, name);
  for (const company of ['own', 'other']) await createCompany(engine, company, {}, STORY_NOW);
  const ask = async (authorization: string | undefined, path = 'api/v1/jobs') => {
    const { statusCode, headers, body } = await server.http(path, {
      headers: authorization === undefined ? {} : { authorization },
    });
    const isJson = headers['content-type'] === 'application/json';
    const { error } = (isJson ? JSON.parse(body) : {}) as { error?: { code: string } };
    return { answer: `${statusCode} ${error?.code ?? 'ok'}`, headers, body };
  };
  return { server, database, engine, ask };
}

async function keyAndId(engine: Engine, company: string): Promise<{ key: string; id: string }> {
  const { key, record } = await createKey(engine, {
    prefix: KEY_PREFIX,
    company,
    name: 'Test',
    scopes,
    now: STORY_NOW,
  });
  return { key, id: record.id };
}

/** Keys that are wrong in one part, and Authorization headers that hold no key at all. */
function wrongAuthorizations(key: string, otherKey: string): Record<string, string | undefined> {
  const [prefix = '', company = '', id = '', secret = ''] = key.split('.');
  const [, , otherId = '', otherSecret = ''] = otherKey.split('.');
  const wrongKeys: Record<string, string> = {
    'an empty key': '',
    'no prefix': [company, id, secret].join('.'),
    'an empty prefix': ['', company, id, secret].join('.'),
    'another prefix': ['xx', company, id, secret].join('.'),
    'a longer prefix': [`${prefix}x`, company, id, secret].join('.'),
    'an upper-case prefix': [prefix.toUpperCase(), company, id, secret].join('.'),
    'an empty company': [prefix, '', id, secret].join('.'),
    'an unknown company': [prefix, 'nobody', id, secret].join('.'),
    'another company': [prefix, 'other', id, secret].join('.'),
    'an upper-case company': [prefix, company.toUpperCase(), id, secret].join('.'),
    'a company with a wildcard': [prefix, '%', id, secret].join('.'),
    'an empty id': [prefix, company, '', secret].join('.'),
    'an unknown id': [prefix, company, '0'.repeat(12), secret].join('.'),
    'the id of another key': [prefix, company, otherId, secret].join('.'),
    'an upper-case id': [prefix, company, `${id.slice(0, -1)}F`, secret].join('.'),
    'an empty secret': [prefix, company, id, ''].join('.'),
    'a shorter secret': key.slice(0, -1),
    'a longer secret': `${key}A`,
    'an altered secret': key.slice(0, -2) + (key.at(-2) === 'A' ? 'B' : 'A') + key.slice(-1),
    'the secret of another key': [prefix, company, id, otherSecret].join('.'),
    'the hash of nothing as the secret': [prefix, company, 'unknown', ''].join('.'),
    'a secret in another case': [prefix, company, id, swapCase(secret)].join('.'),
    'too few full stops': [prefix, company, `${id}${secret}`].join('.'),
    'too many full stops': `${key}.`,
    'a part too many': `${key}.x`,
    'a doubled full stop': key.replace('.', '..'),
    'a very long secret': [prefix, company, id, 'A'.repeat(8_000)].join('.'),
    'a very long company': [prefix, 'a'.repeat(8_000), id, secret].join('.'),
    'letters beyond ASCII': [prefix, company, id, `${secret.slice(0, -1)}é`].join('.'),
    'a quotation mark': [prefix, `${company}'--`, id, secret].join('.'),
    'a percent escape': encodeURIComponent(`${key} `),
    'two keys': `${otherKey},${key}`,
  };
  return {
    ...Object.fromEntries(Object.entries(wrongKeys).map(([name, wrong]) => [name, `Bearer ${wrong}`])),
    'no header': undefined,
    'an empty header': '',
    'no scheme': key,
    'only the scheme': 'Bearer',
    'another scheme': `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
    'a scheme that begins alike': `BearerToken ${key}`,
    'a scheme without a space': `Bearer${key}`,
    'a parameter behind the key': `Bearer ${key} x=1`,
    'two keys with a space between': `Bearer ${otherKey} ${key}`,
    'quotation marks around the key': `Bearer "${key}"`,
  };
}

function swapCase(text: string): string {
  return [...text]
    .map((character) =>
      character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase(),
    )
    .join('');
}

for (const name of engineNames) {
  t.test(`a key that is wrong in any part is an invalid key (${name})`, async (t) => {
    const { engine, ask } = await start(t, name);
    const key = await keyFor(engine, 'own');
    const otherKey = await keyFor(engine, 'own');
    t.equal((await ask(`Bearer ${key}`)).answer, '200 ok', 'the key itself is right');
    for (const [which, authorization] of Object.entries(wrongAuthorizations(key, otherKey))) {
      const { answer, headers } = await ask(authorization);
      t.equal(answer, '401 invalid_key', which);
      t.equal(headers['www-authenticate'], 'Bearer', which);
    }
  });

  t.test(`the scheme may be written in any case and with several spaces (${name})`, async (t) => {
    const { engine, ask } = await start(t, name);
    const key = await keyFor(engine, 'own');
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR   '])
      t.equal((await ask(scheme + key)).answer, '200 ok', scheme);
  });

  t.test(`another company's record is answered exactly as a record that nobody has (${name})`, async (t) => {
    const { engine, ask } = await start(t, name);
    const key = await keyFor(engine, 'own');
    await store(engine, 'other', [
      jobOf({ id: 'job_1' }),
      customerOf({ id: 'cus_1' }),
      formOf({ id: 'form_1' }),
      invoiceOf({ id: uuidOf(1), issueDate: '2026-11-10' }),
      quoteOf({ id: uuidOf(1) }),
    ]);
    const otherKey = await keyFor(engine, 'other');
    const templates: [template: string, theirs: string, nobodys: string][] = [
      ['api/v1/jobs/ID', 'job_1', 'job_9'],
      ['api/v1/customers/ID', 'cus_1', 'cus_9'],
      ['api/v1/forms/ID/submissions', 'form_1', 'form_9'],
      ['api/v1/invoices/ID', uuidOf(1), uuidOf(9)],
      ['api/v1/invoices/ID/pdf', uuidOf(1), uuidOf(9)],
      ['api/v1/quotes/ID', uuidOf(1), uuidOf(9)],
    ];
    for (const [template, theirs, nobodys] of templates) {
      const path = template.replace('ID', theirs);
      t.not((await ask(`Bearer ${otherKey}`, path)).answer, '404 not_found', `${template}: the other has it`);
      const of = async (id: string) => {
        const { answer, body, headers } = await ask(`Bearer ${key}`, template.replace('ID', id));
        const changing = ['x-request-id', 'date', 'ratelimit'];
        const others = Object.entries(headers).filter(([name]) => !changing.includes(name));
        return { answer, body, others };
      };
      const expected = await of(nobodys);
      t.equal(expected.answer, '404 not_found', template);
      t.strictSame(await of(theirs), expected, `${template}: nothing tells them apart`);
    }
  });

  t.test(`a revoked key stops at once, also when another process revokes it (${name})`, async (t) => {
    const { database, engine, ask } = await start(t, name);
    const first = await keyAndId(engine, 'own');
    const second = await keyAndId(engine, 'own');
    t.equal((await ask(`Bearer ${first.key}`)).answer, '200 ok');
    await revokeKey(engine, 'own', first.id, STORY_NOW);
    const revoked = await ask(`Bearer ${first.key}`);
    t.equal(revoked.answer, '401 revoked_key');
    t.equal(revoked.headers['www-authenticate'], 'Bearer');
    t.equal((await ask(`Bearer ${second.key}`)).answer, '200 ok', 'another key goes on');
    await using other = await openEngine(database.url);
    await revokeKey(other, 'own', second.id, STORY_NOW);
    t.equal((await ask(`Bearer ${second.key}`)).answer, '401 revoked_key', 'revoked by another process');
    const wrong = first.key.slice(0, -2) + (first.key.at(-2) === 'A' ? 'B' : 'A') + first.key.slice(-1);
    t.equal((await ask(`Bearer ${wrong}`)).answer, '401 invalid_key', 'only the right secret learns of it');
    const third = await keyAndId(other, 'own');
    t.equal((await ask(`Bearer ${third.key}`)).answer, '200 ok', 'a key that another process made works');
    const active = (await listKeys(engine, 'own')).filter(({ revokedAt }) => revokedAt === null);
    t.strictSame(
      active.map(({ id }) => id),
      [third.id],
    );
  });
}

t.test('a key in the query, in a cookie or in another header is no key', async (t) => {
  const { server, engine } = await start(t, 'sqlite');
  const key = await keyFor(engine, 'own');
  for (const query of [`access_token=${key}`, `api_key=${key}`, `key=${key}`, key])
    t.equal((await server.http(`api/v1/jobs?${query}`)).statusCode, 401, query.slice(0, 12));
  const headers = { cookie: `key=${key}`, 'x-api-key': key, 'proxy-authorization': `Bearer ${key}` };
  t.equal((await server.http('api/v1/jobs', { headers })).statusCode, 401);
  const { hostname, port } = new URL(server.url);
  t.equal(
    (await server.http('api/v1/jobs', { prefixUrl: `http://${key}:@${hostname}:${port}` })).statusCode,
    401,
  );
  const both = await server.http(`api/v1/jobs?access_token=${key}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  t.equal(both.statusCode, 400, 'and beside the header it is an unknown parameter');
});
