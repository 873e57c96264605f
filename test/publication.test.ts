import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import express from 'express';
import got, { type Got } from 'got';
import t from 'tap';
import { parse } from 'yaml';

import { contractOperations } from '../src/contract/document.ts';
import type * as publication from '../src/publication.ts';
import { openWorkplace } from './_command.ts';
import { openTestDatabase, startTestServer } from './_server.ts';

const root = join(import.meta.dirname, '..');

interface Document {
  openapi: string;
  servers: unknown;
  paths: Record<string, unknown>;
}

t.test('the contract is published twice, both times the same and naming this server', async (t) => {
  await using workplace = await openWorkplace();
  const BASE_URL = 'https://api.fieldledger.example';
  const { greeting } = await workplace.serve([], { BASE_URL, SERVICE_NAME: 'Acme' });
  const json = await got(`${greeting.address}/openapi.json`);
  const yaml = await got(`${greeting.address}/openapi.yaml`);
  t.equal(json.headers['content-type'], 'application/json; charset=utf-8');
  t.equal(yaml.headers['content-type'], 'application/yaml; charset=utf-8');
  for (const { headers } of [json, yaml]) t.equal(headers['cache-control'], 'no-cache');
  const published = JSON.parse(json.body) as Document;
  t.strictSame(parse(yaml.body), published);
  t.strictSame(published.servers, [{ url: BASE_URL, description: 'This Acme server' }]);
  const bundled = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8')) as Document;
  t.strictSame(
    { ...published, servers: undefined },
    { ...bundled, servers: undefined },
    'the rest is the contract',
  );
  t.notMatch(yaml.body, /^\s*[^#'"\n]*: [&*]\w+$/m, 'without anchors and aliases');
});

t.test('a server that was given no address publishes the one that it listens on', async (t) => {
  await using workplace = await openWorkplace();
  for (const HOST of ['127.0.0.1', '0.0.0.0']) {
    const { greeting, port } = await workplace.serve([], { HOST, PORT: '0' });
    const { servers } = await got(`${greeting.address}/openapi.json`).json<Document>();
    t.strictSame(servers, [{ url: `http://127.0.0.1:${port}`, description: 'This Fieldledger server' }]);
  }
});

t.test('every path that is published is served', async (t) => {
  await using database = await openTestDatabase('sqlite');
  await using server = await startTestServer({ engine: database.engine });
  const { paths } = await server.http('openapi.json').json<Document>();
  t.strictSame(
    Object.keys(paths),
    contractOperations().map(({ path }) => path),
  );
  for (const path of Object.keys(paths)) {
    const { statusCode } = await server.http(path.slice(1).replaceAll(/\{\w+\}/g, 'x'));
    t.equal(statusCode, 401, path);
  }
});

t.test('the address itself leads to the reference', async (t) => {
  await using database = await openTestDatabase('sqlite');
  await using server = await startTestServer({ engine: database.engine });
  const { statusCode, headers } = await server.http('');
  t.equal(statusCode, 302);
  t.equal(headers.location, '/reference');
});

/** Serves the publication of a copy of the program, in which the reference is built or not. */
async function servePublication(reference: string | undefined): Promise<AsyncDisposable & { http: Got }> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-copy-'));
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'generated'));
  cpSync(join(root, 'generated', 'openapi.json'), join(folder, 'generated', 'openapi.json'));
  if (reference !== undefined) writeFileSync(join(folder, 'generated', 'reference.html'), reference);
  // It is a copy of the module whose type this is.
  const copy = (await import(
    pathToFileURL(join(folder, 'src', 'publication.ts')).href
  )) as typeof publication;
  const app = express();
  app.use(copy.createPublication({ baseUrl: () => 'http://127.0.0.1', serviceName: 'Fieldledger' }));
  app.use(((error: { code: string; message: string }, _req, res, _next) => {
    res.status(500).json({ code: error.code, message: error.message });
  }) as express.ErrorRequestHandler);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this shape.
  const prefixUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    http: got.extend({ prefixUrl, retry: { limit: 0 }, throwHttpErrors: false }),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

t.test('the reference is one page that may ask for nothing', async (t) => {
  const page = '<!doctype html><title>Reference</title>';
  await using server = await servePublication(page);
  const { statusCode, headers, body } = await server.http('reference');
  t.equal(statusCode, 200);
  t.equal(body, page);
  t.equal(headers['content-type'], 'text/html; charset=utf-8');
  t.equal(headers['x-content-type-options'], 'nosniff');
  const policy = new Map(
    String(headers['content-security-policy'])
      .split(';')
      .map((directive) => {
        const [name = '', ...sources] = directive.trim().split(' ');
        return [name, sources] as const;
      }),
  );
  t.strictSame(policy.get('default-src'), ["'none'"]);
  t.strictSame(policy.get('frame-ancestors'), ["'none'"]);
  t.strictSame(policy.get('base-uri'), ["'none'"]);
  t.strictSame(policy.get('form-action'), ["'none'"]);
  const sources = [...policy.values()].flat();
  const local = ["'none'", "'unsafe-inline'", 'data:', 'blob:'];
  t.strictSame(
    sources.filter((source) => !local.includes(source)),
    [],
    'no other host is named',
  );
});

t.test('a reference that has not been built is told of, with the command that builds it', async (t) => {
  await using server = await servePublication(undefined);
  const { body } = await server.http('reference');
  t.strictSame(JSON.parse(body), {
    code: 'not_found',
    message: 'The reference has not been built; "make docs" builds it.',
  });
  t.equal((await server.http('openapi.json')).statusCode, 200, 'the contract is there all the same');
});
