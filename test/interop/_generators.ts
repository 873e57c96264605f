/** A program that writes code from the contract, as an integrator runs it: everything as it comes, but for the names. */
export interface Generator {
  name: string;
  /** Of the development dependencies. */
  command: string;
  options: string[];
  settings?: { file: string; text: string };
}

/** Kubb and orval don't take everything on the command line. */
export const generators: Generator[] = [
  {
    name: 'openapi-typescript',
    command: 'openapi-typescript',
    options: ['openapi.json', '--output', 'openapi-typescript.ts'],
  },
  {
    name: '@hey-api/openapi-ts',
    command: 'openapi-ts',
    options: ['--input', 'openapi.json', '--output', 'hey-api'],
  },
  {
    name: 'orval',
    command: 'orval',
    options: ['--config', 'orval.config.mjs'],
    settings: {
      file: 'orval.config.mjs',
      text: `
export default {
  client: { input: 'openapi.json', output: { target: 'orval/client.ts', client: 'fetch' } },
  zod: { input: 'openapi.json', output: { target: 'orval/zod.ts', client: 'zod' } },
};`,
    },
  },
  {
    name: 'kubb',
    command: 'kubb',
    options: ['generate', '--config', 'kubb.config.mjs'],
    settings: {
      file: 'kubb.config.mjs',
      // Its files are not laid out by Prettier, which takes longer than everything else.
      text: `
import { defineConfig } from '@kubb/core';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
import { pluginZod } from '@kubb/plugin-zod';

export default defineConfig({
  input: { path: 'openapi.json' },
  output: { path: 'kubb', format: false, lint: false },
  plugins: [pluginOas({ generators: [] }), pluginTs(), pluginZod()],
});`,
    },
  },
];

/** The strictest settings under which generated code is usually compiled, with the packages' own types checked, too. */
export const compilerOptions = {
  target: 'es2022',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: [],
  module: 'nodenext',
  strict: true,
  skipLibCheck: false,
  rewriteRelativeImportExtensions: true,
  outDir: 'out',
};

/**
 * The integrator's program: each client lists everything, page by page, and every schema reads every page. The types that the generators make of the contract have to fit each other.
 */
export const program = `
import createClient from 'openapi-fetch';

import * as hey from './hey-api';
import { client as heyClient } from './hey-api/client.gen';
import type * as kubb from './kubb/types';
import * as kubbZod from './kubb/zod';
import type { components, paths } from './openapi-typescript';
import * as orval from './orval/client';
import * as orvalZod from './orval/zod';

type Schemas = components['schemas'];
type Query = { limit: number; cursor?: string };
type InvoicesQuery = Query & { status: 'all' };
type Page<T> = { data: T[]; nextCursor: string | null };

/** A client's own functions for the operations. */
interface Client {
  jobs: (query: Query) => Promise<Page<Schemas['Job']>>;
  people: (query: Query) => Promise<Page<Schemas['Person']>>;
  forms: (query: Query) => Promise<Page<Schemas['Form']>>;
  submissions: (formId: string, query: Query) => Promise<Page<Schemas['Submission']>>;
  customers: (query: Query) => Promise<Page<Schemas['Customer']>>;
  quotes: (query: Query) => Promise<Page<Schemas['QuoteSummary']>>;
  quote: (quoteId: string) => Promise<{ data: Schemas['Quote'] }>;
  invoices: (query: InvoicesQuery) => Promise<Page<Schemas['InvoiceSummary']>>;
  invoice: (invoiceId: string) => Promise<{ data: Schemas['Invoice'] }>;
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The server has refused a request.');
  return value;
}

async function read<T extends object>(asked: Promise<{ data?: T | undefined }>): Promise<T> {
  return given((await asked).data);
}

export function byOpenapiFetch(baseUrl: string, key: string): Client {
  const { GET } = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });
  return {
    jobs: (query) => read(GET('/api/v1/jobs', { params: { query } })),
    people: (query) => read(GET('/api/v1/people', { params: { query } })),
    forms: (query) => read(GET('/api/v1/forms', { params: { query } })),
    submissions: (formId, query) =>
      read(GET('/api/v1/forms/{formId}/submissions', { params: { path: { formId }, query } })),
    customers: (query) => read(GET('/api/v1/customers', { params: { query } })),
    quotes: (query) => read(GET('/api/v1/quotes', { params: { query: { ...query, versions: 'all' } } })),
    quote: (quoteId) => read(GET('/api/v1/quotes/{quoteId}', { params: { path: { quoteId } } })),
    invoices: (query) => read(GET('/api/v1/invoices', { params: { query } })),
    invoice: (invoiceId) => read(GET('/api/v1/invoices/{invoiceId}', { params: { path: { invoiceId } } })),
  };
}

export function byHeyApi(baseUrl: string, key: string): Client {
  heyClient.setConfig({ baseUrl, auth: key });
  return {
    jobs: (query) => read(hey.listJobs({ query })),
    people: (query) => read(hey.listPeople({ query })),
    forms: (query) => read(hey.listForms({ query })),
    submissions: (formId, query) => read(hey.listFormSubmissions({ path: { formId }, query })),
    customers: (query) => read(hey.listCustomers({ query })),
    quotes: (query) => read(hey.listQuotes({ query: { ...query, versions: 'all' } })),
    quote: (quoteId) => read(hey.getQuote({ path: { quoteId } })),
    invoices: (query) => read(hey.listInvoices({ query })),
    invoice: (invoiceId) => read(hey.getInvoice({ path: { invoiceId } })),
  };
}

type Ok<T> = Extract<T, { status: 200 }> extends { data: infer Data extends object } ? Data : never;

export function byOrval(baseUrl: string, key: string): Client {
  const init = { headers: { Authorization: \`Bearer \${key}\` } };
  /** Orval's client asks the origin of the page it is on, so the program gives it one. */
  const ok = async <T extends { status: number; data: unknown }>(ask: () => Promise<T>) => {
    const { fetch } = globalThis;
    globalThis.fetch = (path, options) => fetch(\`\${baseUrl}\${String(path)}\`, options);
    try {
      const { status, data } = await ask();
      if (status !== 200) throw new Error(\`The server has answered \${status}.\`);
      return data as Ok<T>;
    } finally {
      globalThis.fetch = fetch;
    }
  };
  return {
    jobs: (query) => ok(() => orval.listJobs(query, init)),
    people: (query) => ok(() => orval.listPeople(query, init)),
    forms: (query) => ok(() => orval.listForms(query, init)),
    submissions: (formId, query) => ok(() => orval.listFormSubmissions(formId, query, init)),
    customers: (query) => ok(() => orval.listCustomers(query, init)),
    quotes: (query) => ok(() => orval.listQuotes({ ...query, versions: 'all' }, init)),
    quote: (quoteId) => ok(() => orval.getQuote(quoteId, init)),
    invoices: (query) => ok(() => orval.listInvoices(query, init)),
    invoice: (invoiceId) => ok(() => orval.getInvoice(invoiceId, init)),
  };
}

async function all<T>(list: (query: Query) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  let page = await list({ limit: 3 });
  found.push(...page.data);
  while (page.nextCursor !== null) {
    page = await list({ limit: 3, cursor: page.nextCursor });
    found.push(...page.data);
  }
  return found;
}

async function each<T, U>(items: T[], take: (item: T) => Promise<U>): Promise<U[]> {
  const found: U[] = [];
  for (const item of items) found.push(await take(item));
  return found;
}

/** Every record, in full; submissions are listed form by form. */
export async function everything(client: Client) {
  const forms = await all(client.forms);
  const quotes = await all(client.quotes);
  const invoices = await all((query) => client.invoices({ ...query, status: 'all' }));
  return {
    people: await all(client.people),
    customers: await all(client.customers),
    forms,
    jobs: await all(client.jobs),
    submissions: (await each(forms, ({ id }) => all((query) => client.submissions(id, query)))).flat(),
    invoices: await each(invoices, async ({ id }) => (await client.invoice(id)).data),
    quotes: await each(quotes, async ({ id }) => (await client.quote(id)).data),
  };
}

export function asKubb(company: Awaited<ReturnType<typeof everything>>): object {
  const jobs: kubb.Job[] = company.jobs;
  const submissions: kubb.Submission[] = company.submissions;
  const invoices: kubb.Invoice[] = company.invoices;
  return { jobs, submissions, invoices };
}

type Reader = { parse: (value: unknown) => unknown };

/** An operation's answer, or an event, as the schemas of orval and of kubb read it. */
export function schemasOf(name: string): Reader[] {
  if (name === 'event') return [kubbZod.eventSchema];
  const [ofOrval, ofKubb] = [orvalZod, kubbZod] as unknown as Record<string, Reader | undefined>[];
  const response = \`\${name.replace(/^./, (first) => first.toUpperCase())}Response\`;
  return [given(ofOrval?.[response]), given(ofKubb?.[\`\${name}QueryResponseSchema\`])];
}

/** A receiver of webhooks: in each branch the compiler knows what \`data\` is. */
export function told(event: Schemas['Event'] | hey.Event | orval.Event | kubb.Event): string {
  switch (event.event) {
    case 'job.created':
    case 'job.updated':
    case 'job.completed':
      return event.data.title;
    case 'form.submitted':
      return event.data.formId;
    case 'invoice.issued':
    case 'credit_note.issued':
      return event.data.customer.name;
    case 'quote.accepted':
      return event.data.title;
    case 'payment.recorded':
      return event.data.method;
    case 'invoice.paid':
      return event.data.paidOn;
    case 'ping':
      return event.data.message;
    default:
      return '';
  }
}
`;
