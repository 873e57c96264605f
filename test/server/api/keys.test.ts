import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { createKey, revokeKey } from '../../../src/server/access/keys.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { engineNames, KEY_PREFIX, keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';

async function start(t: Test, name: (typeof engineNames)[number]) {
  const { database, server, engine } = await startEmptyServer(t, name);
  for (const company of ['own', 'other']) await createCompany(engine, company, {}, STORY_NOW);
  const ask = async (authorization: string) => {
    const { statusCode, headers, body } = await server.http('api/v1/jobs', { headers: { authorization } });
    const { error } = JSON.parse(body) as { error?: { code: string } };
    return { answer: `${statusCode} ${error?.code ?? 'ok'}`, headers };
  };
  return { database, engine, ask };
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

/** Keys that are wrong in a way that the suite doesn't try (test/contract/_access-checks.ts), which has no second key. */
function wrongKeys(key: string, otherKey: string): Record<string, string> {
  const [prefix = '', company = '', id = '', secret = ''] = key.split('.');
  const [, , otherId = '', otherSecret = ''] = otherKey.split('.');
  const keyOf = (...parts: string[]) => [prefix, ...parts].join('.');
  return {
    'an empty key': '',
    'another company': keyOf('other', id, secret),
    'a company with a wildcard': keyOf('%', id, secret),
    'the id of another key': keyOf(company, otherId, secret),
    'the secret of another key': keyOf(company, id, otherSecret),
    'the hash of nothing as the secret': keyOf(company, 'unknown', ''),
    'too few full stops': keyOf(company, `${id}${secret}`),
    'a doubled full stop': key.replace('.', '..'),
    'a very long company': keyOf('a'.repeat(8_000), id, secret),
    'letters beyond ASCII': keyOf(company, id, `${secret.slice(0, -1)}é`),
    'a quotation mark': keyOf(`${company}'--`, id, secret),
    'a percent escape': encodeURIComponent(`${key} `),
    'two keys': `${otherKey},${key}`,
  };
}

for (const name of engineNames) {
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
    const third = await keyAndId(other, 'own');
    t.equal((await ask(`Bearer ${third.key}`)).answer, '200 ok', 'a key that another process made works');
  });
}

t.test('a key of which any part is of another is an invalid key', async (t) => {
  const { engine, ask } = await start(t, 'sqlite');
  const key = await keyFor(engine, 'own');
  t.equal((await ask(`Bearer ${key}`)).answer, '200 ok', 'the key itself is right');
  for (const [which, wrong] of Object.entries(wrongKeys(key, await keyFor(engine, 'own')))) {
    const { answer, headers } = await ask(`Bearer ${wrong}`);
    t.equal(answer, '401 invalid_key', which);
    t.equal(headers['www-authenticate'], 'Bearer', which);
  }
});
