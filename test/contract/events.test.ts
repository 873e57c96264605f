import { createHmac } from 'node:crypto';
import t from 'tap';

import { deliveryBytesMax } from '../../src/contract/events.ts';
import { company, summaryOf } from './_company.ts';
import { bundle, contract, type Example, eventBodyOf, events, operations, type Schema } from './_contract.ts';

/** The scope of each event, and the component that `data` is. */
const kinds: Record<string, [scope: string | undefined, component: string, operationId?: string]> = {
  'job.created': ['jobs:read', 'Job', 'getJob'],
  'job.updated': ['jobs:read', 'Job', 'getJob'],
  'job.completed': ['jobs:read', 'Job', 'getJob'],
  'form.submitted': ['forms:read', 'Submission', 'listFormSubmissions'],
  'invoice.issued': ['invoices:read', 'InvoiceSummary', 'listInvoices'],
  'credit_note.issued': ['invoices:read', 'InvoiceSummary', 'listInvoices'],
  'quote.accepted': ['quotes:read', 'QuoteSummary', 'listQuotes'],
  'payment.recorded': ['invoices:read', 'PaymentRecorded'],
  'invoice.paid': ['invoices:read', 'InvoicePaid'],
  ping: [undefined, 'Ping'],
};

const examples = events.flatMap((event) =>
  Object.entries(eventBodyOf(event).examples ?? {}).map(([name, example]) => ({
    event,
    name: `${event.kind} ${name}`,
    example,
  })),
);
type Envelope = {
  id: string;
  event: string;
  createdAt: string;
  companyId: string;
  data: Record<string, unknown>;
};
const bodyOf = ({ value }: Example) => value as Envelope;

t.test('each kind of event is a POST that needs no key', async (t) => {
  t.same(events.map(({ kind }) => kind).sort(), Object.keys(kinds).sort());
  for (const { kind, method, security, summary, description, tags, ...event } of events) {
    t.equal(method, 'post', kind);
    t.same(security, [], kind);
    t.same(tags, ['Webhooks'], kind);
    t.match(summary, /^[A-Z].*[a-z]$/, kind);
    t.ok(description.length > 40, kind);
    t.equal(event['x-scope'], kinds[kind]?.[0], kind);
  }
});

t.test('each event has its headers and says what becomes of the answer', async (t) => {
  for (const { kind, parameters, responses } of events) {
    t.same(
      parameters.map(({ name }) => name),
      [
        'Service-Event',
        'Service-Delivery',
        'Service-Signature',
        'User-Agent',
        'traceparent',
        'Content-Length',
      ],
      kind,
    );
    t.ok(
      parameters.every(({ name, required, ...at }) => {
        return at.in === 'header' && required === !['traceparent', 'Content-Length'].includes(name);
      }),
      kind,
    );
    t.same(Object.keys(responses), ['2XX', '3XX', '4XX', '5XX'], kind);
  }
});

t.test('the page of each event shows its own Service-Event and Service-Delivery', async (t) => {
  for (const { kind, parameters, ...event } of events) {
    const [first] = Object.values(eventBodyOf({ parameters, ...event }).examples ?? {});
    const delivery = parameters.find(({ name }) => name === 'Service-Delivery');
    t.equal(delivery?.example, first && bodyOf(first).id, kind);
    const header = parameters.find(({ name }) => name === 'Service-Event');
    t.equal(header?.example, kind);
    t.same(header?.schema['x-extensible-enum'], Object.keys(kinds), kind);
  }
});

t.test('the contract says which events are never sent, and which deliveries are held back', async (t) => {
  const { description } = contract.tags.find(({ name }) => name === 'Webhooks') ?? { description: '' };
  // test/server/backoffice/fan-out.test.ts has the first, test/server/webhooks/delivery-loop.test.ts the second.
  const happens = /^- \*When it happens\.\* (.*)$/m.exec(description)?.[1] ?? '';
  for (const words of ['plan', 'invoicing', 'never sent', 'updatedSince']) t.match(happens, words);
  t.notMatch(happens, 'held back');
  const fallsDue = /^- \*When it falls due\*(.*)$/m.exec(description)?.[1] ?? '';
  for (const words of ['API access', 'active subscription', 'plan', 'held back', 'sent again'])
    t.match(fallsDue, words);
});

interface Reference {
  $ref: string;
}

/** The component that a schema refers to, in the published contract, which still has its references. */
function componentOf(schema: unknown): Schema {
  const name = (schema as Reference).$ref.replace('#/components/schemas/', '');
  const component = bundle.components.schemas[name];
  if (!component) throw new Error(`There is no component ${name}.`);
  return component;
}

t.test('an event is an envelope around its data', async (t) => {
  for (const { kind } of events) {
    const body = componentOf(
      bundle.webhooks[kind]?.['post']?.requestBody?.content['application/json']?.schema,
    );
    t.same(Object.keys(body.properties ?? {}), ['id', 'event', 'createdAt', 'companyId', 'data'], kind);
    t.equal(body.properties?.['event']?.const, kind);
    t.same(body.properties?.['data'], { $ref: `#/components/schemas/${kinds[kind]?.[1] ?? ''}` }, kind);
  }
});

t.test('the schema Event is any event, told apart by its kind', async (t) => {
  const { oneOf, discriminator } = bundle.components.schemas['Event'] ?? {};
  const bodies = events.map(({ kind }) => [
    kind,
    bundle.webhooks[kind]?.['post']?.requestBody?.content['application/json']?.schema.$ref,
  ]);
  const mapping = Object.fromEntries(bodies) as Record<string, unknown>;
  t.same(discriminator, { propertyName: 'event', mapping });
  t.same(
    oneOf,
    bodies.map(([, $ref]) => ({ $ref })),
  );
});

t.test('the data of an event is the component that the API returns', async (t) => {
  const returning = Object.entries(kinds).filter(([, [, , operationId]]) => operationId !== undefined);
  t.equal(returning.length, 7);
  for (const [kind, [, component, operationId]] of returning) {
    const operation = Object.values(bundle.paths).find(({ get }) => get?.operationId === operationId)?.[
      'get'
    ];
    const envelope = componentOf(operation?.responses['200']?.content?.['application/json']?.schema);
    const data = envelope.properties?.['data'];
    t.same(data?.items ?? data, { $ref: `#/components/schemas/${component}` }, kind);
  }
});

t.test(
  'each example says its kind, its company and a time, and deliveries have ids of their own',
  async (t) => {
    t.ok(examples.length >= 12);
    for (const { event, name, example } of examples) {
      t.match(bodyOf(example), { event: event.kind, companyId: 'brennan' }, name);
    }
    t.equal(new Set(examples.map(({ example }) => bodyOf(example).id)).size, examples.length);
  },
);

t.test(
  'an event shows the record as the API returns it, unless its description says what changed since',
  async (t) => {
    const records = new Map<unknown, object>([
      ...company.jobs.map((job) => [job.id, job] as const),
      ...company.submissions.map((submission) => [submission.id, submission] as const),
      ...company.invoices.map((invoice) => [invoice.id, summaryOf('InvoiceSummary', invoice)] as const),
      ...company.quotes.map((quote) => [quote.id, summaryOf('QuoteSummary', quote)] as const),
    ]);
    const shown = examples.filter(({ event }) => kinds[event.kind]?.[2] !== undefined);
    t.equal(shown.length, 7);
    for (const { name, example } of shown) {
      const { data, createdAt } = bodyOf(example);
      const record = { ...records.get(data['id']) } as Record<string, unknown>;
      const changed = Object.keys(record).filter(
        (member) => JSON.stringify(record[member]) !== JSON.stringify(data[member]),
      );
      if (name === 'quote.accepted heatPump') {
        t.same(changed, ['convertedJobId', 'updatedAt'], name);
        for (const member of changed) t.match(example.description, `\`${member}\``);
      } else t.same(changed, [], name);
      t.equal(createdAt, data['updatedAt'] ?? data['createdAt'], name);
    }
  },
);

t.test('payment and settlement say what the invoice says', async (t) => {
  for (const { event, name, example } of examples) {
    if (event.kind !== 'payment.recorded' && event.kind !== 'invoice.paid') continue;
    const { data, createdAt } = bodyOf(example);
    const invoice = company.invoices.find(({ id }) => id === data['invoiceId']);
    const payment = invoice?.payments?.find(({ id }) => id === data['paymentId']);
    if (!invoice || !payment) throw new Error(name);
    const { number, customer, currency, totals, links, payments = [], creditNotes, updatedAt } = invoice;
    const common = {
      invoiceId: invoice.id,
      invoiceNumber: number,
      paymentId: payment.id,
      currency,
      customer,
      links: { invoice: links.self },
    };
    const expected =
      event.kind === 'payment.recorded'
        ? {
            ...common,
            amountMinor: payment.amountMinor,
            paidOn: payment.paidOn,
            method: payment.method,
            amountDueMinor: invoice.amountDueMinor,
          }
        : {
            ...common,
            grossMinor: totals.grossMinor,
            totalPaidMinor: payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
            creditedMinor: creditNotes.reduce((sum, { grossMinor }) => sum + grossMinor, 0),
            paidOn: updatedAt.slice(0, 10),
          };
    t.same(data, expected, name);
    t.equal(createdAt, updatedAt, name);
  }
});

t.test('the published signature is right, and signs the published example', async (t) => {
  const [event] = events;
  const vector = event?.parameters.find(({ name }) => name === 'Service-Signature')?.['x-test-vector'];
  if (!vector) throw new Error('there is no test vector');
  const { secret, t: time, body, header } = vector;
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.equal(header, `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`);
  t.same(JSON.parse(body), examples.find(({ name }) => name === 'ping ping')?.example.value);
  const prose = contract.tags.find(({ name }) => name === 'Webhooks')?.description ?? '';
  for (const part of [secret, String(time), body, header]) t.ok(prose.includes(`\`${part}\``), part);
});

t.test('webhooks and operations share no name', async (t) => {
  const names = [...operations, ...events].map(({ operationId }) => operationId);
  t.equal(new Set(names).size, names.length);
});

t.test('the largest delivery that is stated is the one that the program knows', async (t) => {
  const lengths = events.flatMap(({ parameters }) =>
    parameters.filter(({ name }) => name === 'Content-Length').map(({ schema }) => schema['maximum']),
  );
  t.strictSame([...new Set(lengths)], [deliveryBytesMax]);
  const prose = contract.tags.find(({ name }) => name === 'Webhooks')?.description ?? '';
  t.match(prose, `${deliveryBytesMax.toLocaleString('en')} at most`);
});
