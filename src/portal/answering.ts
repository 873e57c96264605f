import type { Request, RequestHandler, Response } from 'express';

import { keepFlash, takeKeptFlash } from '../access/sessions.ts';
import { getCompany } from '../access/companies.ts';
import type { AssetPaths } from './assets.ts';
import type { Cookies } from './cookies.ts';
import { formTokenFor } from './form-tokens.ts';
import type { PortalOptions } from './options.ts';
import { notWellFormed } from './page-error.ts';
import type { Route } from './route.ts';
import { frame } from './views/frame.ts';
import { shell } from './views/shell.ts';
import type { GuestVisit, Notice, PageReply, RedirectReply, Reply, Visit } from './visit.ts';
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
    if (visit) await write(await route.page(visit), { req, res, guest, visit, answering });
    else res.redirect(303, signInPath(req, guest));
  };
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

function guestVisitOf(req: Request, res: Response, { now }: Answering): GuestVisit {
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
    now: now(),
  };
}

async function visitOf(guest: GuestVisit, res: Response, { engine }: Answering): Promise<Visit | undefined> {
  const { administrator, session } = visitorOf(res);
  if (!administrator || !session) return undefined;
  return { ...guest, administrator, session, company: await getCompany(engine, administrator.company) };
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
    await writeRedirect(reply, answered);
  }
  req.resume();
}

async function pageText(reply: PageReply, { req, visit, answering }: Answered): Promise<string> {
  const { serviceName, assets } = answering;
  if (!visit)
    return shell({ serviceName, assets, title: reply.title, content: reply.content, isAlone: true });
  // A HEAD request shows nothing, so it must not use up what is shown once.
  const notice = req.method === 'HEAD' ? undefined : await takeNotice(visit, answering);
  return shell({
    serviceName,
    assets,
    title: `${reply.title} · ${visit.company.name}`,
    content: frame({ visit, reply, notice, serviceName }),
  });
}

async function takeNotice(visit: Visit, { engine }: Answering): Promise<Notice | undefined> {
  const text = await takeKeptFlash(engine, visit.session);
  // `writeRedirect` wrote it.
  return text === undefined ? undefined : (JSON.parse(text) as Notice);
}

async function writeRedirect(
  { to, notice, session }: RedirectReply,
  { res, visit, answering }: Answered,
): Promise<void> {
  const { engine, cookies } = answering;
  if (notice && visit) await keepFlash(engine, visit.session, JSON.stringify(notice));
  if (session === 'ended') {
    cookies.endSession(res);
    // Whatever a browser has kept of the pages goes too.
    res.set('Clear-Site-Data', '"cache"');
  } else if (session) {
    cookies.setSession(res, session.token);
  }
  res.redirect(303, to);
}
