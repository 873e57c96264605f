import { createSignInLimits } from '../access/sign-in-limits.ts';
import type { PortalOptions } from './options.ts';
import { changeOwnPassword, endOwnSessions, showAccount } from './pages/account.ts';
import { showAudit } from './pages/audit.ts';
import { recoverSince, showDeliveries } from './pages/deliveries.ts';
import { sendAgain, showDelivery } from './pages/delivery.ts';
import { downloadDocument, showDocument } from './pages/document.ts';
import { showDocuments } from './pages/documents.ts';
import { acceptInvitation, openInvitation, showInvitation } from './pages/invitation.ts';
import { createNewKey, revokeOldKey, showKeys, showNewKey } from './pages/keys.ts';
import { chooseOneCompany, showCompanies } from './pages/companies.ts';
import { showOverview } from './pages/overview.ts';
import { inviteSomebody, removeSomebody, showPeople, withdraw } from './pages/people.ts';
import { showSignIn, signInWithPassword, signOut } from './pages/sign-in.ts';
import { webhookPages } from './pages/webhook.ts';
import { registerWebhook, showNewWebhook, showWebhooks } from './pages/webhooks.ts';
import { showUsage } from './pages/usage.ts';
import type { GuestPage, Page } from './visit.ts';

/**
 * A page or an action, and who may ask for it. `path` is below `/portal`, with `:name` for what varies. An action that
 * ends the session leads to the sign-in page also when the session has ended before.
 */
export type Route = { method: 'get' | 'post'; path: string; endsSession?: boolean } & (
  { access: 'administrators'; page: Page } | { access: 'guests'; page: GuestPage }
);

export type AdministratorsRoute = Extract<Route, { access: 'administrators' }>;

/**
 * Every page and action of the portal.
 *
 * To add one: write `pages/SUBJECT.ts` with a function that takes what it needs and returns the page, as its
 * neighbours do; list it here; if it is a section, add it to views/navigation.ts; and list its address in
 * test/browser/portal-pages.test.ts, where every page is looked at in a browser. A page returns `page(...)`, an action
 * `redirect(...)` with a notice, which may hold secrets that are shown once. An error that it throws becomes an error
 * page (see page-error.ts). A form that is refused returns its own page again with status 422 (`refusalOf`). Look a
 * record up by `visit.company.id` and its id together. An action makes its change by a deed (../store/portal/deeds.ts) on the
 * authority of `visit.signedIn`, and is listed in test/server/portal/authority.test.ts.
 */
export function portalRoutes(options: PortalOptions): Route[] {
  const { engine, documents, baseUrl, keyPrefix, rateLimitPerMinute, serviceName, sessionLengths } = options;
  const limits = createSignInLimits(engine);
  return [
    guestGet('/sign-in', showSignIn),
    guestPost('/sign-in', signInWithPassword({ engine, limits, sessionLengths })),
    guestGet('/invitation', showInvitation),
    guestPost('/invitation', openInvitation(engine)),
    guestPost('/invitation/accept', acceptInvitation({ engine, limits, serviceName, sessionLengths })),
    guestGet('/companies', showCompanies({ engine, sessionLengths })),
    guestPost('/companies', chooseOneCompany({ engine, sessionLengths })),
    { ...post('/sign-out', signOut(engine)), endsSession: true },

    get('/', showOverview(engine)),

    get('/keys', showKeys({ engine, keyPrefix })),
    get('/keys/new', showNewKey(engine)),
    post('/keys/new', createNewKey({ engine, keyPrefix, baseUrl })),
    post('/keys/:id/revoke', revokeOldKey(engine)),
    ...webhookRoutes(options),

    get('/documents', showDocuments(engine)),
    get('/documents/:id', showDocument(engine)),
    get('/documents/:id/pdf', downloadDocument(documents.find)),

    get('/usage', showUsage({ engine, rateLimitPerMinute })),

    get('/people', showPeople(engine)),
    post('/people/invite', inviteSomebody({ engine, baseUrl })),
    post('/people/invitations/:id/withdraw', withdraw(engine)),
    post('/people/:id/remove', removeSomebody(engine)),

    get('/account', showAccount({ engine, sessionLengths })),
    post('/account/password', changeOwnPassword({ engine, limits, serviceName, sessionLengths })),
    post('/account/sessions/:id/end', endOwnSessions({ engine, limits, sessionLengths })),
    {
      ...post('/account/sign-out-everywhere', endOwnSessions({ engine, limits, sessionLengths })),
      endsSession: true,
    },

    get('/audit', showAudit(engine)),
  ];
}

function webhookRoutes({ engine, secrets, serviceName, pingWaitMs }: PortalOptions): Route[] {
  const one = webhookPages({ engine, pingWaitMs });
  const needs = { engine, box: secrets, serviceName };
  return [
    get('/webhooks', showWebhooks(engine)),
    post('/webhooks', registerWebhook({ engine, secrets })),
    get('/webhooks/new', showNewWebhook(engine)),
    get('/webhooks/:id', one.show),
    post('/webhooks/:id/ping', one.sendPing),
    post('/webhooks/:id/pause', one.pause),
    post('/webhooks/:id/resume', one.resume),
    post('/webhooks/:id/delete', one.remove),
    get('/webhooks/:id/deliveries', showDeliveries(engine)),
    post('/webhooks/:id/recover', recoverSince(engine)),
    get('/webhooks/:id/deliveries/:delivery', showDelivery(needs)),
    post('/webhooks/:id/deliveries/:delivery/send-again', sendAgain(needs)),
  ];
}

/** A page for administrators who are signed in; other visitors are sent to the sign-in page and back. */
function get(path: string, page: Page): Route {
  return { method: 'get', path, access: 'administrators', page };
}

/** An action of administrators who are signed in. Its form carries the form token, which is checked before. */
function post(path: string, page: Page): Route {
  return { method: 'post', path, access: 'administrators', page };
}

/** A page for everybody. */
function guestGet(path: string, page: GuestPage): Route {
  return { method: 'get', path, access: 'guests', page };
}

/** An action of everybody. Its form carries the form token, which is checked before. */
function guestPost(path: string, page: GuestPage): Route {
  return { method: 'post', path, access: 'guests', page };
}
