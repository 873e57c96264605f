import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

import { type Attempt, AttemptFailure } from './attempt.ts';
import type { AddressRule } from './public-addresses.ts';
import type { Resolve } from './resolver.ts';

/**
 * Opens a connection to a public host, ready for HTTP/1.1.
 * @throws AttemptFailure `dns`, `refused`, `connect`, `tls`, `protocol` for a receiver without HTTP/1.1, or `timeout`
 * when the attempt was ended.
 */
export type Connect = (hostname: string, attempt: Attempt) => Promise<TLSSocket>;

export interface ConnectOptions {
  resolve: Resolve;
  isCallable: AddressRule;
  port: number;
  /** Certificate authorities in PEM instead of the usual ones. */
  ca?: string | undefined;
}

/** A DNS answer can hold 4,000 addresses, and checking so many would block everything else for 0.2 s. */
const ADDRESSES_MAX = 128;
/** More addresses of one name are looked at, but not dialled. */
const DIALLED_MAX = 16;
/** The longest wait for an address while there is another to try. */
const DIAL_MS_MAX = 2_500;

/**
 * Builds the function that connects to a host. It dials the very address that it checked.
 *
 * It doesn't leave that to `tls.connect` or `https.request`, because these would resolve the name again, and Node's
 * `blockList` doesn't work with them.
 */
export function createConnect({ resolve, isCallable, port, ca }: ConnectOptions): Connect {
  // Node's environment and command line can't change the versions.
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ...(ca === undefined ? {} : { ca }),
  });
  return async (hostname, { signal, phases }) => {
    phases.enter('dns');
    const addresses = await resolve(hostname, signal);
    if (addresses.length > ADDRESSES_MAX) throw new AttemptFailure('dns');
    // One address that isn't public refuses the whole name: a name with both kinds aims at the private one.
    if (!addresses.every(isCallable)) throw new AttemptFailure('refused');
    phases.enter('connect');
    const socket = await dialFirst(addresses.slice(0, DIALLED_MAX), port, signal);
    if (!isCallable(socket.remoteAddress ?? '')) {
      socket.destroy();
      throw new AttemptFailure('refused');
    }
    phases.enter('tls');
    return await secure(socket, hostname, { secureContext, signal });
  };
}

/** The first of the addresses that answers, one after the other. */
async function dialFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  const [address, ...others] = addresses;
  if (address === undefined) throw new AttemptFailure('connect');
  try {
    return await dial(address, port, { signal, dialMsMax: others.length > 0 ? DIAL_MS_MAX : 0 });
  } catch (error) {
    if (signal.aborted || others.length === 0) throw error;
    return await dialFirst(others, port, signal);
  }
}

async function dial(
  address: string,
  port: number,
  { signal, dialMsMax }: { signal: AbortSignal; dialMsMax: number },
): Promise<Socket> {
  const socket = connectTcp({ host: address, port, noDelay: true });
  socket.setTimeout(dialMsMax, () => socket.destroy());
  await opened(socket, 'connect', { failure: 'connect', signal });
  socket.setTimeout(0);
  return socket;
}

async function secure(
  socket: Socket,
  hostname: string,
  { secureContext, signal }: { secureContext: SecureContext; signal: AbortSignal },
): Promise<TLSSocket> {
  const secured = connectTls({
    socket,
    secureContext,
    servername: hostname,
    ALPNProtocols: ['http/1.1'],
    // NODE_TLS_REJECT_UNAUTHORIZED can't change it.
    rejectUnauthorized: true,
  });
  await opened(secured, 'secureConnect', { failure: 'tls', signal });
  return secured;
}

/** Waits until a socket is open, and destroys it when it fails or when the attempt ends before. */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  { failure, signal }: { failure: 'connect' | 'tls'; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      socket.destroy();
      reject(new AttemptFailure('timeout'));
    };
    let cause: NodeJS.ErrnoException | undefined;
    const fail = () => reject(new AttemptFailure(isNotSpoken(cause) ? 'protocol' : failure));
    socket.once('close', fail).once(event, () => {
      socket.off('close', fail);
      resolve();
    });
    // `close` follows. This listener stays: an error between two requests would otherwise end the process.
    socket.on('error', (error) => (cause = error));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/** Whether a receiver refused HTTP/1.1 in its handshake (RFC 7301 section 3.2), as one does that has HTTP/2 alone. */
function isNotSpoken(error: NodeJS.ErrnoException | undefined): boolean {
  return error?.code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';
}
