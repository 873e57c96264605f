import { createHmac } from 'node:crypto';
import t from 'tap';

import { deliveryBytesMax } from '../../src/contract/events.ts';
import {
  bundle,
  contract,
  eventBodyOf,
  events,
  type MediaType,
  type Parameter,
  type Schema,
} from './_contract.ts';

/* The example company holds that events show what moves lead to (../demo/example-company.test.ts). */

const examples = events.flatMap((event) =>
  Object.values(eventBodyOf(event).examples ?? {}).map(({ value }) => ({
    kind: event.kind,
    body: value as { id: string; event: string; companyId: string },
  })),
);
const { description: chapter } = contract.tags.find(({ name }) => name === 'Webhooks') ?? { description: '' };

t.test('each kind of event is a POST that needs no key', async (t) => {
  for (const { kind, method, security, summary, description, tags } of events) {
    t.equal(method, 'post', kind);
    t.same(security, [], kind);
    t.same(tags, ['Webhooks'], kind);
    t.match(summary, /^[A-Z].*[a-z]$/, kind);
    t.match(description, /^[A-Z`].{40,}/s, kind);
  }
});

t.test(
  'each event has the headers and answers of all others, and shows its own kind and delivery',
  async (t) => {
    const [first] = events;
    const shared = (parameters: Parameter[]) =>
      parameters.map(({ name, in: place, required }) => [name, place, required]);
    for (const { kind, parameters, responses, ...event } of events) {
      t.same(shared(parameters), shared(first?.parameters ?? []), kind);
      t.same(responses, first?.responses, kind);
      const shown = (name: string) => parameters.find((one) => one.name === name);
      t.equal(shown('Service-Event')?.example, kind);
      t.same(
        shown('Service-Event')?.schema['x-extensible-enum'],
        events.map((one) => one.kind),
        kind,
      );
      const [own] = Object.values(eventBodyOf({ ...event, parameters, responses }).examples ?? {});
      t.match(own?.value, { id: shown('Service-Delivery')?.example }, kind);
    }
  },
);

/** The component that a schema refers to, in the published contract, which still has its references. */
function componentOf(schema: unknown): Schema {
  const name = (schema as { $ref: string }).$ref.replace('#/components/schemas/', '');
  const component = bundle.components.schemas[name];
  if (!component) throw new Error(`There is no component ${name}.`);
  return component;
}

const schemaIn = (content: Record<string, MediaType> | undefined) => content?.['application/json']?.schema;
const bodies = events.map(({ kind }) => ({
  kind,
  schema: schemaIn(bundle.webhooks[kind]?.['post']?.requestBody?.content),
}));

t.test(
  'an event is an envelope around a record as the API returns it, or around data of its own',
  async (t) => {
    const records = Object.values(bundle.paths).flatMap(({ get }) => {
      const schema = schemaIn(get?.responses['200']?.content);
      const data = schema && componentOf(schema).properties?.['data'];
      return data ? [(data.items ?? data)['$ref']] : [];
    });
    const own = ['PaymentRecorded', 'InvoicePaid', 'Ping'].map((name) => `#/components/schemas/${name}`);
    for (const { kind, schema } of bodies) {
      const { properties = {} } = componentOf(schema);
      t.same(Object.keys(properties), ['id', 'event', 'createdAt', 'companyId', 'data'], kind);
      t.equal(properties['event']?.const, kind);
      t.ok([...records, ...own].includes(properties['data']?.['$ref']), kind);
    }
  },
);

t.test('the schema Event is any event, told apart by its kind', async (t) => {
  const { oneOf, discriminator } = bundle.components.schemas['Event'] ?? {};
  const mapping = Object.fromEntries(bodies.map(({ kind, schema }) => [kind, schema?.['$ref']]));
  t.same(discriminator, { propertyName: 'event', mapping });
  t.same(
    oneOf,
    Object.values(mapping).map(($ref) => ({ $ref })),
  );
});

t.test('each example names its kind and the company, and has an id of its own', async (t) => {
  for (const { kind, body } of examples) t.match(body, { event: kind, companyId: 'brennan' });
  t.equal(new Set(examples.map(({ body }) => body.id)).size, examples.length);
});

t.test('the published signature is right, and signs the published example', async (t) => {
  const signature = events[0]?.parameters.find(({ name }) => name === 'Service-Signature');
  const vector = signature?.['x-test-vector'];
  if (!vector) throw new Error('There is no test vector.');
  const { secret, t: time, body, header } = vector;
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.equal(header, `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`);
  t.same(JSON.parse(body), examples.find(({ kind }) => kind === 'ping')?.body);
  for (const part of [secret, String(time), body, header]) t.ok(chapter.includes(`\`${part}\``), part);
});

t.test('the largest delivery that is stated is the one that the program knows', async (t) => {
  const lengths = events.flatMap(({ parameters }) =>
    parameters.filter(({ name }) => name === 'Content-Length').map(({ schema }) => schema['maximum']),
  );
  t.strictSame([...new Set(lengths)], [deliveryBytesMax]);
  t.match(chapter, `${deliveryBytesMax.toLocaleString('en')} at most`);
});
