import { changeOwnPassword, endOwnSessions, showAccount } from '../features/account/account-page.ts';
import { showAudit } from '../features/people/audit-page.ts';
import { chooseOneCompany, showCompanies } from '../features/sign-in/choose-company-page.ts';
import { showAllDeliveries, showDeliveries } from '../features/webhooks/deliveries/deliveries-page.ts';
import { sendAgain, showDelivery } from '../features/webhooks/deliveries/delivery-page.ts';
import {
  downloadDocument,
  downloadEInvoice,
  downloadStatement,
  handOneOver,
  showDocument,
} from '../features/documents/document-page.ts';
import { showDocuments } from '../features/documents/documents-page.ts';
import { showEvents } from '../features/webhooks/events-page.ts';
import { mailReset, showForgotten } from '../features/people/forgotten-page.ts';
import { handAllOver, showHandOvers } from '../features/hand-over/hand-overs-page.ts';
import { acceptInvitation, openInvitation, showInvitation } from '../features/people/invitation-page.ts';
import { saveKey, revokeOldKey, showKeys } from '../features/keys/keys-page.ts';
import { createNewKey, showNewKey } from '../features/keys/new-key-page.ts';
import { saveNoticeSettings, showNotices, showStop, stopByLink } from '../features/notices/notices-page.ts';
import { showOverview } from '../features/overview/overview-page.ts';
import { inviteSomebody, requireOfAll, showPeople, withdraw } from '../features/people/people-page.ts';
import { downloadCustomerStatement } from '../features/documents/customer-statement-page.ts';
import { showReceivables } from '../features/documents/receivables-page.ts';
import {
  changeSomebody,
  removeSomebody,
  resetFactorOfSomebody,
} from '../features/people/person-access-page.ts';
import { recoverChosen, showRecover } from '../features/webhooks/deliveries/recover-page.ts';
import {
  addOwnSecondFactor,
  removeOwnSecondFactor,
  renewOwnRecoveryCodes,
  showSecondFactor,
} from '../features/sign-in/second-factor-page.ts';
import { showSignIn, signInWithPassword, signOut } from '../features/sign-in/sign-in-page.ts';
import { showRequests } from '../features/usage/requests-page.ts';
import { showUsage } from '../features/usage/usage-page.ts';
import {
  beginSecret,
  endSecret,
  pauseAction,
  remove,
  resume,
  sendPing,
  showWebhook,
} from '../features/webhooks/webhook-page.ts';
import {
  registerWebhook,
  saveWebhook,
  showChange,
  showNewWebhook,
  showWebhooks,
} from '../features/webhooks/webhooks-page.ts';
import type { DownloadKind } from '../views/download.ts';
import type { GuestPage, PortalPage } from '../views/visit.ts';

/**
 * A page or an action of the portal, and who can use it. `path` is below `/portal`, with `:name` for variable parts. An
 * action with `endsSession` leads to the sign-in page even if the session has already ended. One with `needsPasswords` is
 * refused when sign-in is by portal links alone. Other programs can send one with `isOpen` without a form token: the code in
 * its path is the authority. `downloads` names the download limit that applies.
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
 * All pages and actions of the portal. An action's form carries the form token, which is checked before the action runs.
 *
 * To add one: write a file named …-page.ts in its feature's folder, with a function that takes the visit and the services
 * that it needs, as its neighbours do; list it here; if it is a section, add it to ../views/navigation.ts; and list its
 * address in test/browser/portal-pages.test.ts, where every page is tested in a browser. A page returns `page(...)`, an
 * action `redirect(...)` with a notice, which may hold secrets that are shown once. An error that it throws becomes an
 * error page (../views/page-error.ts), or what is wrong on the page of its form (../views/action.ts).
 * Look a record up by `visit.company.id` and its id together. An action makes its change in an authorised transaction
 * (../store/accounts/authorised-transaction.ts) on the authority of `visit.act`, and is listed in
 * test/server/portal/_forms.ts. The transaction asks for a fresh proof of identity (proof-page.ts), unless it is told
 * that the action needs none.
 */
export const routes: readonly Route[] = [
  guestGet('/sign-in', showSignIn),
  guestPost('/sign-in', signInWithPassword, { needsPasswords: true }),
  guestGet('/invitation', showInvitation),
  guestPost('/invitation', openInvitation),
  guestPost('/invitation/accept', acceptInvitation, { needsPasswords: true }),
  guestGet('/forgotten', showForgotten),
  guestPost('/forgotten', mailReset, { needsPasswords: true }),
  guestGet('/notices/stop/:code', showStop),
  guestPost('/notices/stop/:code', stopByLink, { isOpen: true }),
  guestGet('/companies', showCompanies),
  guestPost('/companies', chooseOneCompany),
  post('/sign-out', signOut, { endsSession: true }),

  get('/', showOverview),

  get('/keys', showKeys),
  get('/keys/new', showNewKey),
  post('/keys/new', createNewKey),
  post('/keys/:id/change', saveKey),
  post('/keys/:id/revoke', revokeOldKey),

  get('/events', showEvents),
  get('/deliveries', showAllDeliveries),
  get('/webhooks', showWebhooks),
  post('/webhooks', registerWebhook),
  get('/webhooks/new', showNewWebhook),
  get('/webhooks/:id', showWebhook),
  get('/webhooks/:id/change', showChange),
  post('/webhooks/:id/change', saveWebhook),
  post('/webhooks/:id/ping', sendPing),
  post('/webhooks/:id/secret', beginSecret),
  post('/webhooks/:id/secret/end', endSecret),
  post('/webhooks/:id/pause', pauseAction),
  post('/webhooks/:id/resume', resume),
  post('/webhooks/:id/delete', remove),
  get('/webhooks/:id/deliveries', showDeliveries),
  get('/webhooks/:id/recover', showRecover),
  post('/webhooks/:id/recover', recoverChosen),
  get('/webhooks/:id/deliveries/:delivery', showDelivery),
  post('/webhooks/:id/deliveries/:delivery/send-again', sendAgain),

  get('/documents', showDocuments, { downloads: 'table' }),
  get('/documents/:id', showDocument),
  get('/documents/:id/pdf', downloadDocument, { downloads: 'file' }),
  get('/documents/:id/statement', downloadStatement, { downloads: 'file' }),
  post('/documents/:id/hand-over', handOneOver),
  get('/hand-overs', showHandOvers),
  post('/hand-overs/again', handAllOver),
  get('/documents/:id/xml', downloadEInvoice, { downloads: 'file' }),

  get('/receivables', showReceivables, { downloads: 'table' }),
  get('/receivables/statement', downloadCustomerStatement, { downloads: 'file' }),

  get('/usage', showUsage),
  get('/requests', showRequests),

  get('/people', showPeople),
  post('/people/invite', inviteSomebody, { needsPasswords: true }),
  post('/people/invitations/:id/withdraw', withdraw),
  post('/people/:id/access', changeSomebody),
  post('/people/:id/second-factor', resetFactorOfSomebody),
  post('/people/:id/remove', removeSomebody),
  post('/people/second-factor', requireOfAll),

  get('/notices', showNotices),

  get('/account', showAccount),
  post('/account/notices', saveNoticeSettings),
  post('/account/password', changeOwnPassword, { needsPasswords: true }),
  get('/account/second-factor', showSecondFactor),
  post('/account/second-factor', addOwnSecondFactor),
  post('/account/second-factor/codes', renewOwnRecoveryCodes),
  post('/account/second-factor/remove', removeOwnSecondFactor),
  post('/account/sessions/:id/end', endOwnSessions),
  post('/account/sign-out-everywhere', endOwnSessions, { endsSession: true }),

  get('/audit', showAudit, { downloads: 'table' }),
];

type Options = Partial<Pick<Route, 'endsSession' | 'needsPasswords' | 'isOpen'>>;

/** Creates the route of a page for signed-in administrators; other visitors are sent to the sign-in page and back. */
function get(path: string, page: PortalPage, more: { downloads?: DownloadKind } = {}): Route {
  return { method: 'get', path, access: 'administrators', page, ...more };
}

function post(path: string, page: PortalPage, more: Options = {}): Route {
  return { method: 'post', path, access: 'administrators', page, ...more };
}

function guestGet(path: string, page: GuestPage): Route {
  return { method: 'get', path, access: 'guests', page };
}

function guestPost(path: string, page: GuestPage, more: Options = {}): Route {
  return { method: 'post', path, access: 'guests', page, ...more };
}
