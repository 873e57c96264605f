/** A program that writes code from the contract, as an integrator runs it: everything as it comes, but for the names. */
export interface Generator {
  name: string;
  /** Of the development dependencies. */
  command: string;
  options: string[];
  /** Its file of settings, when it needs one. */
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
 * The integrator's program: each client lists everything, page by page, and every schema reads every page.
 * The types that two generators make of the contract have to fit each other.
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

interface Company {
  jobs: Schemas['Job'][];
  people: Schemas['Person'][];
  forms: Schemas['Form'][];
  submissions: Schemas['Submission'][];
  customers: Schemas['Customer'][];
  quotes: Schemas['Quote'][];
  invoices: Schemas['Invoice'][];
}

interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

async function all<T>(read: (query: { limit: number; cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  let page = await read({ limit: 3 });
  found.push(...page.data);
  while (page.nextCursor !== null) {
    page = await read({ limit: 3, cursor: page.nextCursor });
    found.push(...page.data);
  }
  return found;
}

async function each<T, U>(items: T[], read: (item: T) => Promise<U>): Promise<U[]> {
  const found: U[] = [];
  for (const item of items) found.push(await read(item));
  return found;
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The server has refused a request.');
  return value;
}

const versions = 'all', status = 'all';

export async function byOpenapiFetch(baseUrl: string, key: string): Promise<Company> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });
  const forms = await all(async (query) => given((await client.GET('/api/v1/forms', { params: { query } })).data));
  const quotes = await all(async (query) =>
    given((await client.GET('/api/v1/quotes', { params: { query: { ...query, versions } } })).data));
  const invoices = await all(async (query) =>
    given((await client.GET('/api/v1/invoices', { params: { query: { ...query, status } } })).data));
  const submissions = await each(forms, ({ id: formId }) => all(async (query) =>
    given((await client.GET('/api/v1/forms/{formId}/submissions', { params: { path: { formId }, query } })).data)));
  return {
    jobs: await all(async (query) => given((await client.GET('/api/v1/jobs', { params: { query } })).data)),
    people: await all(async (query) => given((await client.GET('/api/v1/people', { params: { query } })).data)),
    forms,
    submissions: submissions.flat(),
    customers: await all(async (query) =>
      given((await client.GET('/api/v1/customers', { params: { query } })).data)),
    quotes: await each(quotes, async ({ id: quoteId }) =>
      given((await client.GET('/api/v1/quotes/{quoteId}', { params: { path: { quoteId } } })).data).data),
    invoices: await each(invoices, async ({ id: invoiceId }) =>
      given((await client.GET('/api/v1/invoices/{invoiceId}', { params: { path: { invoiceId } } })).data).data),
  };
}

export async function byHeyApi(baseUrl: string, key: string): Promise<Company> {
  heyClient.setConfig({ baseUrl, auth: key });
  const forms = await all(async (query) => given((await hey.listForms({ query })).data));
  const quotes = await all(async (query) => given((await hey.listQuotes({ query: { ...query, versions } })).data));
  const invoices = await all(async (query) => given((await hey.listInvoices({ query: { ...query, status } })).data));
  const submissions = await each(forms, ({ id: formId }) =>
    all(async (query) => given((await hey.listFormSubmissions({ path: { formId }, query })).data)));
  return {
    jobs: await all(async (query) => given((await hey.listJobs({ query })).data)),
    people: await all(async (query) => given((await hey.listPeople({ query })).data)),
    forms,
    submissions: submissions.flat(),
    customers: await all(async (query) => given((await hey.listCustomers({ query })).data)),
    quotes: await each(quotes, async ({ id: quoteId }) =>
      given((await hey.getQuote({ path: { quoteId } })).data).data),
    invoices: await each(invoices, async ({ id: invoiceId }) =>
      given((await hey.getInvoice({ path: { invoiceId } })).data).data),
  };
}

function ok<T extends { status: number; data: unknown }>(answer: T): Extract<T, { status: 200 }>['data'] {
  if (answer.status !== 200) throw new Error(\`The server has answered \${answer.status}.\`);
  return answer.data;
}

/** Orval's client asks the origin of the page it is on, so the program gives it one. */
export async function byOrval(baseUrl: string, key: string): Promise<Company> {
  const { fetch } = globalThis;
  globalThis.fetch = (path, init) => fetch(\`\${baseUrl}\${String(path)}\`, init);
  try {
    return await listedByOrval({ headers: { Authorization: \`Bearer \${key}\` } });
  } finally {
    globalThis.fetch = fetch;
  }
}

async function listedByOrval(init: RequestInit): Promise<Company> {
  const forms = await all(async (query) => ok(await orval.listForms(query, init)));
  const quotes = await all(async (query) => ok(await orval.listQuotes({ ...query, versions }, init)));
  const invoices = await all(async (query) => ok(await orval.listInvoices({ ...query, status }, init)));
  const submissions = await each(forms, ({ id }) =>
    all(async (query) => ok(await orval.listFormSubmissions(id, query, init))));
  return {
    jobs: await all(async (query) => ok(await orval.listJobs(query, init))),
    people: await all(async (query) => ok(await orval.listPeople(query, init))),
    forms,
    submissions: submissions.flat(),
    customers: await all(async (query) => ok(await orval.listCustomers(query, init))),
    quotes: await each(quotes, async ({ id }) => ok(await orval.getQuote(id, init)).data),
    invoices: await each(invoices, async ({ id }) => ok(await orval.getInvoice(id, init)).data),
  };
}

/** Every answer of the API as the schemas of orval and of kubb read it. */
export const schemas = {
  listJobs: [orvalZod.ListJobsResponse, kubbZod.listJobsQueryResponseSchema],
  getJob: [orvalZod.GetJobResponse, kubbZod.getJobQueryResponseSchema],
  listPeople: [orvalZod.ListPeopleResponse, kubbZod.listPeopleQueryResponseSchema],
  listForms: [orvalZod.ListFormsResponse, kubbZod.listFormsQueryResponseSchema],
  listFormSubmissions: [orvalZod.ListFormSubmissionsResponse, kubbZod.listFormSubmissionsQueryResponseSchema],
  listCustomers: [orvalZod.ListCustomersResponse, kubbZod.listCustomersQueryResponseSchema],
  getCustomer: [orvalZod.GetCustomerResponse, kubbZod.getCustomerQueryResponseSchema],
  listQuotes: [orvalZod.ListQuotesResponse, kubbZod.listQuotesQueryResponseSchema],
  getQuote: [orvalZod.GetQuoteResponse, kubbZod.getQuoteQueryResponseSchema],
  listInvoices: [orvalZod.ListInvoicesResponse, kubbZod.listInvoicesQueryResponseSchema],
  getInvoice: [orvalZod.GetInvoiceResponse, kubbZod.getInvoiceQueryResponseSchema],
  event: [kubbZod.eventSchema],
};

export function asKubb(company: Company): Record<string, unknown[]> {
  const jobs: kubb.Job[] = company.jobs;
  const submissions: kubb.Submission[] = company.submissions;
  const invoices: kubb.Invoice[] = company.invoices;
  return { jobs, submissions, invoices };
}

type InvoicesQuery = { limit: number; cursor?: string; updatedSince?: string; status: 'all' | 'draft' };
type InvoicesPage = Page<Schemas['InvoiceSummary']> & { date: string | null };

/** How each client reads a page of invoices. Kubb writes types alone here, and the program fetches by them. */
export const invoicePages = {
  openapiFetch(baseUrl: string, key: string) {
    const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });
    return async (query: InvoicesQuery): Promise<InvoicesPage> => {
      const { data, response } = await client.GET('/api/v1/invoices', { params: { query } });
      return { ...given(data), date: response.headers.get('Date') };
    };
  },
  heyApi(baseUrl: string, key: string) {
    heyClient.setConfig({ baseUrl, auth: key });
    return async (query: InvoicesQuery): Promise<InvoicesPage> => {
      const { data, response } = await hey.listInvoices({ query });
      return { ...given(data), date: given(response).headers.get('Date') };
    };
  },
  orval(baseUrl: string, key: string) {
    return async (query: InvoicesQuery): Promise<InvoicesPage> => {
      const { fetch } = globalThis;
      globalThis.fetch = (path, init) => fetch(\`\${baseUrl}\${String(path)}\`, init);
      try {
        const answer = await orval.listInvoices(query, { headers: { Authorization: \`Bearer \${key}\` } });
        return { ...ok(answer), date: answer.headers.get('Date') };
      } finally {
        globalThis.fetch = fetch;
      }
    };
  },
  kubb(baseUrl: string, key: string) {
    return async (query: InvoicesQuery): Promise<InvoicesPage> => {
      const params: kubb.ListInvoicesQueryParams = query;
      const search = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
      const headers = { Authorization: \`Bearer \${key}\` };
      const answer = await fetch(\`\${baseUrl}/api/v1/invoices?\${search}\`, { headers });
      const page: kubb.ListInvoicesQueryResponse = await answer.json();
      return { ...page, date: answer.headers.get('Date') };
    };
  },
};

/** Keeps a copy in step, as the contract says under "Staying in sync". Gives the next checkpoint. */
export async function keepInStep(
  read: (query: InvoicesQuery) => Promise<InvoicesPage>,
  copy: Map<string, Schemas['InvoiceSummary']>,
  checkpoint: string | undefined,
): Promise<string> {
  let startedAt: number | undefined;
  const since = checkpoint === undefined ? {} : { updatedSince: checkpoint };
  const changed = await all(async (query) => {
    const page = await read({ ...query, ...since, status: 'all' });
    startedAt ??= Date.parse(page.date ?? '');
    return page;
  });
  for (const invoice of changed) {
    const known = copy.get(invoice.id);
    if (!known || known.updatedAt <= invoice.updatedAt) copy.set(invoice.id, invoice);
  }
  const drafts = new Set((await all(async (query) => read({ ...query, status: 'draft' }))).map(({ id }) => id));
  for (const { id, status } of [...copy.values()]) if (status === 'draft' && !drafts.has(id)) copy.delete(id);
  return new Date(given(startedAt) - 60_000).toISOString();
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
  }
}
`;
