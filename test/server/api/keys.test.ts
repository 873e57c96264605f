import t from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';

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

t.test('a key of which any part is of another is an invalid key', async (t) => {
  const { server, engine } = await startEmptyServer(t, 'sqlite');
  for (const company of ['own', 'other']) await createCompany(engine, company, {}, STORY_NOW);
  const ask = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await server.http('api/v1/jobs', { headers });
    const { error } = JSON.parse(answer.body) as { error?: { code: string } };
    return [answer.statusCode, error?.code, answer.headers['www-authenticate']];
  };
  const key = await keyFor(engine, 'own');
  t.strictSame(await ask(key), [200, undefined, undefined], 'the key itself is right');
  for (const [which, wrong] of Object.entries(wrongKeys(key, await keyFor(engine, 'own'))))
    t.strictSame(await ask(wrong), [401, 'invalid_key', 'Bearer'], which);
});
