import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

import type { Request, RequestHandler, Response } from 'express';

import { getCompany } from '../store/records/companies.ts';
import { PASSWORDS_OFF } from '../features/sign-in/passwords.ts';
import { listBrowserSessions } from '../features/sign-in/sessions.ts';
import type { ActiveSession } from '../store/accounts/session-rows.ts';
import { type Administrator, lacksSecondFactor } from '../store/accounts/administrator-rows.ts';
import { UsageError } from '../../errors.ts';
import { exchangeOf } from '../connections/exchange.ts';
import { AuthorityEndedError, FormUsedError } from '../store/accounts/authorised-transaction.ts';
import { findFormResult, keepFormResult, takeNotice } from '../store/accounts/sent-forms.ts';
import { countUnseen } from '../store/accounts/notice-rows.ts';
import type { AssetPaths } from './assets.ts';
import type { Cookies } from './cookies.ts';
import type { createDownloadLimit } from '../views/download.ts';
import { formTokenFor } from '../views/form-tokens.ts';
import type { Services } from '../views/services.ts';
import { notWellFormed, PageError, toPageError } from '../views/page-error.ts';
import { SECOND_FACTOR_PATH } from '../features/sign-in/second-factor-page.ts';
import { runWithProof } from './proof-page.ts';
import type { AdministratorsRoute, Route } from './routes.ts';
import { withQuery } from '../views/form.ts';
import { administratorPage, guestPage } from './frame.ts';
import {
  type DownloadReply,
  type GuestVisit,
  type ActionMessage,
  redirect,
  type RedirectReply,
  type PortalReply,
  signedOutRedirect,
  type Visit,
} from '../views/visit.ts';

export interface Answering extends Services {
  countDownload: ReturnType<typeof createDownloadLimit>;
  cookies: Cookies;
  assets: AssetPaths;
}

/** The browser that sent a request, and the administrator signed in with it, if any. */
export interface Visitor {
  /** The secret from which the browser's form tokens are derived. */
  formSecret: string;
  administrator?: Administrator;
  session?: ActiveSession;
}

const CLIENT_CHARACTERS_MAX = 200;
/** Query parameter with the id of the form whose notice the page shows. */
const DONE = 'done';
const LOOK_EVERY_MS = 50;
/** Longest wait for the result of a form that was sent twice. Only resending very many deliveries takes longer. */
const WAIT_MS_MAX = 5_000;

/** Returns the visitor of a request, which the portal identifies before routing. */
export function visitorOf(res: Response): Visitor {
  return res.locals.visitor as Visitor;
}

/**
 * Creates the Express handler of a route. Visitors who can't see the page yet are redirected to sign in, or to set up the
 * second factor that their company requires.
 */
export function answer(route: Route, answering: Answering): RequestHandler {
  return async (req, res) => {
    exchangeOf(res).page = `/portal${route.path}`;
    const guest = guestVisitOf(req, res, answering);
    refuseUnstorable(guest);
    if (route.needsPasswords && answering.passwordsOff) throw new UsageError(PASSWORDS_OFF);
    if (route.access === 'guests') {
      await write(await route.page(guest, answering), { req, res, answering });
      return;
    }
    const visit = await visitOf(guest, res, answering);
    if (!visit) res.redirect(303, signInPath(req, guest, await hasEnded(guest, answering)));
    else if (mustSetUpFirst(visit, route, answering)) res.redirect(303, SECOND_FACTOR_PATH);
    else {
      if (route.downloads) answering.countDownload(route.downloads, visit, res);
      await write(await replyOnce(visit, route, answering), { req, res, visit, answering });
    }
  };
}

/** Whether an administrator must first set up the second factor that their company requires. Signing out is possible. */
function mustSetUpFirst(
  { company, administrator }: Visit,
  { path, endsSession }: AdministratorsRoute,
  { passwordsOff }: Answering,
): boolean {
  const isMissing = company.secondFactorRequired && lacksSecondFactor(administrator) && !passwordsOff;
  return isMissing && !endsSession && `/portal${path}` !== SECOND_FACTOR_PATH;
}

/** Runs a page or action. A form that was sent before isn't run again, but redirects to the same page as the first time. */
async function replyOnce(
  visit: Visit,
  { page: ask, endsSession = false }: AdministratorsRoute,
  answering: Answering,
): Promise<PortalReply> {
  const { session, act } = visit;
  const { form } = act.by;
  if (form === undefined) return ask(visit, answering);
  const findEarlier = () => findEarlierReply(answering, session, form);
  const earlier = await findEarlier();
  if (earlier) return earlier;
  try {
    const reply = await runWithProof(visit, answering, ask);
    if (reply.kind === 'redirect') return await keepReply(reply, { session, form }, answering);
    // The form may have been sent twice, and the second one refused because the first has done its work.
    return (await findEarlier()) ?? reply;
  } catch (error) {
    // The results of a session's forms end with it.
    if (endsSession && error instanceof AuthorityEndedError) return signedOutRedirect;
    const isRefused = error instanceof FormUsedError || toPageError(error).status < 500;
    const earlierMeanwhile = isRefused ? await findEarlier() : undefined;
    if (!earlierMeanwhile) throw error;
    return earlierMeanwhile;
  }
}

/** Stores the redirect that answers a form, and its notice. */
async function keepReply(
  reply: RedirectReply,
  { session, form }: { session: ActiveSession; form: string },
  { engine }: Answering,
): Promise<RedirectReply> {
  const { to, notice } = reply;
  const leadsTo = notice ? `${to}${to.includes('?') ? '&' : '?'}${DONE}=${form}` : to;
  await keepFormResult(engine, session, form, { leadsTo, notice: notice && JSON.stringify(notice) });
  return { ...reply, to: leadsTo };
}

/**
 * Returns the reply to a form that was sent before; undefined if it wasn't. Waits while the first submission is still
 * being answered, perhaps by another process.
 * @throws PageError when the first submission takes too long, or was interrupted.
 */
async function findEarlierReply(
  { engine }: Answering,
  session: ActiveSession,
  form: string,
): Promise<RedirectReply | undefined> {
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const leadsTo = await findFormResult(engine, session, form);
    if (leadsTo !== null) return leadsTo === undefined ? undefined : redirect(leadsTo);
    if (performance.now() >= deadline) {
      throw new PageError(
        409,
        'You already sent this form',
        'It was carried out once. To see the result, go to the page that lists what you made or changed.',
      );
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Refuses a request with the character U+0000, the only one that PostgreSQL can't store. */
function refuseUnstorable({ params, query, form }: GuestVisit): void {
  const texts = [...Object.values(params), ...query.values(), ...form.values()];
  if (texts.some((text) => text.includes('\0'))) throw notWellFormed();
}

/** Returns the URL of the sign-in page, with the page to return to. An action isn't repeated, so nothing returns to it. */
function signInPath(req: Request, { path }: GuestVisit, isOver: boolean): string {
  const next = req.method === 'POST' || path === '/portal' || path === '/portal/' ? undefined : path;
  return withQuery('/portal/sign-in', { next, over: isOver ? 'yes' : undefined });
}

/** Whether the browser had a session that has ended. */
async function hasEnded(
  { tokens, now }: GuestVisit,
  { engine, sessionLengths }: Answering,
): Promise<boolean> {
  if (tokens.length === 0) return false;
  return (await listBrowserSessions(engine.db, tokens, sessionLengths, now)).length === 0;
}

function guestVisitOf(req: Request, res: Response, { now, cookies, log, supportUrl }: Answering): GuestVisit {
  const { requestId, address } = exchangeOf(res);
  const query = req.originalUrl.indexOf('?');
  return {
    path: req.originalUrl,
    params: Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)])),
    query: new URLSearchParams(query === -1 ? '' : req.originalUrl.slice(query)),
    form: (res.locals.form as URLSearchParams | undefined) ?? new URLSearchParams(),
    tokens: cookies.sessionsOf(req),
    formToken: formTokenFor(visitorOf(res).formSecret),
    requestId,
    address,
    client: (req.get('User-Agent') ?? '').slice(0, CLIENT_CHARACTERS_MAX),
    supportUrl,
    browser: cookies.browserOf(req),
    now: now(),
    onAccount: ({ company, id }) => {
      exchangeOf(res).visitor = { company, administrator: id };
    },
    afterwards: (work) => {
      const failed = (err: unknown) => log.error({ requestId, err }, 'page.failed');
      const begin = () => void work().catch(failed);
      // The visitor may have disconnected already.
      if (res.closed) begin();
      else res.once('close', begin);
    },
  };
}

async function visitOf(guest: GuestVisit, res: Response, { engine }: Answering): Promise<Visit | undefined> {
  const { administrator, session } = visitorOf(res);
  if (!administrator || !session) return undefined;
  const { address, client, now } = guest;
  const { id, company } = administrator;
  const form = res.locals.formId as string | undefined;
  return {
    ...guest,
    administrator,
    session,
    act: { company, by: { administrator: id, session: session.id, address, client, form }, now },
    company: await getCompany(engine, company),
  };
}

interface Answered {
  req: Request;
  res: Response;
  visit?: Visit;
  answering: Answering;
}

async function write(reply: PortalReply, { req, res, visit, answering }: Answered): Promise<void> {
  if (reply.kind === 'page') {
    // A HEAD request shows nothing, so it must not use up a notice that is shown once.
    const notice = visit && req.method !== 'HEAD' ? await noticeFor(visit, answering) : undefined;
    const unseen =
      visit && !answering.isMailing ? await countUnseen(answering.engine, visit.administrator) : undefined;
    const text = visit
      ? administratorPage(answering, visit, reply, { notice, unseen })
      : guestPage(answering, reply);
    res.status(reply.status).type('html').send(text);
  } else if (reply.kind === 'file') {
    await sendFile(reply, req, res.set(reply.headers));
  } else {
    writeRedirect(reply, res, answering);
  }
  req.resume();
}

async function sendFile({ body }: DownloadReply, req: Request, res: Response): Promise<void> {
  if (Buffer.isBuffer(body)) res.send(body);
  else if (req.method === 'HEAD') res.end();
  else
    await pipeline(Readable.from(body), res).catch((error: unknown) => {
      // A visitor who disconnects is no error.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    });
}

/** Reads the notice of the form whose id is in the page's URL. */
async function noticeFor(
  { session, query }: Visit,
  { engine }: Answering,
): Promise<ActionMessage | undefined> {
  const form = query.get(DONE);
  const notice = form === null ? undefined : await takeNotice(engine, session, form);
  // `keepReply` wrote it.
  return notice === undefined ? undefined : (JSON.parse(notice) as ActionMessage);
}

function writeRedirect(
  { to, sessions, browser }: RedirectReply,
  res: Response,
  { cookies }: Answering,
): void {
  if (sessions === 'ended') {
    cookies.endSessions(res);
    // Also removes the pages that a browser has kept.
    res.set('Clear-Site-Data', '"cache"');
  } else if (sessions) {
    cookies.setSessions(res, sessions);
  }
  if (browser !== undefined) cookies.setBrowser(res, browser);
  res.redirect(303, to);
}
