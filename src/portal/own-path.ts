/**
 * Where somebody is sent after they signed in: only to a page of the portal, whatever the address says. Anything that a
 * browser could read as another host, or that isn't plainly a path of ours, is replaced by the overview.
 */
export function ownPath(given: string | null): string {
  const isOurs = given !== null && /^\/portal(?:\/[\w-]+)*(?:\?[\w=&%.+:-]*)?$/.test(given);
  return isOurs ? given : '/portal';
}
