import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import t from 'tap';

import { isScalar, readContractBundle } from '../../../src/server/publication/bundle.ts';
import { openapi30 } from '../../../src/server/publication/openapi-30.ts';
import { ACME_URL, startAcme } from './_acme.ts';

/*
 * The edition of the contract for generators that read OpenAPI 3.0 and nothing later.
 */

type Node = Record<string, unknown>;
const root = join(import.meta.dirname, '../../..');
const edition = openapi30() as Node & {
  paths: Record<string, { get: Node }>;
  components: Record<string, Node>;
};
const contract = readContractBundle();

/** The schemas that stay types of their own: scalars are written out where they are used, but for closed sets. */
const schemas = Object.entries(contract.components.schemas).filter(
  ([, schema]) => !isScalar(schema) || schema.enum,
);

/** Every object in a value, with its path. Examples are values, and not looked into. */
function nodesOf(value: unknown, path = ''): (readonly [path: string, node: Node])[] {
  if (typeof value !== 'object' || value === null || /\/(example|examples)$/.test(path)) return [];
  const inside = Object.entries(value).flatMap(([key, member]) => nodesOf(member, `${path}/${key}`));
  // Narrowed above.
  return Array.isArray(value) ? inside : [[path, value as Node], ...inside];
}

t.test('a generator that reads 3.0 meets no word of 3.1', async (t) => {
  t.match(edition, { openapi: /^3\.0\.\d$/, webhooks: undefined });
  const strange = nodesOf(edition).filter(
    ([path, node]) =>
      !path.endsWith('/properties') &&
      (Array.isArray(node['type']) ||
        node['type'] === 'null' ||
        'const' in node ||
        'anyOf' in node ||
        (Array.isArray(node['examples']) && !path.endsWith('/components')) ||
        ('$ref' in node && Object.keys(node).length > 1)),
  );
  t.strictSame(strange, []);
});

t.test('it has every operation of the contract, with its parameters, answers and scope', async (t) => {
  t.strictSame(Object.keys(edition.paths), Object.keys(contract.paths));
  for (const [path, { get }] of Object.entries(contract.paths)) {
    const { operationId, responses, security } = get;
    const parameters = get.parameters.map(({ schema: _schema, ...parameter }) => parameter);
    const shown = edition.paths[path]?.get ?? {};
    t.match(shown, { operationId, parameters, security: [{ bearerAuth: [] }] }, path);
    t.strictSame(Object.keys(shown['responses'] as Node), Object.keys(responses), path);
    t.equal(shown['x-scope'], security[0]?.['bearerAuth']?.[0], path);
  }
});

t.test(
  'it has every record of the contract, with its members, what they mean, and what can be null',
  async (t) => {
    for (const [name, { properties = {}, required, description, type }] of schemas) {
      const shown = edition.components['schemas']?.[name] as Node & { properties?: Record<string, Node> };
      t.match(shown, { description, ...(required && { required }) }, name);
      t.equal(shown['nullable'] ?? false, Array.isArray(type) && type.includes('null'), name);
      t.strictSame(Object.keys(shown.properties ?? {}), Object.keys(properties), name);
      for (const [member, { description: said }] of Object.entries(properties)) {
        const { $ref, ...now } = shown.properties?.[member] ?? {};
        if (said !== undefined && !$ref) t.equal(now['description'], said, `${name}.${member}`);
      }
    }
  },
);

t.test('Redocly and Spectral find it to be OpenAPI 3.0 whose examples are true', async (t) => {
  const folder = t.testdir({
    'openapi-3.0.json': JSON.stringify(edition),
    'spectral.yaml': 'extends: [[spectral:oas, all]]',
  });
  const judge = (tool: string, ...options: string[]) =>
    spawnSync(join(root, 'node_modules/.bin', tool), ['lint', join(folder, 'openapi-3.0.json'), ...options], {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        NO_COLOR: '1',
      },
    });
  const redocly = judge('redocly', '--config', '.redocly.yaml');
  t.equal(redocly.status, 0, redocly.stderr.slice(0, 2_000) + redocly.stdout.slice(0, 2_000));
  const spectral = judge('spectral', `--ruleset=${join(folder, 'spectral.yaml')}`, '--fail-severity=error');
  t.equal(spectral.status, 0, spectral.stdout.slice(0, 2_000));
});

t.test('it is served beside the contract, under the names that are configured', async (t) => {
  const server = await startAcme(t);
  t.match(await server.http('openapi-3.0.json').json(), {
    info: { title: 'Acme API' },
    servers: [{ url: ACME_URL }],
  });
});
