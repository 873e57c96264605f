import type { ActiveSession } from '../store/accounts/session-rows.ts';
import type { Administrator } from '../store/accounts/administrator-rows.ts';
import type { Company } from '../store/records/companies.ts';
import type { Act, SignedIn } from '../store/accounts/authorised-transaction.ts';
import type { Problems } from './page-error.ts';
import type { Services } from './services.ts';
import type { Html } from './html.ts';
import type { SectionKey } from './navigation.ts';

/**
 * A page or an action.
 * @param problems of the page's form, when it was refused and is shown again (action.ts).
 */
export type PageFunction<Visiting extends GuestVisit> = (
  visit: Visiting,
  services: Services,
  problems?: Problems,
) => Promise<PortalReply> | PortalReply;
export type PortalPage = PageFunction<Visit>;
export type GuestPage = PageFunction<GuestVisit>;

/** A request for a page, or a form, from a browser that need not be signed in. */
export interface GuestVisit {
  /** The path with its query; always one of the portal, such as `/portal/people?page=2`. */
  path: string;
  /** The values of the `:name` parts of the route's path. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  form: URLSearchParams;
  /** The tokens of the browser's sessions; the first is in use unless it waits. */
  tokens: readonly string[];
  formToken: string;
  requestId: string;
  address: string;
  client: string;
  /** Where the operator gives help, if they say so. */
  supportUrl: string | undefined;
  /** The cookie that proves earlier sign-ins from this browser; see ../features/sign-in/known-browsers.ts. */
  browser: string | undefined;
  now: Date;
  /** Tells the log whose account it is about. */
  onAccount: (administrator: Pick<Administrator, 'company' | 'id'>) => void;
  /** Does some work after the answer, so that its duration reveals nothing. */
  afterwards: (work: () => Promise<void>) => void;
}

/** A request for a page, or a form, from an administrator who is signed in. */
export interface Visit extends GuestVisit {
  /** As they were when the request came in; actions look them up again (`act`). */
  administrator: Administrator;
  company: Company;
  session: ActiveSession;
  /** The authority for changes. */
  act: Act<SignedIn>;
}

/** The message of an action, which the next page shows once. */
export interface ActionMessage {
  text: string;
  /** Secrets that can't be shown again, each with a button that copies it. */
  secrets: readonly { label: string; value: string; hint?: string }[];
}

export type PortalReply = PageReply | RedirectReply | DownloadReply;

export interface PageReply {
  kind: 'page';
  /** 422 for a form that is shown again with its problems. */
  status: number;
  title: string;
  /** The section of the navigation that the page belongs to. */
  section?: SectionKey;
  content: Html;
}

/** Redirects after an action (Post/Redirect/Get), so that reloading doesn't repeat it. */
export interface RedirectReply {
  kind: 'redirect';
  to: string;
  notice?: ActionMessage;
  /** Gives the browser the tokens of its sessions, the one to be used first, or takes them away. */
  sessions?: readonly string[] | 'ended';
  /** The new value of the cookie that proves sign-ins from this browser. */
  browser?: string;
}

export interface DownloadReply {
  kind: 'file';
  headers: Readonly<Record<string, string>>;
  /** Pieces are sent as they are made. */
  body: Buffer | AsyncIterable<string | Uint8Array>;
}

/** @param more.isRefused gives the status 422. */
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

/** Leads to a page, which shows once what was done. */
export function redirect(to: string, text?: string, secrets: ActionMessage['secrets'] = []): RedirectReply {
  return { kind: 'redirect', to, ...(text !== undefined && { notice: { text, secrets } }) };
}

/** Follows every action that ended the visitor's own session. */
export const signedOutRedirect: RedirectReply = { ...redirect('/portal/sign-in?left'), sessions: 'ended' };

/**
 * The page to show after signing in: a page of the portal, whatever the address says. Anything that a browser could read
 * as another host is replaced by the overview.
 */
export function ownPath(given: string | null): string {
  const isOurs = given !== null && /^\/portal(?:\/[\w-]+)*(?:\?[\w=&%.+:-]*)?$/.test(given);
  return isOurs ? given : '/portal';
}
