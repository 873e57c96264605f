import { changeOwnPassword, endOwnSessions, showAccount } from './pages/account.ts';
import { showAudit } from './pages/audit.ts';
import { chooseOneCompany, showCompanies } from './pages/companies.ts';
import { showDeliveries } from './pages/deliveries.ts';
import { sendAgain, showDelivery } from './pages/delivery.ts';
import {
  downloadDocument,
  downloadEInvoice,
  downloadStatement,
  handOneOver,
  showDocument,
} from './pages/document.ts';
import { showDocuments } from './pages/documents.ts';
import { showEvents } from './pages/events.ts';
import { mailReset, showForgotten } from './pages/forgotten.ts';
import { handAllOver, showHandOvers } from './pages/hand-overs.ts';
import { acceptInvitation, openInvitation, showInvitation } from './pages/invitation.ts';
import { changeOldKey, revokeOldKey, showKeys } from './pages/keys.ts';
import { createNewKey, showNewKey } from './pages/new-key.ts';
import { chooseNotices, showNotices, showStop, stopByLink } from './pages/notices.ts';
import { showOverview } from './pages/overview.ts';
import { inviteSomebody, requireOfAll, showPeople, withdraw } from './pages/people.ts';
import { showReceivables } from './pages/receivables.ts';
import { changeSomebody, removeSomebody } from './pages/person-access.ts';
import { recoverChosen, showRecover } from './pages/recover.ts';
import {
  addOwnSecondFactor,
  removeOwnSecondFactor,
  renewOwnRecoveryCodes,
  showSecondFactor,
} from './pages/second-factor.ts';
import { showSignIn, signInWithPassword, signOut } from './pages/sign-in.ts';
import { showUsage } from './pages/usage.ts';
import { pause, remove, resume, sendPing, showWebhook } from './pages/webhook.ts';
import { registerWebhook, showNewWebhook, showWebhooks } from './pages/webhooks.ts';
import type { DownloadKind } from './download.ts';
import type { GuestPage, PortalPage } from './visit.ts';

/**
 * A page or an action, and who may ask for it. `path` is below `/portal`, with `:name` for what varies. An action that
 * ends the session leads to the sign-in page also when the session has ended before. One that needs passwords is refused
 * where there are none. Another program may send one that `isOpen`, without a form token: the code in its path is the
 * authority. One with `downloads` is limited as they are.
 */
export type Route = {
  method: 'get' | 'post';
  path: string;
  endsSession?: boolean;
  needsPasswords?: boolean;
  isOpen?: boolean;
} & (
  | { access: 'administrators'; page: PortalPage; downloads?: DownloadKind }
  | { access: 'guests'; page: GuestPage }
);

export type AdministratorsRoute = Extract<Route, { access: 'administrators' }>;

/**
 * Every page and action of the portal. The form of an action carries the form token, which is checked before.
 *
 * To add one: write a file in `pages/` with a function that takes the visit and the services that it needs, as its
 * neighbours do; list it here; if it is a section, add it to views/navigation.ts; and list its address in
 * test/browser/portal-pages.test.ts, where every page is looked at in a browser. A page returns `page(...)`, an action
 * `redirect(...)` with a notice, which may hold secrets that are shown once. An error that it throws becomes an error
 * page (see page-error.ts). A form that is refused returns its own page again with status 422 (`refusalOf`). Look a
 * record up by `visit.company.id` and its id together. An action makes its change in an authorised transaction
 * (../store/accounts/authorised-transaction.ts) on the authority of `visit.act`, and is listed in
 * test/server/portal/_forms.ts. The transaction asks for a fresh proof of who is signed in (proof-page.ts), unless
 * it is told that the action needs none.
 */
export const routes: readonly Route[] = [
  guestGet('/sign-in', showSignIn),
  { ...guestPost('/sign-in', signInWithPassword), needsPasswords: true },
  guestGet('/invitation', showInvitation),
  guestPost('/invitation', openInvitation),
  { ...guestPost('/invitation/accept', acceptInvitation), needsPasswords: true },
  guestGet('/forgotten', showForgotten),
  { ...guestPost('/forgotten', mailReset), needsPasswords: true },
  guestGet('/notices/stop/:code', showStop),
  { ...guestPost('/notices/stop/:code', stopByLink), isOpen: true },
  guestGet('/companies', showCompanies),
  guestPost('/companies', chooseOneCompany),
  { ...post('/sign-out', signOut), endsSession: true },

  get('/', showOverview),

  get('/keys', showKeys),
  get('/keys/new', showNewKey),
  post('/keys/new', createNewKey),
  post('/keys/:id/change', changeOldKey),
  post('/keys/:id/revoke', revokeOldKey),

  get('/events', showEvents),
  get('/webhooks', showWebhooks),
  post('/webhooks', registerWebhook),
  get('/webhooks/new', showNewWebhook),
  get('/webhooks/:id', showWebhook),
  post('/webhooks/:id/ping', sendPing),
  post('/webhooks/:id/pause', pause),
  post('/webhooks/:id/resume', resume),
  post('/webhooks/:id/delete', remove),
  get('/webhooks/:id/deliveries', showDeliveries),
  get('/webhooks/:id/recover', showRecover),
  post('/webhooks/:id/recover', recoverChosen),
  get('/webhooks/:id/deliveries/:delivery', showDelivery),
  post('/webhooks/:id/deliveries/:delivery/send-again', sendAgain),

  { ...get('/documents', showDocuments), downloads: 'table' },
  get('/documents/:id', showDocument),
  { ...get('/documents/:id/pdf', downloadDocument), downloads: 'file' },
  { ...get('/documents/:id/statement', downloadStatement), downloads: 'file' },
  post('/documents/:id/hand-over', handOneOver),
  get('/hand-overs', showHandOvers),
  post('/hand-overs/again', handAllOver),
  { ...get('/documents/:id/xml', downloadEInvoice), downloads: 'file' },

  { ...get('/receivables', showReceivables), downloads: 'table' },

  get('/usage', showUsage),

  get('/people', showPeople),
  { ...post('/people/invite', inviteSomebody), needsPasswords: true },
  post('/people/invitations/:id/withdraw', withdraw),
  post('/people/:id/access', changeSomebody),
  post('/people/:id/remove', removeSomebody),
  post('/people/second-factor', requireOfAll),

  get('/notices', showNotices),

  get('/account', showAccount),
  post('/account/notices', chooseNotices),
  { ...post('/account/password', changeOwnPassword), needsPasswords: true },
  get('/account/second-factor', showSecondFactor),
  post('/account/second-factor', addOwnSecondFactor),
  post('/account/second-factor/codes', renewOwnRecoveryCodes),
  post('/account/second-factor/remove', removeOwnSecondFactor),
  post('/account/sessions/:id/end', endOwnSessions),
  { ...post('/account/sign-out-everywhere', endOwnSessions), endsSession: true },

  get('/audit', showAudit),
];

/** A page for administrators who are signed in; other visitors are sent to the sign-in page and back. */
function get(path: string, page: PortalPage): AdministratorsRoute {
  return { method: 'get', path, access: 'administrators', page };
}

function post(path: string, page: PortalPage): Route {
  return { method: 'post', path, access: 'administrators', page };
}

function guestGet(path: string, page: GuestPage): Route {
  return { method: 'get', path, access: 'guests', page };
}

function guestPost(path: string, page: GuestPage): Route {
  return { method: 'post', path, access: 'guests', page };
}
