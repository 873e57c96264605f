import { join } from 'node:path';

import type { Test } from 'tap';

import type { Customer, Invoice } from '../../../src/client/index.ts';
import { DAY_MS } from '../../../src/contract/durations.ts';
import { loadGeneratedCompany } from '../../../src/demo/load.ts';
import { openWorkplace } from '../../_command.ts';
import { keyFor, startExampleServer } from '../../_server.ts';
import { readSource } from '../_copies.ts';

interface Books {
  copy: string;
  key: string;
  invoices: Invoice[];
  nameOf: (invoice: Invoice) => string;
}

/** Two companies with their copies, and their records as the API has them, for sums that are made of those alone. */
export async function openBooks(t: Test) {
  const server = await startExampleServer('sqlite');
  const workplace = await openWorkplace('sqlite', { isEmpty: true });
  t.teardown(async () => {
    await workplace[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  const booksOf = async (company: string): Promise<Books> => {
    const key = await keyFor(server.engine, company);
    const copy = join(workplace.folder, `${company}.sqlite`);
    const pulled = await workplace.call(['pull', '--url', server.url, '--into', copy], { API_KEY: key });
    if (pulled.exitCode !== 0) throw new Error(pulled.stderr);
    // The records are what the API gave for these resources.
    const source = (await readSource(server.url, key)) as unknown as {
      invoices: Invoice[];
      customers: Customer[];
    };
    const names = new Map(source.customers.map((customer) => [customer.id, customer.name]));
    return { copy, key, invoices: source.invoices, nameOf: ({ customer }) => names.get(customer.id) ?? '' };
  };
  const { id } = await loadGeneratedCompany(server.engine, 600, () => undefined);
  const books = { example: await booksOf('brennan'), generated: await booksOf(id) };
  return { server, workplace, books };
}

export const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
export const issued = ({ invoices }: Books) =>
  invoices.filter((invoice) => invoice.status === 'issued' && invoice.kind !== 'pro_forma');
export const open = ({ invoices }: Books) => invoices.filter(({ amountDueMinor = 0 }) => amountDueMinor > 0);
export const daysFrom = (from: string | null, to: string) =>
  Math.max(0, (Date.parse(to) - Date.parse(from ?? '')) / DAY_MS);
export const byKey = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
export const signOf = ({ kind }: Invoice) => (kind === 'credit_note' ? -1 : 1);
