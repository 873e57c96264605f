import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { contractOperations } from '../../src/contract/document.ts';
import { startExampleServer } from '../_server.ts';
import { programOf } from './_installed.ts';

/* Postman's own program and Bruno's own rules; what the collections hold is tested in test/server/publication. */

const server = await startExampleServer('sqlite', { serviceName: 'Acme' });
t.teardown(() => server[Symbol.asyncDispose]());

interface Report {
  collection: { info: { name: string } };
  run: { executions: { item: { name: string }; response: { code: number } }[]; failures: unknown[] };
}

t.test('Postman’s own program sends every request, and each is answered', async (t) => {
  const report = join(t.testdir(), 'report.json');
  const variables = ['--env-var', `baseUrl=${server.url}`, '--env-var', `apiKey=${server.key}`];
  const reporter = ['--reporters', 'json', '--reporter-json-export', report];
  const args = ['run', `${server.url}/postman.json`, ...variables, ...reporter];
  await promisify(execFile)(process.execPath, [programOf('newman'), ...args]);
  // It is newman's own report.
  const { collection, run } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  t.equal(collection.info.name, 'Acme API');
  t.strictSame(run.failures, []);
  t.equal(run.executions.length, contractOperations().length);
  for (const { item, response } of run.executions) t.equal(response.code, 200, item.name);
});

t.test('Bruno takes its collection', async (t) => {
  // CommonJS without types.
  const { collectionSchema } = createRequire(import.meta.url)('@usebruno/schema') as {
    collectionSchema: { validate: (collection: unknown) => Promise<unknown> };
  };
  await t.resolves(collectionSchema.validate(withUids(await server.http('bruno.json').json<object>())));
});

/** Bruno gives every part of a collection an id while it imports it. */
function withUids(collection: object): unknown {
  const uid = 'a'.repeat(21);
  return JSON.parse(JSON.stringify(collection), (_key, value: unknown) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    const isPart = 'name' in value || 'items' in value;
    return isPart ? { uid, ...value, ...('response' in value && { itemUid: uid }) } : value;
  });
}
