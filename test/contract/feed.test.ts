import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';

import { changeNames, changeProblem } from '../../src/contract/feed.ts';
import { isScope } from '../../src/contract/scopes.ts';
import { contract, missingBounds, root, type Schema, schemasIn, strictAjv } from './_contract.ts';

const readText = (path: string) => readFileSync(new URL(path, root), 'utf8');

const feed = JSON.parse(readText('generated/feed.dereferenced.json')) as {
  components: { schemas: Record<string, Schema> };
};
const feedSchemas = feed.components.schemas;
const apiSchemas = contract.components.schemas;

function schemaOf(schemas: Record<string, Schema>, name: string): Schema {
  const schema = schemas[name];
  if (!schema) throw new Error(`There is no schema ${name}.`);
  return schema;
}

const changes = (schemaOf(feedSchemas, 'Change')['oneOf'] as Schema[]).map((schema) => ({
  name: schema.properties?.['change']?.const ?? '',
  schema,
  with: schema.properties?.['with'] ?? {},
}));

const ofName = (name: string) => changes.find((change) => change.name === name)?.with ?? {};

t.test('a change is named after what it is about and what is done with it', async (t) => {
  t.strictSame(
    changes.map(({ name }) => name),
    changeNames(),
  );
  t.equal(new Set(changeNames()).size, changeNames().length);
  for (const name of changeNames()) {
    t.match(name, /^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/);
    const component = name.replace(/(?:^|[._])([a-z])/g, (_separator, letter: string) =>
      letter.toUpperCase(),
    );
    const schema = feedSchemas[component];
    t.equal(schema?.properties?.['change']?.const, name, `it is described as ${component}`);
  }
});

t.test('every change has the same envelope', async (t) => {
  const [first] = changes;
  for (const { name, schema } of changes) {
    t.strictSame(schema.required, ['company', 'change', 'with'], name);
    t.strictSame(
      Object.keys(schema.properties ?? {}).sort(),
      ['at', 'change', 'company', 'id', 'sequence', 'source', 'with'],
      name,
    );
    for (const member of ['id', 'source', 'sequence', 'company', 'at'])
      t.strictSame(schema.properties?.[member], first?.schema.properties?.[member], `${name} ${member}`);
  }
});

t.test(
  'no object of a change takes a member that is not described, unless it is keyed by what people name',
  async (t) => {
    const named: string[] = [];
    const link = { name: 'portal link', schema: schemaOf(feedSchemas, 'PortalLinkRequest') };
    for (const { name, schema } of [...changes, link]) {
      for (const part of schemasIn(schema, name)) {
        if (!part.schema.properties && part.schema.additionalProperties === undefined) continue;
        if ((part.schema.additionalProperties as unknown) === false) continue;
        named.push(part.path);
      }
    }
    t.strictSame(named, [
      'job.create.with.customFields',
      'job.update.with.customFields',
      'form.submit.with.answers',
      'form.submit.with.files',
      'quote.convert_to_job.with.job.customFields',
    ]);
  },
);

t.test(
  'every pattern of a change is said in words, but for U+0000, which is refused everywhere',
  async (t) => {
    const wordless = changes.flatMap(({ name, schema }) =>
      [...schemasIn(schema, name)]
        .filter((part) => part.schema.pattern !== undefined && part.schema.pattern !== '^[^\\u0000]*$')
        .filter((part) => !/^[a-zA-Z0-9].*[^.]$/.test(String(part.schema['x-patternDescription'])))
        .map(({ path }) => path),
    );
    t.strictSame(wordless, []);
  },
);

t.test('every change is described in sentences', async (t) => {
  for (const { name, schema } of changes) t.match(schema.description, /^[A-Z].*\.$/s, name);
  for (const [name, schema] of Object.entries(feedSchemas))
    t.match(schema.description, /^[A-Z`].*\.$/s, name);
});

const webhooks = (
  parse(readText('webhooks.yaml')) as { webhooks: Record<string, { post: { 'x-scope'?: string } }> }
).webhooks;
const moveEvents = Object.keys(webhooks).filter((kind) => kind !== 'ping');

t.test('descriptions say which events are sent, and every event is sent by a change', async (t) => {
  const sent = changes.flatMap(({ schema }) => {
    const [, sentence = ''] = /Sends (.*)/s.exec(schema.description ?? '') ?? [];
    return [...sentence.matchAll(/`([^`]+)`/g)].map(([, kind = '']) => kind);
  });
  t.strictSame([...new Set(sent)].sort(), [...moveEvents].sort());
});

t.test('every event but a ping has the scope of its data', async (t) => {
  for (const [kind, { post }] of Object.entries(webhooks))
    t.equal(isScope(post['x-scope'] ?? ''), kind !== 'ping', kind);
});

t.test('every reason for a refusal is described', async (t) => {
  const { enum: codes = [], 'x-enumDescriptions': descriptions = {} } = schemaOf(feedSchemas, 'RefusalCode');
  t.strictSame(Object.keys(descriptions), codes);
  for (const code of codes) {
    t.match(code, /^[a-z]+(_[a-z]+)*$/);
    t.match(descriptions[code], /^[A-Z].*\.$/, code);
  }
});

t.test('every schema compiles under the strictest Ajv', async (t) => {
  const ajv = strictAjv();
  for (const [name, schema] of Object.entries(feedSchemas)) {
    // One schema for each change, of which the name picks the one: Ajv's strictness is about each of them.
    t.doesNotThrow(() => ajv.compile(schema), name);
  }
});

t.test('every value that a change takes has bounds', async (t) => {
  const unbounded = changes.flatMap(({ name, with: what }) =>
    [...schemasIn(what, name)].flatMap(({ path, schema }) =>
      missingBounds(schema).map((keyword) => `${path}: ${keyword}`),
    ),
  );
  // A number that stands where anything may stand can be any.
  t.strictSame(
    unbounded.filter((missing) => !/(customFields|answers)\.\*\|number: (minimum|maximum)$/.test(missing)),
    [],
  );
});

/** The constraints of a schema, without its texts for readers and generators. */
function constraintsOf(schema: Schema | undefined): unknown {
  return JSON.parse(
    JSON.stringify(schema ?? null, (keyword, value: unknown) => {
      const isName = typeof value === 'object' && value !== null && 'type' in value;
      if (isName) return value;
      if (keyword === 'format')
        return ['int32', 'int64', 'double'].includes(String(value)) ? undefined : value;
      // Objects that the feed takes are closed; the API's records stay open.
      if (keyword === 'additionalProperties' && value === false) return undefined;
      return /^(?:description|examples|x-.*)$/.test(keyword) ? undefined : value;
    }),
  ) as unknown;
}

/** Members of an imported document that its record has in another form. */
const imported = ['id', 'number', 'buyer', 'lines', 'vatBreakdown'];

/** Members of the feed that are members of records of the API, and are neither narrower nor wider. */
const alike: [what: string, given: Schema, record: string, except: string[]][] = [
  ['job.create', ofName('job.create'), 'Job', []],
  ['job.update', ofName('job.update'), 'Job', []],
  ['person.save', ofName('person.save'), 'Person', []],
  ['customer.save', ofName('customer.save'), 'Customer', []],
  ['form.save', ofName('form.save'), 'Form', []],
  // A time of any offset comes in, and goes out in UTC.
  ['form.submit', ofName('form.submit'), 'Submission', ['submittedAt']],
  // Ids that are given are in lower case; those that are read may be in any.
  ['invoice.draft', ofName('invoice.draft'), 'Invoice', ['id', 'creditsInvoiceId', 'lines']],
  ['quote.draft', ofName('quote.draft'), 'Quote', ['id', 'quoteGroupId', 'lines']],
  // The issue of what comes in is always known, and its lines and sums are there.
  ['invoice.import', ofName('invoice.import'), 'Invoice', [...imported, 'issueDate', 'issuedAt']],
  ['quote.import', ofName('quote.import'), 'Quote', [...imported, 'quoteGroupId', 'supersedesQuoteId', 'status', 'sentDate', 'respondedAt']], // prettier-ignore
  ['ImportedLine', schemaOf(feedSchemas, 'ImportedLine'), 'Line', ['vatCategory']],
  ['NamedBuyer', schemaOf(feedSchemas, 'NamedBuyer'), 'Buyer', []],
  ['payment.record', ofName('payment.record'), 'Payment', ['amountMinor']],
  ['refund.record', ofName('refund.record'), 'Refund', ['amountMinor']],
  // The categories are a closed list here.
  ['DraftLine', schemaOf(feedSchemas, 'DraftLine'), 'Line', ['vatCategory']],
  // A rate of nothing is none.
  ['Exchange', schemaOf(feedSchemas, 'Exchange'), 'AccountingCurrency', ['exchangeRate']],
];

t.test('a change takes the values that the API shows', async (t) => {
  for (const [what, given, recordName, except] of alike) {
    const record = schemaOf(apiSchemas, recordName);
    const shared = Object.keys(given.properties ?? {}).filter(
      (member) => member in (record.properties ?? {}) && !except.includes(member),
    );
    t.ok(shared.length >= 2, what);
    for (const member of shared) {
      const expected = constraintsOf(record.properties?.[member]);
      t.strictSame(constraintsOf(given.properties?.[member]), expected, `${what} ${member}`);
    }
  }
});

t.test('a member that differs from the API stays within its bounds', async (t) => {
  const memberOf = (schemas: Record<string, Schema>, name: string, member: string) =>
    schemaOf(schemaOf(schemas, name).properties ?? {}, member);
  const categories = memberOf(feedSchemas, 'DraftLine', 'vatCategory').enum ?? [];
  const anyCategory = new RegExp(memberOf(apiSchemas, 'Line', 'vatCategory').pattern ?? '^$');
  for (const category of categories) t.match(category, anyCategory);

  const { maxItems } = schemaOf(feedSchemas, 'DraftLines');
  t.equal(maxItems, memberOf(apiSchemas, 'Line', 'position').maximum);
  t.equal(maxItems, schemaOf(apiSchemas, 'Lines').maxItems);

  const rate = memberOf(apiSchemas, 'AccountingCurrency', 'exchangeRate');
  const positive = { ...rate, pattern: rate.pattern?.replace('^', '^(?=.*[1-9])') } as Schema;
  t.strictSame(constraintsOf(memberOf(feedSchemas, 'Exchange', 'exchangeRate')), constraintsOf(positive));

  const lowerCase = { ...schemaOf(apiSchemas, 'Uuid'), pattern: '^[0-9a-f-]{36}$' };
  t.strictSame(constraintsOf(schemaOf(feedSchemas, 'NewUuid')), constraintsOf(lowerCase));

  const time = constraintsOf(schemaOf(feedSchemas, 'Time'));
  t.strictSame(time, constraintsOf(schemaOf(apiSchemas, 'UpdatedSince')), 'a time is written as in a query');
});

t.test('the first thing that is wrong is told with its place', async (t) => {
  const change = { company: 'acme', change: 'customer.archive', with: { id: 'cus_1' } };
  t.equal(changeProblem(change), undefined);
  t.equal(changeProblem({ ...change, id: 'feed/1', at: '2026-11-20T12:00:00+01:00' }), undefined);
  t.strictSame(changeProblem({ ...change, with: { id: '-' } }), {
    code: 'invalid_change',
    message:
      '/with/id is "-"; it must be letters A to Z, digits and the characters . _ : -, a letter or digit first.',
    path: '/with/id',
  });
  t.strictSame(changeProblem({ ...change, with: {} }), {
    code: 'invalid_change',
    message: '/with has no id.',
    path: '/with/id',
  });
  t.strictSame(changeProblem({ company: 'acme', change: 'customer.archive' }), {
    code: 'invalid_change',
    message: 'The change has no with.',
    path: '/with',
  });
  t.strictSame(changeProblem({ ...change, '~/': 1 }), {
    code: 'invalid_change',
    message: 'The change has no member "~/".',
    path: '/~0~1',
  });
});

t.test('a value of any type is told about in the type that it has', async (t) => {
  const messageOf = (value: unknown) => {
    const answers = { fld_1: value };
    const submission = { formId: 'frm_1', submittedBy: 'per_1', answers, files: {} };
    return changeProblem({
      company: 'acme',
      change: 'form.submit',
      with: { ...submission, submittedAt: '2026-11-20T12:00:00Z' },
    })?.message;
  };
  for (const right of ['yes', 4.5, true, ['a', 'b']]) t.equal(messageOf(right), undefined);
  t.equal(messageOf({}), '/with/answers/fld_1 is {}; it must be string,number,boolean,array.');
  t.equal(messageOf(['a', 1]), '/with/answers/fld_1/1 is 1; it must be string.');
  t.match(messageOf('x'.repeat(20_001)), /it must NOT have more than 20000 characters\.$/);
});
