import { Resolver } from 'node:dns/promises';

import { AttemptFailure } from './attempt.ts';

/**
 * Finds the addresses of a host name, in the order in which they are to be tried, at least one.
 * @param signal ends the search.
 * @throws AttemptFailure `dns`.
 */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<string[]>;

/** A question that isn't answered is asked again after this time, at each of the servers in turn. */
const ANSWER_MS_MAX = 1_000;
const TRIES = 2;
/** Bounds a search at many servers that don't answer, so that time is left to say so within the attempt. */
const SEARCH_MS_MAX = 4_000;

/**
 * Builds a search that asks the DNS and nothing else.
 *
 * Node's `dns.lookup` would also read the hosts file, complete short names with the machine's search domains, and wait
 * in a pool of four threads, in which names that hang hold up all the others. A resolver of its own for each search
 * costs 0.1 ms and lets it be ended without ending others, and follows a machine whose name servers change.
 * @param servers name servers, as `address:port`, instead of the system's.
 */
export function createResolve(servers?: readonly string[]): Resolve {
  return async (hostname, signal) => {
    const resolver = new Resolver({ timeout: ANSWER_MS_MAX, tries: TRIES, maxTimeout: ANSWER_MS_MAX });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    const timer = setTimeout(cancel, SEARCH_MS_MAX);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const families = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = inTurns(
        families.map((family) => (family.status === 'fulfilled' ? family.value : [])),
      );
      if (addresses.length === 0) throw new AttemptFailure('dns', { cause: families });
      return addresses;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** One of each family in turn, so that a family this machine can't reach costs one try only. */
function inTurns(families: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...families.map(({ length }) => length));
  return Array.from({ length: longest }, (_value, index) =>
    families.flatMap((addresses) => addresses[index] ?? []),
  ).flat();
}
