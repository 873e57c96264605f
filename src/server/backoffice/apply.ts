import { createHash } from 'node:crypto';

import type { Change, ChangeName, WithOf } from '../../contract/feed.ts';
import { changeProblem } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { type RenderedRecord, wholeText } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import type { StoreTransaction } from '../store/engines/engine.ts';
import { getCompany } from '../access/companies.ts';
import { findQuote } from '../store/records/quotes.ts';
import { companyDay } from '../../contract/company-time.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import {
  findChange,
  lockForMoves,
  movePosition,
  noteChange,
  type NotedChange,
} from '../store/records/moves.ts';
import { findTexts } from '../store/records/record-writes.ts';
import { addCompany, saveCompany, setLogo, setSeries, switchCompany } from './company-moves.ts';
import { saveCustomer, setArchived } from './customers.ts';
import { publishForm, saveForm, submitForm } from './forms.ts';
import { discardInvoice, draftInvoice, editInvoice } from './invoices.ts';
import { issueInvoice } from './issue-invoice.ts';
import { createJob, setCompleted, updateJob } from './jobs.ts';
import { plainJson } from './kept-json.ts';
import { Move } from './move.ts';
import type { Backoffice } from './backoffice.ts';
import { recordPayment, recordRefund, voidPayment, voidRefund } from './payments.ts';
import { deactivatePerson, savePerson } from './people.ts';
import { convertToInvoice, convertToJob } from './quote-conversions.ts';
import { acceptQuote, declineQuote, draftQuote, editQuote, reviseQuote, sendQuote } from './quotes.ts';
import { Refusal } from './refusal.ts';
import { readTime } from './times.ts';

/** The result of a change that wasn't refused. */
export type Outcome =
  /** `record` is the text of the record as the API returns it by its id; null when it is gone. */
  | { status: 'applied'; record: JsonText<unknown> | null }
  /** `record` is the same as it is now; undefined where the change doesn't tell which one it was about. */
  | { status: 'skipped'; record: JsonText<unknown> | null | undefined };

/** Who sends changes over HTTP. */
export interface Sender {
  /** The id of the feed token. */
  token: string;
  /** Null for all of them. */
  companies: readonly string[] | null;
  changes: readonly string[] | null;
}

type Moved = RenderedRecord | undefined;

/** Every move of feed.yaml with its function: one that is missing here doesn't compile. */
const moves: { [Name in ChangeName]: (move: Move, what: WithOf<Name>) => Promise<Moved> } = {
  'company.save': saveCompany,
  'company.switch': switchCompany,
  'logo.set': setLogo,
  'numbering.set': setSeries,
  'job.create': (move, what) => createJob(move, what),
  'job.update': updateJob,
  'job.complete': (move, what) => setCompleted(move, what, true),
  'job.reopen': (move, what) => setCompleted(move, what, false),
  'person.save': savePerson,
  'person.deactivate': deactivatePerson,
  'customer.save': saveCustomer,
  'customer.archive': (move, what) => setArchived(move, what, true),
  'customer.restore': (move, what) => setArchived(move, what, false),
  'form.save': saveForm,
  'form.publish': publishForm,
  'form.submit': submitForm,
  'invoice.draft': (move, what) => draftInvoice(move, what),
  'invoice.edit': editInvoice,
  'invoice.discard': discardInvoice,
  'invoice.issue': issueInvoice,
  'payment.record': recordPayment,
  'payment.void': voidPayment,
  'refund.record': recordRefund,
  'refund.void': voidRefund,
  'quote.draft': draftQuote,
  'quote.edit': editQuote,
  'quote.send': sendQuote,
  'quote.revise': reviseQuote,
  'quote.accept': acceptQuote,
  'quote.decline': declineQuote,
  'quote.convert_to_job': convertToJob,
  'quote.convert_to_invoice': convertToInvoice,
};

/**
 * Makes one move: its records, its events and their deliveries are committed together, or nothing is.
 * A change that was applied before, by its `id`, is skipped, and refused when it says something else now.
 * @param sender who sends it over HTTP; undefined for an operator, who may send anything.
 * @throws Refusal when the move can't be made; what the database's driver throws when the database can't be used.
 */
export async function applyChange(backoffice: Backoffice, change: Change, sender?: Sender): Promise<Outcome> {
  const checked = checkedChange(change);
  if (sender) refuseForeign(checked, sender);
  return backoffice.engine.transaction((transaction) => makeMove(backoffice, transaction, checked, sender));
}

/**
 * @throws Refusal for a change that the sender's token isn't for. A company that it isn't for is as unknown as one that
 *   doesn't exist.
 */
function refuseForeign({ id, company, change }: Change, { companies, changes }: Sender): void {
  if (id === undefined)
    throw new Refusal('invalid_change', 'The change has no id, which every change over HTTP needs.', '/id');
  if (companies?.includes(company) === false) throw unknownCompany(company);
  if (changes?.includes(change) === false)
    throw new Refusal('not_allowed', `The feed token isn't for ${change}.`, '/change');
}

function unknownCompany(company: string): Refusal {
  return new Refusal('unknown_company', `There is no company ${quote(company)}.`, '/company');
}

/**
 * Makes many moves in one transaction, all or none. It is much quicker than one by one.
 * @throws as `applyChange` does, for the first of them that can't be made.
 */
export async function applyTogether(backoffice: Backoffice, changes: readonly Change[]): Promise<Outcome[]> {
  return backoffice.engine.transaction(async (transaction) => {
    // In a fixed order, which prevents deadlocks.
    const companies = [...new Set(changes.map(({ company }) => company))].sort();
    for (const company of companies) await lockForMoves(transaction, company);
    const outcomes: Outcome[] = [];
    for (const change of changes)
      outcomes.push(await makeMove(backoffice, transaction, checkedChange(change)));
    return outcomes;
  });
}

/**
 * The plain JSON of a change, without methods and getters, validated against the contract.
 */
function checkedChange(change: Change): Change {
  const plain = asJson(change);
  const problem = changeProblem(plain);
  if (problem) throw new Refusal(problem.code, problem.message, problem.path);
  return plain as Change;
}

function asJson(value: unknown): unknown {
  try {
    return plainJson(value);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('malformed_line', `A change must be JSON: ${(error as Error).message}.`);
  }
}

async function makeMove(
  backoffice: Backoffice,
  transaction: StoreTransaction,
  change: Change,
  { token = null }: { token?: string | null } = {},
): Promise<Outcome> {
  if (change.change === 'company.save') await addCompany(transaction, change.company, backoffice.now(change));
  const company = await lockForMoves(transaction, change.company, { id: change.id, token });
  if (!company) throw unknownCompany(change.company);
  if (!company.isTokenLive) throw new Refusal('not_allowed', 'The feed token was revoked.');
  // Reads the clock under the company's lock, so that a stamp isn't older than the wait for the lock.
  const now = backoffice.now(change);
  const contentDigest = digestOfChange(change);
  const { earlier } = company;
  if (earlier) {
    refuseOther(change, contentDigest, earlier);
    const today = companyDay(company.timeZone, now);
    return { status: 'skipped', record: await recordOf(transaction, change.company, earlier, today) };
  }
  await moveSource(transaction, change, now);
  const at = change.at === undefined ? now : readTime(change.at, now, '/at');
  const move = new Move(backoffice, transaction, company, { at, now });
  // The name picks the function that takes this change's `with`, which TypeScript can't infer from a union.
  const make = moves[change.change] as (move: Move, what: Change['with']) => Promise<Moved>;
  const record = await make(move, change.with);
  await move.finish();
  if (change.id !== undefined) {
    const note = {
      change: change.change,
      contentDigest,
      ...about(record),
      appliedAt: now.toISOString(),
      token,
    };
    await noteChange(transaction, { company: change.company, id: change.id, ...note });
  }
  return { status: 'applied', record: record ? wholeText(record) : null };
}

function about(record: Moved): Pick<NotedChange, 'resource' | 'recordId'> {
  if (!record) return { resource: null, recordId: null };
  // Every record has one.
  const { id } = JSON.parse(record.body) as { id: string };
  return { resource: record.resource, recordId: id };
}

/** @throws Refusal `duplicate_id` when the change with the same id said something else. */
function refuseOther({ id = '', change: name }: Change, contentDigest: string, earlier: NotedChange): void {
  if (earlier.change === name && earlier.contentDigest === contentDigest) return;
  const difference = earlier.change === name ? 'with other values' : `as ${earlier.change}, and not ${name}`;
  throw new Refusal(
    'duplicate_id',
    `The change with the id ${quote(id)} was applied before ${difference}.`,
    '/id',
  );
}

/**
 * Moves the change's source on.
 * @throws Refusal `out_of_sequence` for a change that isn't behind the last one that was applied.
 */
async function moveSource(
  transaction: StoreTransaction,
  { company, id, source, sequence }: Change,
  now: Date,
): Promise<void> {
  if (source === undefined && sequence === undefined) return;
  if (source === undefined || sequence === undefined) {
    const missing = source === undefined ? 'source' : 'sequence';
    throw new Refusal('invalid_change', `The change has no ${missing}; the two go together.`, `/${missing}`);
  }
  const position = { sequence, id: id ?? null, appliedAt: now.toISOString() };
  if (await movePosition(transaction, { company, source }, position)) return;
  const message = `sequence is ${sequence}, and the source ${quote(source)} has come to that or further already.`;
  throw new Refusal('out_of_sequence', message, '/sequence');
}

/** A change that was applied, with its record as the API returns it now; undefined where none with that id is known. */
export async function findChangeRecord(
  { engine }: Backoffice,
  company: string,
  id: string,
  now: Date,
): Promise<(NotedChange & { record: JsonText<unknown> | null }) | undefined> {
  const noted = await findChange(engine, company, id);
  if (!noted) return undefined;
  const { timeZone } = await getCompany(engine, company);
  const record = await recordOf(engine.db, company, noted, companyDay(timeZone, now));
  return { ...noted, record: record ?? null };
}

/** The record that a change was about, as the API returns it now; null when it is gone, undefined when it isn't known. */
async function recordOf(
  db: Connection,
  company: string,
  { resource, recordId }: NotedChange,
  today: string,
): Promise<JsonText<unknown> | null | undefined> {
  if (resource === null || recordId === null) return undefined;
  // It may have expired meanwhile.
  if (resource === 'quotes') return (await findQuote(db, company, recordId, today))?.body ?? null;
  const texts = await findTexts(db, resource, company, recordId);
  return texts ? wholeText(texts) : null;
}

/**
 * The digest of a change. It doesn't depend on the order of members or on white space. The change's own id isn't in it.
 */
function digestOfChange({ id: _id, ...content }: Change): string {
  return createHash('sha256')
    .update(JSON.stringify(content, (_key, value: unknown) => inOrder(value)))
    .digest('base64url');
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
