import type { GuestVisit, Reply, Visit } from './visit.ts';

export type Page = (visit: Visit) => Promise<Reply> | Reply;
export type GuestPage = (visit: GuestVisit) => Promise<Reply> | Reply;

/** One page or action, and who may ask for it. `path` is below `/portal`, with `:name` for what varies. */
export type Route =
  | { method: 'get' | 'post'; path: string; access: 'administrators'; page: Page }
  | { method: 'get' | 'post'; path: string; access: 'guests'; page: GuestPage };

/** A page for administrators who are signed in; others are sent to the sign-in page and back. */
export function get(path: string, page: Page): Route {
  return { method: 'get', path, access: 'administrators', page };
}

/** An action of administrators who are signed in. Its form carries the form token, which is checked before. */
export function post(path: string, page: Page): Route {
  return { method: 'post', path, access: 'administrators', page };
}

/** A page for everybody. */
export function guestGet(path: string, page: GuestPage): Route {
  return { method: 'get', path, access: 'guests', page };
}

/** An action of everybody. Its form carries the form token, which is checked before. */
export function guestPost(path: string, page: GuestPage): Route {
  return { method: 'post', path, access: 'guests', page };
}
