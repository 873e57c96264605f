import t from 'tap';

import { contractOperations } from '../../../src/contract/document.ts';
import { ACME_URL, otherNames, startAcme } from './_acme.ts';

/*
 * The texts for programs: /llms.txt, and the reference as Markdown.
 */

const server = await startAcme(t);
const reference = (await server.http('reference.md')).body;
const withoutCode = reference.replaceAll(/^ *```[^]*?^ *```$/gm, '');
/** The headings with the names that links have for them. */
const anchors = [...withoutCode.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-'),
);

interface Contract {
  webhooks: Record<string, unknown>;
  components: { schemas: Record<string, { properties?: object }> };
}
const contract = await server.http('openapi.json').json<Contract>();

t.test(
  'the reference as Markdown has every operation, event and record, and each heading once',
  async (t) => {
    for (const { operationId, path, parameters } of contractOperations()) {
      const [, section = ''] =
        new RegExp(
          `^(\`GET ${path.replaceAll(/[{}]/g, '\\$&')}\`, operation \`${operationId}\`[^]*?)^####? `,
          'm',
        ).exec(reference) ?? [];
      for (const { name } of parameters) t.match(section, `\n- \`${name}\` (`, `${operationId} ${name}`);
      t.match(section, /\n- 200: .*\n[^]*\n- 401: .*`invalid_key`/, operationId);
      t.match(section, 'curl ', operationId);
    }
    for (const event of Object.keys(contract.webhooks)) t.match(reference, `\n### Event ${event}\n`);
    const records = Object.entries(contract.components.schemas).filter(([, { properties }]) => properties);
    for (const [name, { properties = {} }] of records) {
      const [, section = ''] = reference.split(`\n### ${name}\n`);
      for (const member of Object.keys(properties))
        t.match(section, `\n- \`${member}\` (`, `${name}.${member}`);
    }
    t.strictSame(
      anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index),
      [],
    );
    t.ok(reference.length < 120_000, `it has ${reference.length} characters`);
  },
);

t.test('its links lead somewhere', async (t) => {
  const links = [...withoutCode.matchAll(/\]\(([^)]*)\)/g)].map(([, target = '']) => target);
  for (const target of new Set(links)) {
    if (target.startsWith('#')) t.ok(anchors.includes(target.slice(1)), target);
    else t.match(target, /^\/openapi\.json$|^https:/, target);
  }
});

t.test('llms.txt names the service, and leads to every operation and event', async (t) => {
  const { body, headers } = await server.http('llms.txt');
  t.equal(headers['content-type'], 'text/plain; charset=utf-8');
  t.match(body, /^# Acme API\n\n> .+\n\n/);
  t.strictSame(otherNames(body), [], 'and no other service');
  const links = [...body.matchAll(/^- \[(.+)\]\((https:.+?)\)/gm)];
  const targets = links.map(([, , target = '']) => new URL(target));
  for (const { origin, pathname, hash } of targets) {
    t.equal(origin, ACME_URL);
    if (hash) t.ok(anchors.includes(hash.slice(1)), hash);
    else t.equal((await server.http.head(pathname.slice(1))).statusCode, 200, pathname);
  }
  for (const { path } of contractOperations()) t.match(body, `\`GET ${path}\``);
  for (const event of Object.keys(contract.webhooks)) t.match(body, `[Event ${event}]`);
});

t.test('the page of the reference says where programs find it as Markdown', async (t) => {
  const { headers } = await server.http('reference');
  t.match(headers.link, '</reference.md>; rel="alternate"; type="text/markdown"');
  t.match(headers.link, '</openapi.json>; rel="service-desc"');
  t.equal((await server.http('reference.md')).headers['content-type'], 'text/markdown; charset=utf-8');
});
