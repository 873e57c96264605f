import { createHash } from 'node:crypto';

import type { Change, ChangeName, WithOf } from '../../contract/feed.ts';
import { changeProblem } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { type RenderedRecord, wholeText } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import type { StoreTransaction } from '../store/engines/engine.ts';
import { lockForMoves, noteChange } from '../store/records/moves.ts';
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
  { status: 'applied'; record: JsonText<unknown> | null } | { status: 'skipped' };

type Moved = RenderedRecord | undefined;

/** Every move of feed.yaml with its function: one that is missing here doesn't compile. */
const moves: { [Name in ChangeName]: (move: Move, what: WithOf<Name>) => Promise<Moved> } = {
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
 * @throws Refusal when the move can't be made; what the database's driver throws when the database can't be used.
 */
export async function applyChange(backoffice: Backoffice, change: Change): Promise<Outcome> {
  const checked = checkedChange(change);
  return backoffice.engine.transaction((transaction) => makeMove(backoffice, transaction, checked));
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
): Promise<Outcome> {
  const company = await lockForMoves(transaction, change.company);
  if (!company) {
    throw new Refusal('unknown_company', `There is no company ${quote(change.company)}.`, '/company');
  }
  // Reads the clock under the company's lock, so that a stamp isn't older than the wait for the lock.
  const now = backoffice.now(change);
  if (await wasApplied(transaction, change, now)) return { status: 'skipped' };
  const at = change.at === undefined ? now : readTime(change.at, now, '/at');
  const move = new Move(backoffice, transaction, company, { at, now });
  // The name picks the function that takes this change's `with`, which TypeScript can't infer from a union.
  const make = moves[change.change] as (move: Move, what: Change['with']) => Promise<Moved>;
  const record = await make(move, change.with);
  await move.finish();
  return { status: 'applied', record: record ? wholeText(record) : null };
}

/** @throws Refusal `duplicate_id` when the id is that of a change that said something else. */
async function wasApplied(transaction: StoreTransaction, change: Change, now: Date): Promise<boolean> {
  const { company, id, change: name } = change;
  if (id === undefined) return false;
  const contentDigest = digestOfChange(change);
  const note = { company, id, change: name, contentDigest, appliedAt: now.toISOString() };
  const earlier = await noteChange(transaction, note);
  if (earlier === undefined) return false;
  if (earlier.change === name && earlier.contentDigest === contentDigest) return true;
  const difference = earlier.change === name ? 'with other values' : `as ${earlier.change}, and not ${name}`;
  throw new Refusal(
    'duplicate_id',
    `The change with the id ${quote(id)} was applied before ${difference}.`,
    '/id',
  );
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
