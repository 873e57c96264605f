import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

import type { ExpressionBuilder } from 'kysely';

import { openSealed, seal } from '../../process/secret-box.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../tables/tables.ts';
import type { ActiveSession, Session } from './session-rows.ts';

/*
 * Each form works once: the transaction of its change marks it as used (authorised-transaction.ts). Its result is stored
 * here: the address that it leads to, and a notice that is shown there once. Submitting the form again leads to the same
 * address.
 */

type SessionKey = Pick<Session, 'company' | 'id'>;

const isForm =
  ({ company, id }: SessionKey, form: string) =>
  (row: ExpressionBuilder<Tables, 'form_results'>) =>
    row.and({ company, session: id, form });

type TokenSession = Pick<ActiveSession, 'company' | 'id' | 'token'>;

/** Maximum results of forms stored per session; a form older than all of them could be submitted again. */
export const RESULTS_OF_SESSION_MAX = 200;

/**
 * Marks a form as used, in the transaction of its change. Returns false when it was already used. A company's authorised
 * transactions are serial, so each sees the marks of earlier ones.
 */
export async function takeForm(
  transaction: StoreTransaction,
  { company, session, form }: { company: string; session: string; form: string },
  doneAt: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('form_results')
    .values({ company, session, form, done_at: doneAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (Number(numInsertedOrUpdatedRows) !== 1) return false;
  const tooMany = await transaction
    .selectFrom('form_results')
    .select('form')
    .where((row) => row.and({ company, session }))
    .orderBy('done_at', 'desc')
    .orderBy('form')
    .limit(RESULTS_OF_SESSION_MAX)
    .offset(RESULTS_OF_SESSION_MAX)
    .execute();
  if (tooMany.length > 0) {
    const forms = tooMany.map(({ form: old }) => old);
    await transaction
      .deleteFrom('form_results')
      .where((row) => row.and({ company, session }))
      .where('form', 'in', forms)
      .execute();
  }
  return true;
}

/**
 * Stores the address that a form's sender is led to, with a notice to show there, unless the session has ended. A notice may
 * contain a secret, so it is encrypted with a key derived from the session's token.
 */
export async function keepFormResult(
  engine: Engine,
  session: TokenSession,
  form: string,
  { leadsTo, notice }: { leadsTo: string; notice: string | undefined },
): Promise<void> {
  const sealed = notice === undefined ? null : seal(notice, keyOf(session));
  await engine.transaction(async (transaction) => {
    await transaction
      .updateTable('form_results')
      .set({ leads_to: leadsTo, notice: sealed })
      .where(isForm(session, form))
      .execute();
  });
}

/** Returns the address that a submitted form leads to: null until it is known, undefined if the form wasn't submitted. */
export async function findFormResult(
  { db }: Engine,
  session: SessionKey,
  form: string,
): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('form_results')
    .select('leads_to')
    .where(isForm(session, form))
    .executeTakeFirst();
  return row?.leads_to;
}

/** Removes a form's notice and returns it, to only one of several requests; undefined if there is none. */
export async function takeNotice(
  engine: Engine,
  session: TokenSession,
  form: string,
): Promise<string | undefined> {
  const sealed = await engine.transaction(async (transaction) => {
    const row = await transaction
      .selectFrom('form_results')
      .select('notice')
      .where(isForm(session, form))
      .executeTakeFirst();
    if (!row || row.notice === null) return undefined;
    const { numUpdatedRows } = await transaction
      .updateTable('form_results')
      .set({ notice: null })
      .where(isForm(session, form))
      .where('notice', '=', row.notice)
      .executeTakeFirst();
    return Number(numUpdatedRows) === 1 ? row.notice : undefined;
  });
  if (sealed === undefined) return undefined;
  const notice = openSealed(sealed, keyOf(session));
  if (notice === undefined) throw new Error('The notice of a form was changed.');
  return notice;
}

function keyOf({ token }: TokenSession): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', token, '', 'fieldledger portal notice', 32)));
}
