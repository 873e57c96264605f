import { type ErrorRequestHandler, type Request, type RequestHandler, Router, text } from 'express';
import helmet from 'helmet';

import { useSession } from '../features/sign-in/sessions.ts';
import { createSignInLimits } from '../access/sign-in-limits.ts';
import { mintToken } from '../access/tokens.ts';
import { exchangeOf } from '../connections/exchange.ts';
import { createAssets } from './assets.ts';
import { createCookies } from './cookies.ts';
import { createDownloadLimit } from '../views/download.ts';
import { FORM_TOKEN_FIELD, formIdOf, isFormToken, isFromOwnPage } from '../views/form-tokens.ts';
import type { PortalOptions } from '../views/services.ts';
import { notFound, PageError, toPageError } from '../views/page-error.ts';
import { answer, type Answering, type Visitor, visitorOf } from './answering.ts';
import { routes } from './routes.ts';
import { COMPANIES_PATH } from '../features/sign-in/choose-company-page.ts';
import { errorPage } from './frame.ts';
import { signedOutRedirect } from '../views/visit.ts';

export const PORTAL_PATH = '/portal';
const FORM_BYTES_MAX = 32 * 1024;

/** Creates the portal's router. Every request passes through its handlers in the order of their registration. */
export function createPortal(options: PortalOptions): Router {
  const isSecure = () => options.baseUrl().startsWith('https:');
  const assets = createAssets(`${PORTAL_PATH}/assets`, options.look);
  const answering: Answering = {
    ...options,
    limits: createSignInLimits(options.engine),
    countDownload: createDownloadLimit(),
    cookies: createCookies({ isSecure }),
    assets: assets.paths,
  };
  const router = Router({ caseSensitive: true, strict: true });
  router.use(protect);
  router.use('/assets', assets.router);
  router.use(keepFromCaches);
  // The form is read before the session is looked up, because a slow client can take minutes to send the form.
  router.use(readForm);
  router.use(findVisitor(answering));
  for (const route of routes.filter(({ isOpen }) => isOpen))
    router.post(route.path, answer(route, answering));
  router.use(refuseOtherSites(answering));
  for (const { path } of routes.filter(({ endsSession }) => endsSession))
    router.post(path, leadOutAgain(answering));
  router.use(refuseForeignForms);
  for (const route of routes) router[route.method](route.path, answer(route, answering));
  router.use(refuseOtherMethods());
  router.use(() => {
    throw notFound();
  });
  router.use(showError(answering));
  return router;
}

/** Sets security headers: pages load nothing from other sites, run no scripts but their own, and can't be framed. */
const protect = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'"],
      'img-src': ["'self'"],
      'form-action': ["'self'"],
      'base-uri': ["'none'"],
      'frame-ancestors': ["'none'"],
      'require-trusted-types-for': ["'script'"],
    },
  },
  // Not no-referrer: browsers would hide the origin of our own forms, which `isFromOwnPage` checks.
  referrerPolicy: { policy: 'same-origin' },
  frameguard: { action: 'deny' },
  // The server sets these headers on every response.
  hsts: false,
  noSniff: false,
});

/** Keeps pages, which hold private data, out of caches; the back button reloads them. */
const keepFromCaches: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

function findVisitor({ engine, cookies, sessionLengths, now }: Answering): RequestHandler {
  return async (req, res, next) => {
    const found = await useSession(engine, cookies.sessionsOf(req), sessionLengths, now());
    if (found) {
      res.locals.visitor = { ...found, formSecret: found.session.token } satisfies Visitor;
      exchangeOf(res).visitor = {
        company: found.administrator.company,
        administrator: found.administrator.id,
      };
    } else {
      let guest = cookies.guestOf(req);
      if (guest === undefined || guest.length < 40) {
        guest = mintToken();
        cookies.setGuest(res, guest);
      }
      res.locals.visitor = { formSecret: guest } satisfies Visitor;
    }
    next();
  };
}

/** Reads the body of a form as text. Fields may be repeated, but aren't nested. */
const readForm: RequestHandler = text({ type: 'application/x-www-form-urlencoded', limit: FORM_BYTES_MAX });

/** Refuses a form sent by another site's page, before any action sees it. */
function refuseOtherSites({ baseUrl }: Answering): RequestHandler {
  return (req, _res, next) => {
    const { origin, host } = req.headers;
    const headers = { origin, host, 'sec-fetch-site': req.get('sec-fetch-site') };
    if (isForm(req) && !isFromOwnPage(headers, baseUrl())) throw unusableForm();
    next();
  };
}

/**
 * Redirects a form that ends the session when the session has already ended, as after a second click. It changes nothing and
 * sets no cookie, because it can't check the form token. With sessions of other companies left, it leads to the list of them.
 */
function leadOutAgain({ cookies }: Answering): RequestHandler {
  return (req, res, next) => {
    if (visitorOf(res).session) next();
    else res.redirect(303, cookies.sessionsOf(req).length > 1 ? COMPANIES_PATH : signedOutRedirect.to);
  };
}

/** Refuses a form without the token of a page that this browser was given, before any action sees it. */
const refuseForeignForms: RequestHandler = (req, res, next) => {
  if (!isForm(req)) {
    next();
    return;
  }
  const form = new URLSearchParams(typeof req.body === 'string' ? req.body : '');
  const tokens = form.getAll(FORM_TOKEN_FIELD);
  const [token = ''] = tokens;
  if (tokens.length !== 1 || !isFormToken(token, visitorOf(res).formSecret)) throw unusableForm();
  form.delete(FORM_TOKEN_FIELD);
  res.locals.form = form;
  res.locals.formId = formIdOf(token, req.path);
  next();
};

function isForm({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function unusableForm(): PageError {
  return new PageError(
    403,
    'This form has expired',
    'Nothing was changed. You may have signed in or out, or changed company, since you loaded it. Go back, reload the page and try again.',
  );
}

function refuseOtherMethods(): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });
  for (const path of new Set(routes.map(({ path }) => path))) {
    const methods = routes.filter((route) => route.path === path).map(({ method }) => method);
    const allow = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : ['POST'])).join(', ');
    router.all(path, () => {
      throw new PageError(
        405,
        'This can’t be opened',
        'Go back, and use the buttons and links on the page.',
        {
          headers: { Allow: allow },
        },
      );
    });
  }
  return router;
}

/** Creates the only handler that turns errors into pages. */
function showError(answering: Answering): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    const error = toPageError(thrown);
    const { requestId } = exchangeOf(res);
    if (error.cause !== undefined) answering.log.error({ requestId, err: error.cause }, 'page.failed');
    if (res.headersSent) {
      next(thrown);
      return;
    }
    const visitor = res.locals.visitor as Visitor | undefined;
    const isSignedIn = visitor?.administrator !== undefined;
    const body = errorPage(answering, error, { requestId, isSignedIn });
    res
      .status(error.status)
      .set({ ...error.headers, 'Cache-Control': 'no-store' })
      .type('html')
      .send(req.method === 'HEAD' ? undefined : body);
  };
}
