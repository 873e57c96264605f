import type { ActiveSession } from '../access/sessions.ts';
import type { Administrator } from '../store/administrators.ts';
import type { Company } from '../store/companies.ts';
import type { SignedIn } from '../store/deeds.ts';
import type { Html } from './views/html.ts';
import type { SectionKey } from './views/navigation.ts';

/** Somebody asks for a page, or sends a form, without being signed in. */
export interface GuestVisit {
  /** What is asked for, with its query; always one of ours, such as `/portal/people?page=2`. */
  path: string;
  /** What the route's path has in place of `:name`. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** What was filled in; empty unless a form was sent. */
  form: URLSearchParams;
  /** Goes with every form; see form-tokens.ts. */
  formToken: string;
  requestId: string;
  address: string;
  /** What the browser says that it is. */
  client: string;
  /** What its cookie shows of who signed in with it before; see ../access/known-browsers.ts. */
  browser: string | undefined;
  now: Date;
  /** Tells the log whose account it is about. */
  onAccount: (administrator: Pick<Administrator, 'company' | 'id'>) => void;
}

/** An administrator asks for a page, or sends a form. */
export interface Visit extends GuestVisit {
  /** As they were when the request had come in. Whatever is done looks them up again: see `signedIn`. */
  administrator: Administrator;
  company: Company;
  session: ActiveSession;
  /** On whose authority a deed is asked for. */
  signedIn: SignedIn;
}

/** What an action has to say on the next page, once. */
export interface Notice {
  kind: 'done' | 'problem';
  text: string;
  /** Secrets that can't be shown again, each with a button that copies it. */
  secrets?: { label: string; value: string; hint?: string }[];
}

/** What a page answers. */
export type Reply = PageReply | RedirectReply | FileReply;

export interface PageReply {
  kind: 'page';
  /** 200 unless told; 422 for a form that is shown again with what is wrong in it. */
  status?: number;
  /** The heading of the page, and what its tab is called. */
  title: string;
  /** The section of the navigation that it belongs to. */
  section?: SectionKey;
  content: Html;
}

/** Follows every action that was done, so that a page can be loaded again without doing it again. */
export interface RedirectReply {
  kind: 'redirect';
  to: string;
  notice?: Notice;
  /** Signs the visitor in with a new session's token, or out. */
  session?: { token: string } | 'ended';
  /** What the browser's cookie is to show from now on of who signed in with it. */
  browser?: string;
}

export interface FileReply {
  kind: 'file';
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export function page(
  title: string,
  content: Html,
  more: { section?: SectionKey; status?: number } = {},
): PageReply {
  return { kind: 'page', title, content, ...more };
}

export function redirect(to: string, notice?: Notice): RedirectReply {
  return { kind: 'redirect', to, ...(notice && { notice }) };
}
