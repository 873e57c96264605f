import { refusedWith } from './page-error.ts';
import type { Services } from './services.ts';
import type { GuestVisit, PageFunction, PortalReply } from './visit.ts';

/**
 * An action that a page has a form for: it reads the form, does what it asks for, and leads on. If it is refused, the page is
 * shown again with what was filled in and what is wrong, and the status 422.
 * @param shown the page; what was filled in is in the visit.
 * @param options.guessed the field of a password or a code that may be tried too often. It is refused there with the status
 *   429, and not on an error page.
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
