import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import { UsageError } from '../../errors.ts';
import { listen, type ListenOptions } from '../connections/listen.ts';

/**
 * Starts a server on a port.
 * @param prefix the prefix of the HOST and PORT settings to name in an error.
 * @returns a live set of the server's open connections.
 * @throws UsageError naming the setting to change, when the operating system refuses the port or the address.
 */
export async function listenAs(
  prefix: '' | 'FEED_' | 'MANAGEMENT_',
  server: Server,
  options: ListenOptions,
): Promise<ReadonlySet<Socket>> {
  try {
    return await listen(server, options);
  } catch (error) {
    const { host, port } = options;
    const { code = '' } = error as NodeJS.ErrnoException;
    const remedies: Record<string, string> = {
      EADDRINUSE: `Port ${port} of ${host} is in use. Set ${prefix}PORT to a free one.`,
      EACCES: `Port ${port} of ${host} may not be opened by this user. Set ${prefix}PORT to one from 1024 on.`,
      EADDRNOTAVAIL: `${host} isn't an address of this machine. Set ${prefix}HOST to one that is.`,
      ENOTFOUND: `There is no host ${host}. Set ${prefix}HOST to an address of this machine.`,
    };
    throw remedies[code] === undefined ? error : new UsageError(remedies[code]);
  }
}
