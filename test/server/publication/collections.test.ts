import t, { type Test } from 'tap';

import { contractOperations } from '../../../src/contract/document.ts';
import { startExampleServer } from '../../_server.ts';
import { otherNames } from './_acme.ts';

/*
 * Every request in the collections for Postman and Bruno is answered by the example company as they say. That their programs
 * take them is tried before a release (test/interop/collections.test.ts).
 */

const server = await startExampleServer('sqlite', { serviceName: 'Acme', baseUrl: 'https://api.acme.test' });
t.teardown(() => server[Symbol.asyncDispose]());

/** A request as either collection has it. */
interface Collected {
  name: string;
  url: string;
  parameters: { name: string; value: string; isInPath: boolean; isOn: boolean }[];
  examples: { name: string; url: string; body: string }[];
}

interface PostmanItem {
  name: string;
  item?: PostmanItem[];
  request: {
    url: {
      raw: string;
      query: { key: string; value: string; disabled: boolean }[];
      variable: { key: string; value: string }[];
    };
  };
  response: { name: string; originalRequest: { url: string }; body: string }[];
}

function ofPostman({ name, request: { url }, response }: PostmanItem): Collected {
  const { raw, query, variable } = url;
  return {
    name,
    url: raw,
    parameters: [
      ...query.map(({ key, value, disabled }) => ({
        ...{ name: key, value, isInPath: false, isOn: !disabled },
      })),
      ...variable.map(({ key, value }) => ({ name: key, value, isInPath: true, isOn: true })),
    ],
    examples: response.map(({ originalRequest, ...example }) => ({ ...example, url: originalRequest.url })),
  };
}

interface BrunoRequest {
  url: string;
  params: { name: string; value: string; type: 'path' | 'query'; enabled: boolean }[];
}

interface BrunoItem {
  name: string;
  items?: BrunoItem[];
  request: BrunoRequest;
  examples: { name: string; request: BrunoRequest; response: { body: { content: string } } }[];
}

function ofBruno({ name, request, examples }: BrunoItem): Collected {
  return {
    name,
    url: request.url,
    parameters: request.params.map(({ type, enabled, ...parameter }) => ({
      ...{ ...parameter, isInPath: type === 'path', isOn: enabled },
    })),
    examples: examples.map(({ name, request: { url }, response }) => ({
      ...{ name, url, body: response.body.content },
    })),
  };
}

/** The requests in folders, at any depth. */
const requestsIn = <Item extends { item?: Item[]; items?: Item[] }>(items: readonly Item[]): Item[] =>
  items.flatMap((item) => {
    const inner = item.item ?? item.items;
    return inner ? requestsIn(inner) : [item];
  });

/** The values that people fill in. */
const variables: Record<string, string> = { baseUrl: server.url, apiKey: server.key };
const filled = (text: string) =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => variables[name] ?? '');
const ask = (url: string) => fetch(filled(url), { headers: { authorization: filled('Bearer {{apiKey}}') } });

const declared = contractOperations().map(({ path, parameters }) => [
  path.replaceAll(/\{(\w+)\}/g, ':$1'),
  parameters.map(({ name }) => name).sort(),
]);

async function judge(t: Test, requests: readonly Collected[]): Promise<void> {
  const known = requests.map(({ url, parameters }) => [
    url.replace('{{baseUrl}}', ''),
    parameters.map(({ name }) => name).sort(),
  ]);
  t.strictSame(known.sort(), declared.sort(), 'every operation with every parameter');
  for (const { name, url, parameters, examples } of requests) {
    // Only what the path needs is filled in; the rest waits to be switched on.
    for (const { isInPath, isOn } of parameters) t.equal(isOn, isInPath, name);
    const path = parameters
      .filter(({ isInPath }) => isInPath)
      .reduce((text, parameter) => text.replace(`:${parameter.name}`, parameter.value), url);
    t.equal((await ask(path)).status, 200, name);
    for (const example of examples)
      t.strictSame(await (await ask(example.url)).json(), JSON.parse(example.body), example.name);
  }
}

t.test('every request in the collection for Postman is answered as it says', async (t) => {
  const { body } = await server.http('postman.json');
  const { info, item, variable } = JSON.parse(body) as {
    info: { name: string };
    item: PostmanItem[];
    variable: object[];
  };
  t.equal(info.name, 'Acme API');
  t.match(variable, [
    { key: 'baseUrl', value: 'https://api.acme.test' },
    { key: 'apiKey', value: '' },
  ]);
  await judge(t, requestsIn(item).map(ofPostman));
  t.strictSame(otherNames(body), [], 'and it names no other service');
});

t.test('every request in the collection for Bruno is answered as it says', async (t) => {
  const { body } = await server.http('bruno.json');
  const { name, items } = JSON.parse(body) as { name: string; items: BrunoItem[] };
  t.equal(name, 'Acme API');
  const requests = requestsIn(items);
  await judge(t, requests.map(ofBruno));
  // Bruno shows the query of an address in a table of its own, too.
  for (const { request } of requests.flatMap(({ examples }) => examples)) {
    const [, query = ''] = request.url.split('?');
    t.strictSame(
      request.params.map(({ name, value }) => [name, value]),
      [...new URLSearchParams(query)],
    );
  }
  t.strictSame(otherNames(body), [], 'and it names no other service');
});
