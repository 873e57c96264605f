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

/** Creates the portal: every request passes through these steps in this order. */
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
  // Reads the form before it looks the session up, because a slow client may send the form for minutes.
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

/** Pages load nothing from other sites, run no scripts but their own, and can't be put into a frame. */
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
  // The server gives these to every answer.
  hsts: false,
  noSniff: false,
});

/** Pages hold private data, so no cache keeps them, and the back button reloads them. */
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

/** Reads a form as text. Fields may be repeated and aren't nested. */
const readForm: RequestHandler = text({ type: 'application/x-www-form-urlencoded', limit: FORM_BYTES_MAX });

/** Refuses a form that another site's page sent, before any action sees it. */
function refuseOtherSites({ baseUrl }: Answering): RequestHandler {
  return (req, _res, next) => {
    const { origin, host } = req.headers;
    const headers = { origin, host, 'sec-fetch-site': req.get('sec-fetch-site') };
    if (isForm(req) && !isFromOwnPage(headers, baseUrl())) throw unusableForm();
    next();
  };
}

/**
 * Answers a form that ends a session when the browser has none any more, as after a second click. It changes nothing and sets
 * no cookie, because it can't check the form's token. A browser with sessions of other companies is led to their page.
 */
function leadOutAgain({ cookies }: Answering): RequestHandler {
  return (req, res, next) => {
    if (visitorOf(res).session) next();
    else res.redirect(303, cookies.sessionsOf(req).length > 1 ? COMPANIES_PATH : signedOutRedirect.to);
  };
}

/** Refuses a form that doesn't come from a page that this browser was given, before any action sees it. */
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
    'This form can’t be used any more',
    'Nothing was changed. You may have signed in or out, or chosen another company, since it was loaded: go back, load the page again and repeat what you did.',
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
        'Go back, and use the buttons and links of the page.',
        {
          headers: { Allow: allow },
        },
      );
    });
  }
  return router;
}

/** The one place where an error becomes a page. */
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
