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
  t.match(generated('feed.json').components.schemas, (feed.components as { schemas: Node }).schemas);
});

type Edit = (value: never) => unknown;
type Plant = [change: string, place: `${keyof Files} ${string}`, edit: Edit];

const add = (item: unknown) => (items: unknown[]) => [...items, item];
const drop = (item: unknown) => (items: unknown[]) => items.filter((other) => other !== item);
const put = (members: Node) => (node: Node) => ({ ...node, ...members });
const omit = (name: string) => (node: Node) =>
  Object.fromEntries(Object.entries(node).filter(([key]) => key !== name));
/** A member vanishes from an object, also from the list of those that are always there. */
const withoutMember =
  (name: string) =>
  ({ properties, required, ...schema }: { properties: Node; required: string[] }) => ({
    ...schema,
    properties: omit(name)(properties),
    required: drop(name)(required),
  });
/** And one is there that wasn't. */
const withMember =
  (name: string, schema: Node) =>
  ({ properties, required, ...object }: { properties: Node; required: string[] }) => ({
    ...object,
    properties: { ...properties, [name]: schema },
    required: [...required, name],
  });
const text = { type: 'string', maxLength: 40 };
const parameter = { name: 'team', in: 'query', description: 'Only jobs of this team.', schema: text };
const SCHEMAS = 'openapi.yaml components schemas';
const JOBS = 'openapi.yaml paths /api/v1/jobs get';
const EVENTS = 'webhooks.yaml components schemas';
const FEED = 'feed.yaml components schemas';

const breaking: [...Plant, place: string][] = [
  ['an operation vanishes', 'openapi.yaml paths', omit('/api/v1/people'), '/api/v1/people: is gone'],
  [
    'an operation needs another scope',
    `${JOBS} security`,
    () => [{ bearerAuth: ['people:read'] }],
    'get: security',
  ],
  [
    'a parameter takes less',
    'openapi.yaml components parameters Limit schema maximum',
    () => 50,
    'Limit: maximum',
  ],
  [
    'a new parameter is required',
    `${JOBS} parameters`,
    add({ ...parameter, required: true }),
    'team: is new',
  ],
  [
    'a parameter has another default',
    `${SCHEMAS} QuoteVersions default`,
    () => 'all',
    'QuoteVersions: default',
  ],
  [
    'an answer has a status that was never declared',
    `${JOBS} responses`,
    put({ 202: { description: 'Soon.' } }),
    '202: is new',
  ],
  [
    'a header of answers can be absent',
    'openapi.yaml components headers ETag required',
    () => false,
    'ETag: can be absent',
  ],
  ['a member of a record vanishes', `${SCHEMAS} Job`, withoutMember('notes'), 'Job, notes: is gone'],
  [
    'a member of a record becomes optional',
    `${SCHEMAS} Customer required`,
    drop('contacts'),
    'Customer, contacts: can be absent',
  ],
  [
    'a member of a record can be null',
    `${SCHEMAS} Job properties jobTypeVersion type`,
    () => ['integer', 'null'],
    'Job, jobTypeVersion: type',
  ],
  ['a text of records becomes longer', `${SCHEMAS} ShortText maxLength`, () => 301, 'ShortText: maxLength'],
  ['a closed set of answers gains a value', `${SCHEMAS} QuoteStatus enum`, add('lost'), '"lost" is new'],
  [
    'an open set loses a value',
    `${SCHEMAS} PaymentMethod x-extensible-enum`,
    drop('cheque'),
    '"cheque" is gone',
  ],
  ['a kind of event vanishes', 'webhooks.yaml webhooks', omit('quote.accepted'), 'quote.accepted'],
  [
    'a header of events can be absent',
    'webhooks.yaml components parameters UserAgent required',
    () => false,
    'UserAgent: can be absent',
  ],
  [
    'a member of an event has another type',
    `${EVENTS} PaymentRecorded properties paymentId`,
    () => ({ type: 'integer' }),
    'paymentId: type',
  ],
  ['a move of the feed asks for more', `${FEED} NewJob required`, add('notes'), 'NewJob, notes: is required'],
  [
    'a move of the feed is refused',
    `${FEED} Change oneOf`,
    (moves: unknown[]) => moves.slice(1),
    'JobCreate',
  ],
  [
    'a text of the feed may be less long',
    `${FEED} DraftLine properties description maxLength`,
    () => 200,
    'description: maxLength',
  ],
  // Answers would only gain by it, but the feed takes in sites as well.
  [
    'a member that the feed takes in, too, is new and required',
    `${SCHEMAS} Site`,
    withMember('access', text),
    'Site, access: is required',
  ],
];

const additions: Plant[] = [
  [
    'an operation',
    'openapi.yaml paths',
    put({ '/api/v1/stand-ins': { get: { responses: { 200: { description: 'Stand-ins.' } } } } }),
  ],
  ['an optional parameter', `${JOBS} parameters`, add(parameter)],
  ['a parameter that takes more', 'openapi.yaml components parameters Limit schema maximum', () => 200],
  ['a value of a set that is only asked for', `${SCHEMAS} QuoteVersions enum`, add('first')],
  ['a member of a record', `${SCHEMAS} Job`, withMember('standIn', text)],
  ['a member of a record that can be absent', `${SCHEMAS} Customer properties`, put({ nickname: text })],
  ['an optional member that is always there now', `${SCHEMAS} Submission required`, add('jobId')],
  [
    'a member that is null no longer',
    `${SCHEMAS} Job properties completedAt`,
    () => ({ $ref: '#/components/schemas/Timestamp' }),
  ],
  ['a shorter text of answers', `${SCHEMAS} ErrorDetail properties message maxLength`, () => 500],
  ['a value of an open set', `${SCHEMAS} PaymentMethod x-extensible-enum`, add('voucher')],
  [
    'a header of answers',
    'openapi.yaml components responses BadRequest headers',
    put({ Sunset: { schema: text } }),
  ],
  // Nobody sees by which name a schema is referred to.
  [
    'another name of a component',
    SCHEMAS,
    ({ Job, ...others }: Node) => ({ ...others, Job: { $ref: '#/components/schemas/Work' }, Work: Job }),
  ],
  [
    'descriptions, examples and a deprecation',
    JOBS,
    put({ description: 'Jobs.', deprecated: true, 'x-codeSamples': [] }),
  ],
  [
    'a kind of event',
    'webhooks.yaml webhooks',
    put({ 'job.deleted': { post: { responses: { '2XX': { description: 'Thanks.' } } } } }),
  ],
  ['a member of an event', `${EVENTS} PaymentRecorded`, withMember('reference', text)],
  [
    'a header of events',
    'webhooks.yaml webhooks ping post parameters',
    add({ ...parameter, name: 'Service-Attempt', in: 'header' }),
  ],
  [
    'a move of the feed',
    `${FEED} Change oneOf`,
    add({ type: 'object', required: ['change'], properties: { change: { const: 'job.archive' } } }),
  ],
  ['an optional member of the feed', `${FEED} NewJob properties`, put({ standIn: text })],
  ['a member that the feed requires no longer', `${FEED} NewJob required`, drop('createdBy')],
  [
    'a member of the feed that may be null',
    `${FEED} DraftLine properties unitCode type`,
    () => ['string', 'null'],
  ],
];

/** A copy of a document with one value edited; the path must lead to a value that is there. */
function edited(value: unknown, [name, ...path]: string[], edit: Edit): unknown {
  if (name === undefined) return edit(value as never);
  const node = value as Node;
  if (!(name in node)) throw new Error(`There is no ${name} to edit.`);
  return { ...node, [name]: edited(node[name], path, edit) };
}

function judge([change, place, edit]: Plant): string[] {
  const [file = '', ...path] = place.split(' ');
  const original = current[file as keyof Files];
  const planted = edited(original, path, edit);
  if (JSON.stringify(planted) === JSON.stringify(original)) throw new Error(`${change}: nothing was edited.`);
  return breaksOf(now, dereferenced({ ...current, [file]: planted }));
}

t.test('breaking changes are found, and said where they are', async (t) => {
  t.equal(breaking.length, 20);
  for (const [change, where, edit, place] of breaking) {
    const problems = judge([change, where, edit]);
    t.ok(
      problems.some((problem) => problem.includes(place)),
      `${change}: ${problems.join('\n') || 'nothing'}`,
    );
  }
});

t.test('additions are let through', async (t) => {
  t.equal(additions.length, 20);
  for (const addition of additions) t.strictSame(judge(addition), [], addition[0]);
});
