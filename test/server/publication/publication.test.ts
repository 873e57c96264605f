import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import got from 'got';
import t from 'tap';
import { parse } from 'yaml';

import { workflowFiles } from '../../../src/server/publication/workflows.ts';
import { changeNames, feedDocument } from '../../../src/contract/feed.ts';
import { signatureOf } from '../../../src/contract/delivery-request.ts';
import { openWorkplace } from '../../_command.ts';
import { referenceFile } from '../../_reference.ts';
import { otherNames, startAcme } from './_acme.ts';
import { serveUnbuilt } from './_unbuilt.ts';
import { startEmptyServer, startTestServer } from '../../_server.ts';

const root = join(import.meta.dirname, '..', '..', '..');

interface Document {
  openapi: string;
  info: { title: string; description: string; contact: object };
  paths: Record<string, unknown>;
  servers: unknown;
}

interface Vector {
  secret: string;
  t: number;
  body: string;
  header: string;
}

/** Everything that is published, as text. */
const PUBLISHED = ['openapi.json', 'openapi.yaml', 'openapi-3.0.json', 'reference', 'reference.md'];

referenceFile();
const { server, engine } = await startEmptyServer(t, 'sqlite');

t.test('the contract is published twice, both times the same and naming this server', async (t) => {
  const baseUrl = 'https://api.fieldledger.example';
  const supportUrl = 'https://support.fieldledger.example';
  await using named = await startTestServer({ engine, baseUrl, supportUrl });
  const json = await named.http('openapi.json');
  const yaml = await named.http('openapi.yaml');
  t.equal(json.headers['content-type'], 'application/json; charset=utf-8');
  t.equal(yaml.headers['content-type'], 'application/yaml; charset=utf-8');
  const published = JSON.parse(json.body) as Document;
  t.strictSame(parse(yaml.body), published);
  const bundled: unknown = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8'));
  t.strictSame(published, bundled, 'under its own names it is the contract itself');
  t.notMatch(yaml.body, /^\s*[^#'"\n]*: [&*]\w+$/m, 'without anchors and aliases');
});

t.test('samples, prose and addresses name what is configured, and nothing names the example', async (t) => {
  const configured = [
    { baseUrl: 'https://api.acme.test', supportUrl: 'mailto:api@acme.test', serviceName: 'Acme' },
    { baseUrl: 'http://[::1]:8080', supportUrl: undefined, serviceName: 'Acme-Field-Works' },
  ];
  for (const { baseUrl, supportUrl, serviceName } of configured) {
    const options = { engine, baseUrl, serviceName, ...(supportUrl && { supportUrl }) };
    await using server = await startTestServer(options);
    for (const path of PUBLISHED) {
      const { body } = await server.http(path);
      const named = (text: string) => body.split(text).length - 1;
      t.equal(named('fieldledger.example'), 0, path);
      t.strictSame(otherNames(body), [], `${path} names no other service`);
      t.ok(named(`${baseUrl}/api/v1`) >= 14, `${path}: ${named(baseUrl)} addresses`);
      t.ok(named(`${baseUrl}/portal`) >= 1, `${path} says where the portal is`);
      const hasWebhooks = path !== 'openapi-3.0.json';
      t.equal(named(`${serviceName}-Webhooks/1`) >= 1, hasWebhooks, `${path} says who sends webhooks`);
    }
    for (const file of workflowFiles) {
      const { headers, body } = await server.http(`workflows/${file}`);
      t.equal(headers['content-type'], 'application/yaml; charset=utf-8');
      t.ok(body.includes(`respect ${baseUrl}/workflows/${file} --workflow `), file);
      t.strictSame(otherNames(body), [], `${file} names no other service`);
    }
    const { info, servers } = await server.http('openapi.json').json<Document>();
    t.strictSame(servers, [{ url: baseUrl, description: `This ${serviceName} server`, 'x-internal': false }]);
    t.equal(info.title, `${serviceName} API`);
    t.strictSame(info.contact, { name: `${serviceName} API support`, url: supportUrl ?? baseUrl });
  }
});

t.test('the signed example is genuine under every name', async (t) => {
  await using named = await startTestServer({ engine, serviceName: 'Acme' });
  const { components, tags } = await named.http('openapi.json').json<{
    components: { parameters: { ServiceSignature: { 'x-test-vector': Vector } } };
    tags: { name: string; description: string }[];
  }>();
  const { secret, t: seconds, body, header } = components.parameters.ServiceSignature['x-test-vector'];
  t.equal(signatureOf(secret, body, new Date(seconds * 1000)), header);
  const prose = tags.find(({ name }) => name === 'Webhooks')?.description ?? '';
  for (const part of [secret, body, header]) t.ok(prose.includes(`\`${part}\``), part);
});

t.test('every published text is sent compressed, with a tag for each form of it', async (t) => {
  const http = server.http.extend({ decompress: false, responseType: 'buffer' });
  const decoders = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync };
  for (const path of PUBLISHED) {
    const plain = await http(path);
    t.equal(plain.headers['content-encoding'], undefined);
    t.equal(plain.headers['cache-control'], 'no-cache');
    const tags = new Set([plain.headers.etag]);
    for (const [coding, decode] of Object.entries(decoders)) {
      const headers = { 'accept-encoding': coding };
      const { rawBody, headers: got } = await http(path, { headers });
      t.match(got, { 'content-encoding': coding, vary: 'Accept-Encoding', etag: /^"[\w-]+"$/ }, path);
      t.ok(decode(rawBody).equals(plain.rawBody), `${path} is whole in ${coding}`);
      const share = rawBody.length / plain.rawBody.length;
      t.ok(share < 0.3, `${path} takes ${rawBody.length} bytes of ${plain.rawBody.length} in ${coding}`);
      tags.add(got.etag);
      const head = await http.head(path, { headers });
      t.equal(head.rawBody.length, 0);
      t.equal(head.headers['content-length'], String(rawBody.length), 'HEAD tells the same length');
      for (const tag of tags) {
        const known = await http(path, { headers: { ...headers, 'if-none-match': `"other", ${tag}` } });
        t.strictSame([known.statusCode, known.rawBody.length], [304, 0]);
        t.match(known.headers, { etag: got.etag, vary: 'Accept-Encoding', 'cache-control': 'no-cache' });
      }
    }
    t.equal(tags.size, 4);
    const choices = {
      'gzip, deflate, br, zstd': 'br',
      'br;q=0, gzip': 'gzip',
      '*': 'gzip',
      identity: undefined,
    };
    for (const [accepted, coding] of Object.entries(choices)) {
      const { headers } = await http(path, { headers: { 'accept-encoding': accepted } });
      t.equal(headers['content-encoding'], coding, accepted);
    }
  }
});

t.test('a server that was given no address publishes the one that it listens on', async (t) => {
  await using workplace = await openWorkplace();
  const { greeting, port } = await workplace.serve([], { HOST: '0.0.0.0', PORT: '0' });
  const { servers } = await got(`${greeting.address}/openapi.json`).json<Document>();
  t.strictSame(servers, [
    { url: `http://127.0.0.1:${port}`, description: 'This Fieldledger server', 'x-internal': false },
  ]);
});

t.test("the feed's contract and its page name what is configured, and are the same", async (t) => {
  const server = await startAcme(t);
  const feed = await server.http('feed.json').json<Document>();
  t.equal(feed.info.title, 'Acme feed');
  t.strictSame(Object.keys(feed.paths), Object.keys(feedDocument().paths));
  for (const path of ['feed.json', 'feed-reference']) {
    const { body } = await server.http(path);
    t.match(body, 'https://api.acme.test/reference');
    t.notMatch(body, 'fieldledger.example');
    t.strictSame(otherNames(body), [], path);
  }
  const { headers, body } = await server.http('feed-reference');
  t.match(
    headers['content-security-policy'],
    /^default-src 'none'; script-src 'sha256-.*sandbox allow-scripts/,
  );
  const [, shown = ''] = /<script type="application\/json" id="contract">(.*?)<\/script>/s.exec(body) ?? [];
  const page = JSON.parse(shown) as Document;
  t.strictSame(Object.keys(page.paths), Object.keys(feed.paths));
  for (const change of changeNames()) t.match(page.info.description, `| \`${change}\` | `);
});

t.test('the reference runs its own scripts alone, and as a site of its own', async (t) => {
  const { statusCode, headers, body } = await server.http('reference');
  t.equal(statusCode, 200);
  t.equal(headers['content-type'], 'text/html; charset=utf-8');
  const policy = new Map(
    String(headers['content-security-policy'])
      .split(';')
      .map((directive) => {
        const [name = '', ...sources] = directive.trim().split(' ');
        return [name, sources] as const;
      }),
  );
  const scripts = [...body.matchAll(/<script(?: type="module")?>([^]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  t.strictSame(Object.fromEntries(policy), {
    'default-src': ["'none'"],
    'script-src': scripts,
    'style-src': ["'unsafe-inline'"],
    'img-src': ['data:'],
    'font-src': ['data:'],
    'worker-src': ['blob:'],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    sandbox: ['allow-scripts', 'allow-popups', 'allow-popups-to-escape-sandbox'],
  });
});

t.test('what has not been built is told of, with the command that builds it', async (t) => {
  const http = await serveUnbuilt(t);
  for (const [path, message] of [
    ['reference', 'The reference has not been built; "make docs" builds it.'],
    ['feed-reference', 'The reference of the feed has not been built; "make docs" builds it.'],
    ['client.tgz', 'The client has not been built; "make client" builds it.'],
  ] as const) {
    const { body } = await http(path);
    t.strictSame(JSON.parse(body), { code: 'not_found', message });
  }
  t.equal((await http('openapi.json')).statusCode, 200, 'the contract is there all the same');
});

t.test(
  'whoever finds a fault of security is told where to report it, if the operator has said',
  async (t) => {
    t.equal((await server.http('.well-known/security.txt')).statusCode, 404);
    await using told = await startTestServer({
      engine,
      baseUrl: 'https://api.acme.example',
      securityContact: 'mailto:security@acme.example',
    });
    const { statusCode, headers, body } = await told.http('.well-known/security.txt');
    t.equal(statusCode, 200);
    t.equal(headers['content-type'], 'text/plain; charset=utf-8');
    t.equal(
      body,
      `Contact: mailto:security@acme.example
Expires: 2027-05-19T00:00:00Z
Canonical: https://api.acme.example/.well-known/security.txt
`,
    );
  },
);
