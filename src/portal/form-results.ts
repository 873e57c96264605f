import { setTimeout as pause } from 'node:timers/promises';

import { openSealed, seal } from '../access/sealed-text.ts';
import type { ActiveSession } from '../access/sessions.ts';
import type { Engine } from '../store/engine.ts';
import { findFormResult, setFormResult, takeNotice } from '../store/form-results.ts';
import { PageError } from './page-error.ts';
import type { Notice, RedirectReply } from './visit.ts';

/*
 * A form does one thing once. Its deed takes it (see ../store/deeds.ts) in the deed's own unit of work; what came of it
 * is kept here: where it leads, and what the page there says once. Whoever sends the form again is led to the same page.
 */

/** The part of a page's address that names the form whose notice the page shows. */
const DONE = 'done';
const LOOK_EVERY_MS = 50;
/** Longer than any deed but the sending of very many deliveries. */
const WAIT_MS_MAX = 5_000;

/**
 * Keeps what came of a form, and gives the address that it leads to. A notice may hold a secret, so it is encrypted
 * with the session's token, which the database doesn't hold.
 */
export async function keepResult(
  engine: Engine,
  session: ActiveSession,
  form: string,
  { to, notice }: RedirectReply,
): Promise<string> {
  const leadsTo = notice ? `${to}${to.includes('?') ? '&' : '?'}${DONE}=${form}` : to;
  const sealed = notice ? seal(JSON.stringify(notice), session.token) : null;
  await setFormResult(engine, { session: session.id, form }, { leadsTo, notice: sealed });
  return leadsTo;
}

/**
 * Where a form has led that was sent before; undefined when it wasn't. While its first sending isn't answered, perhaps
 * by another process, it waits for that.
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

/** What the page that a form led to has to say, if nobody has seen it; of several requests at once, one gets it. */
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
  // `keepResult` wrote it.
  return JSON.parse(openSealed(sealed, session.token)) as Notice;
}
