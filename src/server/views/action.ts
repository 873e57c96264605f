import { refusedWith } from './page-error.ts';
import type { Services } from './services.ts';
import type { GuestVisit, PageFunction, PortalReply } from './visit.ts';

/**
 * Creates the action of a page's form from a function that carries it out and redirects. If that refuses the form, the page
 * is shown again with status 422, what was filled in, and the problems.
 * @param shown the page with the form; it takes what was filled in from the visit.
 * @param options.guessed the field for a password or code. Too many attempts are refused beside that field, with status 429,
 *   instead of on an error page.
 */
export function action<Visiting extends GuestVisit>(
  shown: PageFunction<Visiting>,
  act: (visit: Visiting, services: Services) => Promise<PortalReply>,
  { guessed }: { guessed?: string } = {},
): PageFunction<Visiting> {
  return async (visit, services) => {
    try {
      return await act(visit, services);
    } catch (error) {
      const { problems, status } = refusedWith(error, guessed);
      return { ...(await shown(visit, services, problems)), status };
    }
  };
}
