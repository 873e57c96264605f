import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { contractOperations } from '../../../src/contract/document.ts';
import { startExampleServer } from '../../_server.ts';
import { otherNames } from './_other-names.ts';

/*
 * The collections for Postman and Bruno are what their programs take, and every request in them is answered by the example
 * company as they say.
 */

const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'fieldledger-collections-'));
const server = await startExampleServer('sqlite', { serviceName: 'Acme', baseUrl: 'https://api.acme.test' });
t.teardown(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

interface Report {
  collection: { info: { name: string } };
  run: {
    executions: {
      item: { name: string };
      request: { url: { path: string[] } };
      response: { code: number };
    }[];
    failures: unknown[];
  };
}

interface PostmanItem {
  name: string;
  item?: PostmanItem[];
  request?: {
    url: { raw: string; query: { key: string; disabled: boolean }[]; variable: { key: string }[] };
  };
  response?: { name: string; originalRequest: { url: string }; body: string }[];
}

interface BrunoParam {
  name: string;
  value: string;
  type: 'path' | 'query';
  enabled: boolean;
}

interface BrunoItem {
  uid?: string;
  name: string;
  type: string;
  items?: BrunoItem[];
  request?: { url: string; params: BrunoParam[] };
  examples?: {
    name: string;
    request: { url: string; params: BrunoParam[] };
    response: { body: { content: string } };
  }[];
}

/** The values that people fill in. */
const variables: Record<string, string> = { baseUrl: server.url, apiKey: server.key };
const filled = (text: string) =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => variables[name] ?? '');
const ask = (url: string) => fetch(filled(url), { headers: { authorization: filled('Bearer {{apiKey}}') } });
/** The requests in folders, at any depth. */
const requestsIn = <Item extends { item?: Item[]; items?: Item[] }>(items: readonly Item[]): Item[] =>
  items.flatMap((item) => {
    const inner = item.item ?? item.items;
    return inner ? requestsIn(inner) : [item];
  });

const declared = new Map(
  contractOperations().map(({ path, parameters }) => [
    path.replaceAll(/\{(\w+)\}/g, ':$1'),
    parameters.map(({ name }) => name).sort(),
  ]),
);

t.test('Postman’s own program sends every request, and each is answered', async (t) => {
  const report = join(folder, 'report.json');
  const variable = ['--env-var', `baseUrl=${server.url}`, '--env-var', `apiKey=${server.key}`];
  const reporter = ['--reporters', 'json', '--reporter-json-export', report];
  const program = [require.resolve('newman/bin/newman.js'), 'run', `${server.url}/postman.json`];
  await promisify(execFile)(process.execPath, [...program, ...variable, ...reporter]);
  // It is newman's own report.
  const { collection, run } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  t.equal(collection.info.name, 'Acme API');
  t.strictSame(run.failures, []);
  t.equal(run.executions.length, contractOperations().length);
  for (const { item, response } of run.executions) t.equal(response.code, 200, item.name);
});

t.test('the collection for Postman has every parameter, and examples that are true', async (t) => {
  const { item, variable } = await server.http('postman.json').json<{
    item: PostmanItem[];
    variable: { key: string; value: string }[];
  }>();
  t.match(variable, [
    { key: 'baseUrl', value: 'https://api.acme.test' },
    { key: 'apiKey', value: '' },
  ]);
  const requests = requestsIn(item);
  const known = requests.map(({ request }) => {
    const { raw = '', query = [], variable = [] } = request?.url ?? {};
    return [raw.replace('{{baseUrl}}', ''), [...query, ...variable].map(({ key }) => key).sort()] as const;
  });
  t.strictSame(new Map([...known].sort()), new Map([...declared].sort()));
  const examples = requests.flatMap(({ response = [] }) => response);
  for (const { name, originalRequest, body } of examples)
    t.strictSame(await (await ask(originalRequest.url)).json(), JSON.parse(body), name);
});

t.test('Bruno takes its collection, and every request in it is answered as it says', async (t) => {
  const collection = await server.http('bruno.json').json<{ name: string; items: BrunoItem[] }>();
  t.equal(collection.name, 'Acme API');
  // CommonJS without types.
  const { collectionSchema } = require('@usebruno/schema') as {
    collectionSchema: { validate: (collection: unknown) => Promise<unknown> };
  };
  await collectionSchema.validate(withUids(collection));
  const requests = requestsIn(collection.items);
  const known = requests.map(({ request }) => {
    const { url = '', params = [] } = request ?? {};
    return [url.replace('{{baseUrl}}', ''), params.map(({ name }) => name).sort()] as const;
  });
  t.strictSame(new Map([...known].sort()), new Map([...declared].sort()));
  for (const { name, request, examples = [] } of requests) {
    const { url = '', params = [] } = request ?? {};
    const path = params
      .filter(({ type }) => type === 'path')
      .reduce((text, { name, value }) => text.replace(`:${name}`, value), url);
    t.ok(params.every(({ type, enabled }) => enabled === (type === 'path')));
    t.equal((await ask(path)).status, 200, name);
    for (const { name, request, response } of examples) {
      const [, query = ''] = request.url.split('?');
      t.strictSame(
        request.params.map(({ name, value }) => [name, value]),
        [...new URLSearchParams(query)],
      );
      t.strictSame(await (await ask(request.url)).json(), JSON.parse(response.body.content), name);
    }
  }
});

t.test('neither names another service', async (t) => {
  for (const path of ['postman.json', 'bruno.json']) {
    const { body } = await server.http(path);
    t.strictSame(otherNames(body), [], path);
  }
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
