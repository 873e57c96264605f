import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { revokeKey } from '../../../src/server/features/keys/keys.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { engineNames, keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';

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
    const [first, second] = [await keyFor(engine, 'own'), await keyFor(engine, 'own')];
    const idOf = (key: string) => key.split('.')[2] ?? '';
    t.equal((await ask(`Bearer ${first}`)).answer, '200 ok');
    await revokeKey(engine, 'own', idOf(first), STORY_NOW);
    const revoked = await ask(`Bearer ${first}`);
    t.equal(revoked.answer, '401 revoked_key');
    t.equal(revoked.headers['www-authenticate'], 'Bearer');
    t.equal((await ask(`Bearer ${second}`)).answer, '200 ok', 'another key goes on');
    await using other = await openEngine(database.url);
    await revokeKey(other, 'own', idOf(second), STORY_NOW);
    t.equal((await ask(`Bearer ${second}`)).answer, '401 revoked_key', 'revoked by another process');
    const third = await keyFor(other, 'own');
    t.equal((await ask(`Bearer ${third}`)).answer, '200 ok', 'a key that another process made works');
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
