import type { Request, RequestHandler, Response } from 'express';

import { getCompany } from '../access/companies.ts';
import { FormUsedError } from '../store/deeds.ts';
import type { AssetPaths } from './assets.ts';
import type { Cookies } from './cookies.ts';
import { findResult, keepResult, takeNoticeOf } from './form-results.ts';
import { formTokenFor } from './form-tokens.ts';
import type { PortalOptions } from './options.ts';
import { notWellFormed, toPageError } from './page-error.ts';
import type { Page, Route } from './route.ts';
import { frame } from './views/frame.ts';
import { shell } from './views/shell.ts';
import {
  type GuestVisit,
  type PageReply,
  redirect,
  type RedirectReply,
  type Reply,
  type Visit,
} from './visit.ts';
import { traceOf, visitorOf } from './visitor.ts';

/** What it takes to answer. */
export interface Answering extends PortalOptions {
  cookies: Cookies;
  assets: AssetPaths;
}

const CLIENT_CHARACTERS_MAX = 200;

/** Makes of a route what Express calls: who may not see it is sent to sign in, and its reply is written. */
export function answer(route: Route, answering: Answering): RequestHandler {
  return async (req, res) => {
    traceOf(res).page = `/portal${route.path}`;
    const guest = guestVisitOf(req, res, answering);
    refuseUnstorable(guest);
    if (route.access === 'guests') {
      await write(await route.page(guest), { req, res, guest, answering });
      return;
    }
    const visit = await visitOf(guest, res, answering);
    if (visit) {
      const reply = await replyOnce(visit, route.page, answering);
      await write(reply, { req, res, guest, visit, answering });
    } else res.redirect(303, signInPath(req, guest));
  };
}

/** Asks the page, unless the form was sent before: then it leads where it has led. */
async function replyOnce(visit: Visit, ask: Page, { engine }: Answering): Promise<Reply> {
  const { session, signedIn } = visit;
  const { form } = signedIn;
  if (form === undefined) return ask(visit);
  const findLed = async () => {
    const to = await findResult(engine, session, form);
    return to === undefined ? undefined : redirect(to);
  };
  const led = await findLed();
  if (led) return led;
  try {
    const reply = await ask(visit);
    if (reply.kind === 'redirect') return { ...reply, to: await keepResult(engine, session, form, reply) };
    // What is refused may be so because its first sending, which was under way, has just done it.
    return (await findLed()) ?? reply;
  } catch (error) {
    const isRefused = error instanceof FormUsedError || toPageError(error).status < 500;
    const ledMeanwhile = isRefused ? await findLed() : undefined;
    if (!ledMeanwhile) throw error;
    return ledMeanwhile;
  }
}

/** PostgreSQL stores every character but one, which nobody types. */
function refuseUnstorable({ params, query, form }: GuestVisit): void {
  const texts = [...Object.values(params), ...query.values(), ...form.values()];
  if (texts.some((text) => text.includes('\0'))) throw notWellFormed();
}

/** Only what was looked at is come back to; an action isn't repeated. */
function signInPath(req: Request, { path }: GuestVisit): string {
  const next = req.method === 'POST' || path === '/portal' || path === '/portal/' ? undefined : path;
  return next === undefined ? '/portal/sign-in' : `/portal/sign-in?next=${encodeURIComponent(next)}`;
}

function guestVisitOf(req: Request, res: Response, { now, cookies }: Answering): GuestVisit {
  const { requestId, address } = traceOf(res);
  const query = req.originalUrl.indexOf('?');
  return {
    path: req.originalUrl,
    params: Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)])),
    query: new URLSearchParams(query === -1 ? '' : req.originalUrl.slice(query)),
    form: (res.locals.form as URLSearchParams | undefined) ?? new URLSearchParams(),
    formToken: formTokenFor(visitorOf(res).formSecret),
    requestId,
    address,
    client: (req.get('User-Agent') ?? '').slice(0, CLIENT_CHARACTERS_MAX),
    browser: cookies.browserOf(req),
    now: now(),
    onAccount: ({ company, id }) => {
      traceOf(res).visitor = { company, administrator: id };
    },
  };
}

async function visitOf(guest: GuestVisit, res: Response, { engine }: Answering): Promise<Visit | undefined> {
  const { administrator, session } = visitorOf(res);
  if (!administrator || !session) return undefined;
  const { address, client } = guest;
  return {
    ...guest,
    administrator,
    session,
    signedIn: {
      administrator: administrator.id,
      session: session.id,
      address,
      client,
      form: res.locals.formId as string | undefined,
    },
    company: await getCompany(engine, administrator.company),
  };
}

interface Answered {
  req: Request;
  res: Response;
  guest: GuestVisit;
  visit?: Visit;
  answering: Answering;
}

async function write(reply: Reply, answered: Answered): Promise<void> {
  const { req, res } = answered;
  if (reply.kind === 'page') {
    res
      .status(reply.status ?? 200)
      .type('html')
      .send(await pageText(reply, answered));
  } else if (reply.kind === 'file') {
    res.set(reply.headers).send(reply.body);
  } else {
    writeRedirect(reply, answered);
  }
  req.resume();
}

async function pageText(reply: PageReply, { req, visit, answering }: Answered): Promise<string> {
  const { serviceName, assets } = answering;
  if (!visit)
    return shell({ serviceName, assets, title: reply.title, content: reply.content, isAlone: true });
  // A HEAD request shows nothing, so it must not use up what is shown once.
  const notice =
    req.method === 'HEAD' ? undefined : await takeNoticeOf(answering.engine, visit.session, visit.query);
  return shell({
    serviceName,
    assets,
    title: `${reply.title} · ${visit.company.name}`,
    content: frame({ visit, reply, notice, serviceName }),
  });
}

function writeRedirect(
  { to, session, browser }: RedirectReply,
  { res, answering: { cookies } }: Answered,
): void {
  if (session === 'ended') {
    cookies.endSession(res);
    // Whatever a browser has kept of the pages goes too.
    res.set('Clear-Site-Data', '"cache"');
  } else if (session) {
    cookies.setSession(res, session.token);
  }
  if (browser !== undefined) cookies.setBrowser(res, browser);
  res.redirect(303, to);
}
