import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import type { ActiveSession } from '../access/sessions.ts';
import { openSealed, seal } from '../sealed-text.ts';
import type { Engine } from '../store/engines/engine.ts';
import { findFormResult, setFormResult, takeNotice } from '../store/accounts/sent-forms.ts';
import { PageError } from './page-error.ts';
import type { Notice, RedirectReply } from './visit.ts';

/*
 * A form works once: the transaction marks it as used (../store/accounts/authorised-transaction.ts). Its result is kept here:
 * the page that it leads to, and the notice that the page shows once. Sending the form again leads to the same page.
 */

/** The query parameter with the id of the form whose notice the page shows. */
const DONE = 'done';
const LOOK_EVERY_MS = 50;
/** Only a form that sends very many deliveries again takes longer. */
const WAIT_MS_MAX = 5_000;

/**
 * Keeps the result of a form. A notice may hold a secret, so it is encrypted with the session's token, which the
 * database doesn't hold.
 * @returns the address that the form leads to.
 */
export async function keepResult(
  engine: Engine,
  session: ActiveSession,
  form: string,
  { to, notice }: RedirectReply,
): Promise<string> {
  const leadsTo = notice ? `${to}${to.includes('?') ? '&' : '?'}${DONE}=${form}` : to;
  const sealed = notice ? seal(JSON.stringify(notice), keyOf(session)) : null;
  await setFormResult(engine, { session: session.id, form }, { leadsTo, notice: sealed });
  return leadsTo;
}

/**
 * The address that a form led to when it was sent before; undefined when it wasn't. Waits while the first sending is
 * still being answered, perhaps by another process.
 * @throws PageError when the first sending takes too long, or was broken off.
 */
export async function findResult(
  engine: Engine,
  { id }: ActiveSession,
  form: string,
): Promise<string | undefined> {
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const found = await findFormResult(engine, { session: id, form });
    if (!found || found.leadsTo !== null) return found?.leadsTo ?? undefined;
    if (performance.now() >= deadline) {
      throw new PageError(
        409,
        'This form was sent before',
        'It did its work once, and not again now. Its answer isn’t known here: look at the page that lists what you made or changed.',
      );
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** The notice of the form in the page's address, unless it was shown before. Of several requests at once, one gets it. */
export async function takeNoticeOf(
  engine: Engine,
  session: ActiveSession,
  query: URLSearchParams,
): Promise<Notice | undefined> {
  const form = query.get(DONE);
  if (form === null) return undefined;
  const of = { session: session.id, form };
  const sealed = (await findFormResult(engine, of))?.notice ?? null;
  if (sealed === null || !(await takeNotice(engine, of, sealed))) return undefined;
  const text = openSealed(sealed, keyOf(session));
  if (text === undefined) throw new Error('The notice of a form was changed.');
  // `keepResult` wrote it.
  return JSON.parse(text) as Notice;
}

/** The key of a session's notices. The database has only a digest of the token that it is derived from. */
function keyOf({ token }: ActiveSession): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', token, '', 'fieldledger portal notice', 32)));
}
