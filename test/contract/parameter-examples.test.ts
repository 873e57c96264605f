import t from 'tap';

import { engineNames, startExampleServer } from '../_server.ts';
import { operations } from './_contract.ts';
import type { Parameter } from './_contract.ts';

for (const engine of engineNames) {
  t.test(`every example of a parameter works, each list's own cursor included (${engine})`, async (t) => {
    await using server = await startExampleServer(engine);
    const headers = { authorization: `Bearer ${server.key}` };
    const cursors = new Map<string, unknown>();
    for (const { operationId, path, parameters } of operations) {
      const exampleOf = (name: string) => String(parameters.find((one) => one.name === name)?.example);
      const target = path.slice(1).replaceAll(/\{(\w+)\}/g, (_match, name: string) => exampleOf(name));
      const asked: (Parameter | undefined)[] = [undefined, ...parameters.filter((one) => one.in === 'query')];
      for (const parameter of asked) {
        const searchParams = parameter ? { [parameter.name]: String(parameter.example) } : {};
        const { statusCode } = await server.http(target, { headers, searchParams });
        t.equal(statusCode, 200, `${operationId} ${parameter?.name ?? ''}`);
        if (parameter?.name === 'cursor') cursors.set(operationId, parameter.example);
      }
    }
    t.equal(cursors.size, 7);
    t.equal(new Set(cursors.values()).size, 7, 'no two lists show the same cursor');
  });
}

t.test('the examples of X-Request-Id and ETag are such as the server sends', async (t) => {
  await using server = await startExampleServer('sqlite');
  const { headers } = await server.http('api/v1/jobs', {
    headers: { authorization: `Bearer ${server.key}` },
    decompress: false,
  });
  const etag = /^"[A-Za-z0-9_-]{27}"$/;
  t.match(headers.etag, etag);
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  t.match(headers['x-request-id'], uuid);
  for (const { operationId, responses } of operations) {
    for (const [status, response] of Object.entries(responses))
      t.match(response.headers?.['X-Request-Id']?.example, uuid, `${operationId} ${status}`);
    t.match(responses['200']?.headers?.['ETag']?.example, etag, operationId);
  }
});
