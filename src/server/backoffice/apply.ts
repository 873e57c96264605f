import { setImmediate as turn } from 'node:timers/promises';

import type { Change, ChangeName, ChangeContent } from '../../contract/feed.ts';
import { changeProblem } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { type RenderedRecord, joinRecordTexts } from '../../contract/render.ts';
import { AppError, quote } from '../../errors.ts';
import type { StoreTransaction } from '../store/engines/engine.ts';
import { companyDay } from '../../contract/company-time.ts';
import {
  findChange,
  type LockedCompany,
  lockForMoves,
  noteChange,
  type NotedChange,
} from '../store/records/moves.ts';
import { addCompany, saveCompany, setLogo, setSeries, setCompanyFeatures } from './company-moves.ts';
import { saveCustomer, setArchived } from './customers.ts';
import { digestOfChange, moveSource, recordOf, refuseReusedId } from './earlier-changes.ts';
import { publishForm, saveForm, submitForm } from './forms.ts';
import { discardInvoice, draftInvoice, editInvoice } from './invoices.ts';
import { issueInvoice } from './issue-invoice.ts';
import { createJob, setCompleted, updateJob } from './jobs.ts';
import { importQuote } from './import-quote.ts';
import { importIssued } from './imports.ts';
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
  /** `record` is the record's text as the API returns it by id; null when the change leaves no record. */
  | { status: 'applied'; record: JsonText<unknown> | null }
  /** `record` is the record's current text; null when it was removed, undefined when the change concerns none. */
  | { status: 'skipped'; record: JsonText<unknown> | null | undefined };

/** A business system that sends changes over HTTP, with the limits of its feed token. */
export interface ChangeSender {
  /** The id of the sender's feed token. */
  token: string;
  /** Ids of the companies that the sender may change; null for all. */
  companies: readonly string[] | null;
  changes: readonly string[] | null;
}

type Moved = RenderedRecord | undefined;

/** The function that makes each change of feed.yaml; a missing one is a compile error. */
const moves: { [Name in ChangeName]: (move: Move, what: ChangeContent<Name>) => Promise<Moved> } = {
  'company.save': saveCompany,
  'company.switch': setCompanyFeatures,
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
  'invoice.import': (move, what) => importIssued(move, 'invoice', what),
  'credit_note.import': (move, what) => importIssued(move, 'credit_note', what),
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
  'quote.import': importQuote,
};

/**
 * Applies one change, committing its records, events and deliveries in one transaction.
 * A change whose `id` was applied before is skipped, or refused if its contents differ.
 * @param sender the sender over HTTP; undefined for an operator, who may send anything.
 * @throws Refusal when the change is refused; the database driver's own error when the database is unavailable.
 */
export async function applyChange(
  backoffice: Backoffice,
  change: Change,
  sender?: ChangeSender,
): Promise<Outcome> {
  return applyParsedChange(backoffice, asJson(change), sender);
}

/** Applies a change given as an unvalidated value from `JSON.parse`. */
export async function applyParsedChange(
  backoffice: Backoffice,
  value: unknown,
  sender?: ChangeSender,
): Promise<Outcome> {
  const checked = checkedChange(value, sender);
  return backoffice.engine.transaction((transaction) => makeMove(backoffice, transaction, checked, sender));
}

/**
 * Refuses a change that the sender's feed token doesn't allow. A company outside the token's limits is reported as unknown.
 * @throws Refusal `invalid_change`, `unknown_company` or `not_allowed`.
 */
function refuseForeign({ id, company, change }: Change, { companies, changes }: ChangeSender): void {
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
 * Applies many changes in one transaction, all or none, which is much faster than one by one.
 * @throws like `applyChange`, for the first change that is refused.
 */
export async function applyChangesAtomically(
  backoffice: Backoffice,
  changes: readonly Change[],
): Promise<Outcome[]> {
  return applyParsedTogether(backoffice, changes.map(asJson));
}

/** Applies changes in one transaction, given as unvalidated values from `JSON.parse`. */
export async function applyParsedTogether(
  backoffice: Backoffice,
  values: readonly unknown[],
  sender?: ChangeSender,
): Promise<Outcome[]> {
  const checked = values.map((value) => checkedChange(value, sender));
  return backoffice.engine.transaction(async (transaction) => {
    // Locks the companies in a fixed order, which prevents deadlocks.
    const companies = [...new Set(checked.map(({ company }) => company))].sort();
    for (const company of companies) await lockForMoves(transaction, company);
    const outcomes: Outcome[] = [];
    const held = new Map<string, LockedCompany>();
    for (const change of checked) {
      outcomes.push(await makeMove(backoffice, transaction, change, { ...sender, held }));
      // SQLite runs synchronously, so this lets other requests run in between.
      await turn();
    }
    return outcomes;
  });
}

/** Returns a valid change. @throws Refusal for one that the contract rejects or the sender's token doesn't allow. */
function checkedChange(value: unknown, sender: ChangeSender | undefined): Change {
  const problem = changeProblem(value);
  if (problem) throw new Refusal(problem.code, problem.message, problem.path);
  if (sender) refuseForeign(value as Change, sender);
  return value as Change;
}

/** Returns a change as plain JSON, without methods and getters. */
function asJson(value: unknown): unknown {
  try {
    return plainJson(value);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('malformed_line', `A change must be JSON: ${(error as Error).message}.`);
  }
}

/** Whether a change imports a document issued elsewhere; such a change leaves the company itself unchanged. */
export function isImport(name: unknown): boolean {
  return typeof name === 'string' && name.endsWith('.import');
}

/** Locks a change's company and returns it. Imports in one transaction reuse it from `held` instead of reading it again. */
async function lockFor(
  transaction: StoreTransaction,
  { id, company, change }: Change,
  { token = null, held }: Surroundings,
): Promise<LockedCompany | undefined> {
  const known = isImport(change) ? held?.get(company) : undefined;
  if (known) {
    known.earlier = id === undefined ? undefined : await findChange(transaction, company, id);
    return known;
  }
  const locked = await lockForMoves(transaction, company, { id, token });
  if (locked && isImport(change)) held?.set(company, locked);
  else held?.delete(company);
  return locked;
}

interface Surroundings {
  /** The id of the feed token that sent the change; null or absent for an operator. */
  token?: string | null;
  /** The companies that this transaction has locked, by id, as its earlier imports left them. */
  held?: Map<string, LockedCompany>;
}

async function makeMove(
  backoffice: Backoffice,
  transaction: StoreTransaction,
  change: Change,
  surroundings: Surroundings = {},
): Promise<Outcome> {
  const { token = null } = surroundings;
  if (change.change === 'company.save') await addCompany(transaction, change.company, backoffice.now(change));
  const company = await lockFor(transaction, change, surroundings);
  if (!company) throw unknownCompany(change.company);
  if (!company.isTokenLive) throw new AppError('revoked_key', 'This feed token was revoked.');
  // Reads the clock under the company's lock, so that a stamp never predates the wait for the lock.
  const now = backoffice.now(change);
  const contentDigest = digestOfChange(change);
  const { earlier } = company;
  if (earlier) {
    refuseReusedId(change, contentDigest, earlier);
    const today = companyDay(company.timeZone, now);
    return { status: 'skipped', record: await recordOf(transaction, change.company, earlier, today) };
  }
  await moveSource(transaction, change, now);
  const at = change.at === undefined ? now : readTime(change.at, now, '/at');
  const move = new Move(backoffice, transaction, company, { at, now });
  // The name picks the function that takes this change's `with`, which TypeScript can't infer from a union.
  const make = moves[change.change] as (move: Move, what: Change['with']) => Promise<Moved>;
  const record = await make(move, change.with);
  company.lastStampMs = await move.finish();
  await noteMade(transaction, change, record, { contentDigest, appliedAt: now.toISOString(), token });
  return { status: 'applied', record: record ? joinRecordTexts(record) : null };
}

async function noteMade(
  transaction: StoreTransaction,
  { id, company, change }: Change,
  record: Moved,
  made: Pick<NotedChange, 'contentDigest' | 'appliedAt' | 'token'>,
): Promise<void> {
  if (id === undefined) return;
  const about = { resource: record?.resource ?? null, recordId: record?.id ?? null };
  await noteChange(transaction, { company, id, change, ...about, ...made });
}
