import { UsageError } from '../../errors.ts';

interface Settings {
  host: 'HOST' | 'MANAGEMENT_HOST' | 'FEED_HOST';
  port: 'PORT' | 'MANAGEMENT_PORT' | 'FEED_PORT';
}

/**
 * Starts to listen.
 * @throws UsageError that names the setting to change, where the system refuses the port or the address.
 */
export async function listenAs<T>(
  settings: Settings,
  { host, port }: { host: string; port: number },
  start: () => Promise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const remedies: Record<string, string> = {
      EADDRINUSE: `Port ${port} of ${host} is in use. Set ${settings.port} to a free one.`,
      EACCES: `Port ${port} of ${host} may not be opened by this user. Set ${settings.port} to one from 1024 on.`,
      EADDRNOTAVAIL: `${host} isn't an address of this machine. Set ${settings.host} to one that is.`,
      ENOTFOUND: `There is no host ${host}. Set ${settings.host} to an address of this machine.`,
    };
    throw remedies[code] === undefined ? error : new UsageError(remedies[code]);
  }
}
