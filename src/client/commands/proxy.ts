import http from 'node:http';

import { quote, UsageError } from '../../errors.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** The use of a proxy for this process's requests, until disposed of. */
export interface ProxyUse extends Disposable {
  /** A sentence about the proxy to append to request errors, with a leading space; empty if no proxy is used. */
  hint: string;
}

/** Node's function that sets the process's proxies; undefined in Node 22, which lacks it. */
const setProxy = http.setGlobalProxyFromEnv as typeof http.setGlobalProxyFromEnv | undefined;

/**
 * Makes `fetch` use the proxy in `HTTPS_PROXY` or `HTTP_PROXY`, except for the hosts in `NO_PROXY`. Only commands that read
 * from a service do so. The server doesn't, because it judges webhooks by the receivers' IP addresses, which a proxy would
 * hide.
 * @param url the address that requests are sent to.
 * @throws UsageError for a proxy that isn't http or https, without showing its password.
 */
export function useProxy(url: string, environment: Terminal['environment']): ProxyUse {
  const name = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  // An empty variable counts as unset.
  const given = environment[name.toLowerCase()] || environment[name];
  if (!given) return { hint: '', [Symbol.dispose]: () => undefined };
  const proxy = URL.parse(given);
  if (!proxy || !/^https?:$/.test(proxy.protocol))
    throw new UsageError(
      `${name} must be the http or https address of a proxy, such as http://proxy.example:3128.`,
    );
  const no_proxy = environment.no_proxy || environment.NO_PROXY;
  // Passes only the variable that is used, because Node may refuse the other one.
  const restore = setProxy?.({ [name.toLowerCase()]: given, no_proxy });
  if (!restore && environment.NODE_USE_ENV_PROXY !== '1')
    throw new UsageError(
      `${name} names a proxy, which this Node uses only with NODE_USE_ENV_PROXY=1, from Node 22.21 on. Set that, or use Node 24.`,
    );
  return {
    hint: ` ${name} names the proxy ${quote(proxy.origin)}, which is used unless NO_PROXY has the host.`,
    [Symbol.dispose]: () => restore?.(),
  };
}
