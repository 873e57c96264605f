import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

import { readChangelog } from '../../src/server/publication/changelog.ts';
import { breaksOf } from './_compatibility.ts';
import { dereferenced, readContract } from './_contract-files.ts';
import type { Files, Node } from './_contract-files.ts';

const root = join(import.meta.dirname, '..', '..');
const releases = join(import.meta.dirname, 'released');
const current = readContract(root, 'src/server/backoffice/feed.yaml');
const versions = readdirSync(releases).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
const now = dereferenced(current);

/**
 * By release, the sentences of the gate about changes since then that somebody has looked at and found to be additions,
 * such as a pattern that takes in more than before.
 */
const judgedByHand: Record<string, string[]> = {};

t.test('the contract only adds to each release', async (t) => {
  for (const release of versions) {
    const then = dereferenced(readContract(join(releases, release)));
    t.strictSame(breaksOf(then, now), judgedByHand[release] ?? [], release);
  }
});

t.test('Redocly finds no break either', async (t) => {
  const redocly = join(root, 'node_modules', '.bin', 'redocly');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  for (const release of versions) {
    const contracts = [join(releases, release, 'openapi.yaml'), join(root, 'openapi.yaml')];
    await t.resolves(promisify(execFile)(redocly, ['diff', ...contracts, '--fail-on=major'], { env }));
  }
});

t.test('package, contract and changelog name the same version', async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  for (const [name, { info }] of Object.entries(current)) t.match(info, { version }, name);
  const entries = readChangelog().map((release) => release.version);
  t.equal(entries[0], version, 'the newest entry of the changelog comes first');
  const isReleased = versions.includes(version);
  t.strictSame(entries.toReversed(), isReleased ? versions : [...versions, version]);
  if (isReleased) {
    const kept = readContract(join(releases, version));
    t.strictSame(current, kept, `${version} is released: another contract is another version`);
  }
});

t.test('each release keeps its contract', async (t) => {
  for (const release of versions) {
    for (const [name, { info }] of Object.entries(readContract(join(releases, release))))
      t.match(info, { version: release }, `${name} of ${release}`);
  }
});

t.test('the contract is read as Redocly reads it', async (t) => {
  const generated = (name: string) =>
    JSON.parse(readFileSync(join(root, 'generated', name), 'utf8')) as Node & {
      components: { schemas: Node };
    };
  const { 'openapi.yaml': openapi, 'feed.yaml': feed } = now;
  const bundled = generated('openapi.dereferenced.json');
  t.same(openapi.paths, bundled.paths);
  t.same(openapi.webhooks, bundled.webhooks);
  t.match(
    generated('feed.dereferenced.json').components.schemas,
    (feed.components as { schemas: Node }).schemas,
  );
});

type Edit = (value: never) => unknown;
/** A change of the contract: what it is, where, the edit, and of a breaking one what has to be said of it. */
type Row = readonly [change: string, place: string, edit: Edit, says?: string];

const be = (value: unknown) => () => value;
const add = (item: unknown) => (items: unknown[]) => [...items, item];
const drop = (item: unknown) => (items: unknown[]) => items.filter((other) => other !== item);
const put = (members: Node) => (node: Node) => ({ ...node, ...members });
const omit = (name: string) => (node: Node) =>
  Object.fromEntries(Object.entries(node).filter(([key]) => key !== name));
/** A member vanishes from an object, also from the list of those that are always there. */
const without =
  (name: string) =>
  ({ properties, required, ...schema }: { properties: Node; required: string[] }) => ({
    ...schema,
    properties: omit(name)(properties),
    required: drop(name)(required),
  });
/** And one is always there that wasn't. */
const having =
  (name: string) =>
  ({ properties, required, ...object }: { properties: Node; required: string[] }) => ({
    ...object,
    properties: { ...properties, [name]: text },
    required: [...required, name],
  });
const text = { type: 'string', maxLength: 40 };
const parameter = { name: 'team', in: 'query', description: 'Only jobs of this team.', schema: text };
const archive = { type: 'object', required: ['change'], properties: { change: { const: 'job.archive' } } };
const done = { responses: { 200: { description: 'Done.' } } };
const toComponent = ({ Job, ...others }: Node) => ({
  ...others,
  Job: { $ref: '#/components/schemas/Work' },
  Work: Job,
});
const P = 'openapi.yaml components parameters';
const S = 'openapi.yaml components schemas';
const JOBS = 'openapi.yaml paths /api/v1/jobs get';
const E = 'webhooks.yaml components schemas';
const F = 'feed.yaml components schemas';

// prettier-ignore
const breaking: readonly Row[] = [
  ['an operation vanishes', 'openapi.yaml paths', omit('/api/v1/people'), '/api/v1/people: is gone'],
  ['an operation needs another scope', `${JOBS} security`, be([{ bearerAuth: ['people:read'] }]), 'get: security'],
  ['a parameter takes less', `${P} Limit schema maximum`, be(50), 'Limit: maximum'],
  ['a new parameter is required', `${JOBS} parameters`, add({ ...parameter, required: true }), 'team: is new'],
  ['a parameter has another default', `${S} QuoteVersions default`, be('all'), 'QuoteVersions: default'],
  ['an answer has a status that was never declared', `${JOBS} responses`, put({ 202: { description: 'Soon.' } }), '202: is new'],
  ['a header of answers can be absent', 'openapi.yaml components headers ETag required', be(false), 'ETag: can be absent'],
  ['a member of a record vanishes', `${S} Job`, without('notes'), 'Job, notes: is gone'],
  ['a member of a record becomes optional', `${S} Customer required`, drop('contacts'), 'Customer, contacts: can be absent'],
  ['a member of a record can be null', `${S} Job properties jobTypeVersion type`, be(['integer', 'null']), 'Job, jobTypeVersion: type'],
  ['a text of records becomes longer', `${S} ShortText maxLength`, be(301), 'ShortText: maxLength'],
  ['a closed set of answers gains a value', `${S} QuoteStatus enum`, add('lost'), '"lost" is new'],
  ['an open set loses a value', `${S} PaymentMethod x-extensible-enum`, drop('cheque'), '"cheque" is gone'],
  ['a kind of event vanishes', 'webhooks.yaml webhooks', omit('quote.accepted'), 'quote.accepted'],
  ['a header of events can be absent', 'webhooks.yaml components parameters UserAgent required', be(false), 'UserAgent: can be absent'],
  ['a member of an event has another type', `${E} PaymentRecorded properties paymentId`, be({ type: 'integer' }), 'paymentId: type'],
  ['a change of the feed asks for more', `${F} NewJob required`, add('notes'), 'NewJob, notes: is required'],
  ['a change of the feed is refused', `${F} Change oneOf`, (changes: unknown[]) => changes.slice(1), 'JobCreate'],
  ['a text of the feed may be less long', `${F} DraftLine properties description maxLength`, be(200), 'description: maxLength'],
  // Answers would only gain by it, but the feed takes in sites as well.
  ['a member that the feed takes in, too, is new and required', `${S} Site`, having('access'), 'Site, access: is required'],
];

// prettier-ignore
const additions: readonly Row[] = [
  ['an operation', 'openapi.yaml paths', put({ '/api/v1/planted': { get: done } })],
  ['an optional parameter', `${JOBS} parameters`, add(parameter)],
  ['a parameter that takes more', `${P} Limit schema maximum`, be(200)],
  ['a value of a set that is only asked for', `${S} QuoteVersions enum`, add('first')],
  ['a member of a record', `${S} Job`, having('plantedMember')],
  ['a member of a record that can be absent', `${S} Customer properties`, put({ plantedMember: text })],
  ['an optional member that is always there now', `${S} Submission required`, add('jobId')],
  ['a member that is null no longer', `${S} Job properties completedAt`, be({ $ref: '#/components/schemas/Timestamp' })],
  ['a shorter text of answers', `${S} ErrorDetail properties message maxLength`, be(500)],
  ['a value of an open set', `${S} PaymentMethod x-extensible-enum`, add('voucher')],
  ['a header of answers', 'openapi.yaml components responses BadRequest headers', put({ Sunset: { schema: text } })],
  // Nobody sees by which name a schema is referred to.
  ['another name of a component', S, toComponent],
  ['descriptions, examples and a deprecation', JOBS, put({ description: 'Jobs.', deprecated: true, 'x-codeSamples': [] })],
  ['a kind of event', 'webhooks.yaml webhooks', put({ 'job.planted': { post: done } })],
  ['a member of an event', `${E} PaymentRecorded`, having('plantedMember')],
  ['a header of events', 'webhooks.yaml webhooks ping post parameters', add({ ...parameter, name: 'Service-Attempt', in: 'header' })],
  ['a change of the feed', `${F} Change oneOf`, add(archive)],
  ['an optional member of the feed', `${F} NewJob properties`, put({ plantedMember: text })],
  ['a member that the feed requires no longer', `${F} NewJob required`, drop('createdBy')],
  ['a member of the feed that may be null', `${F} DraftLine properties unitCode type`, be(['string', 'null'])],
];

/** A copy of a document with one value edited; the path must lead to a value that is there. */
function edited(value: unknown, [name, ...path]: string[], edit: Edit): unknown {
  if (name === undefined) return edit(value as never);
  const node = value as Node;
  if (!(name in node)) throw new Error(`There is no ${name} to edit.`);
  return { ...node, [name]: edited(node[name], path, edit) };
}

for (const [what, rows] of Object.entries({
  'is found, and said where it is': breaking,
  'is let through': additions,
})) {
  t.test(`a planted change ${what}`, async (t) => {
    for (const [change, place, edit, says] of rows) {
      const [file = '', ...path] = place.split(' ');
      const original = current[file as keyof Files];
      const planted = edited(original, path, edit);
      t.notSame(planted, original, `${change} changes something`);
      const problems = breaksOf(now, dereferenced({ ...current, [file]: planted }));
      if (says === undefined) t.strictSame(problems, [], change);
      else t.match(problems.join('\n'), says, change);
    }
  });
}
