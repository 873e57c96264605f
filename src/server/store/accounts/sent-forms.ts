import type { Engine, StoreTransaction } from '../engines/engine.ts';

export interface SentForm {
  session: string;
  form: string;
}

/** The result of a form that was done; each member is null until it is known. */
export interface FormResult {
  leadsTo: string | null;
  /** The notice of the page that it leads to, encrypted. */
  notice: string | null;
}

/** Results that a session keeps; a form that was done before the oldest of them can be sent anew. */
export const RESULTS_OF_SESSION_MAX = 200;

/**
 * Marks a form as used, in the transaction of its work; false when it was used before. Authorised transactions of a
 * company follow one another, so each sees the marks of those before.
 */
export async function takeForm(
  transaction: StoreTransaction,
  { session, form }: SentForm,
  doneAt: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('form_results')
    .values({ session, form, done_at: doneAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (Number(numInsertedOrUpdatedRows) !== 1) return false;
  const tooMany = await transaction
    .selectFrom('form_results')
    .select('form')
    .where('session', '=', session)
    .orderBy('done_at', 'desc')
    .orderBy('form')
    .limit(RESULTS_OF_SESSION_MAX)
    .offset(RESULTS_OF_SESSION_MAX)
    .execute();
  if (tooMany.length > 0) {
    const forms = tooMany.map(({ form: old }) => old);
    await transaction
      .deleteFrom('form_results')
      .where('session', '=', session)
      .where('form', 'in', forms)
      .execute();
  }
  return true;
}

/** Keeps the result of a form, unless its session has ended. */
export async function setFormResult(
  engine: Engine,
  { session, form }: SentForm,
  { leadsTo, notice }: FormResult,
): Promise<void> {
  await engine.transaction(async (transaction) => {
    await transaction
      .updateTable('form_results')
      .set({ leads_to: leadsTo, notice })
      .where('session', '=', session)
      .where('form', '=', form)
      .execute();
  });
}

/** The result of a form; undefined when it wasn't done. */
export async function findFormResult(
  engine: Engine,
  { session, form }: SentForm,
): Promise<FormResult | undefined> {
  const row = await engine.db
    .selectFrom('form_results')
    .select(['leads_to', 'notice'])
    .where('session', '=', session)
    .where('form', '=', form)
    .executeTakeFirst();
  return row && { leadsTo: row.leads_to, notice: row.notice };
}

/** Takes the notice for the next page; false when another request has taken it meanwhile. */
export async function takeNotice(
  engine: Engine,
  { session, form }: SentForm,
  notice: string,
): Promise<boolean> {
  return engine.transaction(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('form_results')
      .set({ notice: null })
      .where('session', '=', session)
      .where('form', '=', form)
      .where('notice', '=', notice)
      .executeTakeFirst();
    return Number(numUpdatedRows) === 1;
  });
}
