import type { ActiveSession } from '../store/accounts/session-rows.ts';
import type { Administrator } from '../store/accounts/administrator-rows.ts';
import type { Company } from '../store/records/companies.ts';
import type { Act, SignedIn } from '../store/accounts/authorised-transaction.ts';
import type { Problems } from './page-error.ts';
import type { Services } from './services.ts';
import type { Html } from './html.ts';
import type { SectionKey } from './navigation.ts';

/**
 * A function that answers requests for a page, or carries out an action.
 * @param problems the problems with the page's form, when it was refused and is shown again (action.ts).
 */
export type PageFunction<Visiting extends GuestVisit> = (
  visit: Visiting,
  services: Services,
  problems?: Problems,
) => Promise<PortalReply> | PortalReply;
export type PortalPage = PageFunction<Visit>;
export type GuestPage = PageFunction<GuestVisit>;

/** A request for a page or an action, from a browser that needn't be signed in. */
export interface GuestVisit {
  /** The path with its query, always within the portal, such as `/portal/people?page=2`. */
  path: string;
  /** The values of the `:name` parts of the route's path. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  form: URLSearchParams;
  /** The tokens of the browser's sessions; the first is in use, unless it waits for a company to be chosen. */
  tokens: readonly string[];
  formToken: string;
  requestId: string;
  address: string;
  client: string;
  /** URL at which the operator gives help, if any. */
  supportUrl: string | undefined;
  /** The known-browser cookie, which proves earlier sign-ins from this browser; see ../features/sign-in/known-browsers.ts. */
  browser: string | undefined;
  now: Date;
  /** Makes the log of the request name the account that it is about. */
  onAccount: (administrator: Pick<Administrator, 'company' | 'id'>) => void;
  /** Runs work after the response, so that its duration reveals nothing. */
  afterwards: (work: () => Promise<void>) => void;
}

/** A request for a page or an action, from a signed-in administrator. */
export interface Visit extends GuestVisit {
  /** The administrator as of the start of the request; actions read them again (`act`). */
  administrator: Administrator;
  company: Company;
  session: ActiveSession;
  /** The company, authority and time of the changes that an action makes. */
  act: Act<SignedIn>;
}

/** A message about a completed action, which the next page shows once. */
export interface ActionMessage {
  text: string;
  /** Secrets that can't be shown again, each with a copy button, and a download if it names a file. */
  secrets: readonly { label: string; value: string; hint?: string; file?: string }[];
}

export type PortalReply = PageReply | RedirectReply | DownloadReply;

export interface PageReply {
  kind: 'page';
  /** The HTTP status: 422 for a form that is shown again with its problems. */
  status: number;
  title: string;
  /** The navigation section that the page belongs to. */
  section?: SectionKey;
  content: Html;
}

/** A redirect after an action (Post/Redirect/Get), so that reloading doesn't repeat the action. */
export interface RedirectReply {
  kind: 'redirect';
  to: string;
  notice?: ActionMessage;
  /** Session tokens to set in the browser, the one to use first; `ended` removes those that it has. */
  sessions?: readonly string[] | 'ended';
  /** The new value of the known-browser cookie. */
  browser?: string;
}

export interface DownloadReply {
  kind: 'file';
  headers: Readonly<Record<string, string>>;
  /** The file's content; the pieces of an iterable are sent as they are produced. */
  body: Buffer | AsyncIterable<string | Uint8Array>;
}

/** Builds the reply of a page. @param more.isRefused sets the status to 422. */
export function page(
  title: string,
  content: Html,
  { isRefused = false, ...more }: { section?: SectionKey; isRefused?: boolean } = {},
): PageReply {
  return { kind: 'page', title, content, status: isRefused ? 422 : 200, ...more };
}

export function file(type: string, disposition: string, body: DownloadReply['body']): DownloadReply {
  return { kind: 'file', headers: { 'Content-Type': type, 'Content-Disposition': disposition }, body };
}

/** Builds a redirect to a page, which shows the message `text` once. */
export function redirect(to: string, text?: string, secrets: ActionMessage['secrets'] = []): RedirectReply {
  return { kind: 'redirect', to, ...(text !== undefined && { notice: { text, secrets } }) };
}

/** The redirect after every action that ended the visitor's own session. */
export const signedOutRedirect: RedirectReply = { ...redirect('/portal/sign-in?left'), sessions: 'ended' };

/**
 * Returns the path to open after signing in, always within the portal. A given path that a browser could take for another
 * host is replaced by the overview.
 */
export function ownPath(given: string | null): string {
  const isOurs = given !== null && /^\/portal(?:\/[\w-]+)*(?:\?[\w=&%.+:-]*)?$/.test(given);
  return isOurs ? given : '/portal';
}
