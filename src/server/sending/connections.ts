import { Resolver } from 'node:dns/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';

import type { AttemptError } from './attempt-errors.ts';
import type { AddressRule } from './public-addresses.ts';

/** An error that ends an attempt, with its error class. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly error: AttemptError;

  constructor(error: AttemptError, options?: ErrorOptions) {
    super(`The attempt ends with ${error}.`, options);
    this.error = error;
  }
}

/**
 * A function that returns the IP addresses of a host name, at least one, in the order in which to try them.
 * @param signal cancels the lookup.
 * @throws AttemptFailure `dns`.
 */
export type ResolveHostname = (hostname: string, signal: AbortSignal) => Promise<string[]>;

/** Milliseconds after which an unanswered DNS query goes to the next name server. */
const ANSWER_MS_MAX = 1_000;
const TRIES = 2;
/** Milliseconds for a whole lookup when many name servers don't answer, so that it ends within the attempt. */
const SEARCH_MS_MAX = 4_000;

/**
 * Returns a function that looks up host names in the DNS and nowhere else.
 *
 * Node's `dns.lookup` would also read the hosts file, and complete short names with the machine's search domains. It waits in
 * a pool of four threads, where hanging names hold up all others. A separate resolver for each lookup costs 0.1 ms, can be
 * cancelled on its own, and follows a machine whose name servers change.
 * @param servers name servers, as `address:port`, instead of the system's.
 */
export function createResolve(servers?: readonly string[]): ResolveHostname {
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

/** Returns IPv4 and IPv6 addresses in turn, so that an unreachable family costs only one try. */
function inTurns(families: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...families.map(({ length }) => length));
  return Array.from({ length: longest }, (_value, index) =>
    families.flatMap((addresses) => addresses[index] ?? []),
  ).flat();
}

/** Time limits for the phases of an attempt. */
export interface PhaseTimeouts {
  /** Signal that aborts the current phase at its limit, with an `AttemptFailure` as its reason. */
  signal: AbortSignal;
  /** Ends the current phase, if any, and begins another. */
  enter: (phase: Phase) => void;
}

/**
 * The phases of an attempt, in this order: the DNS lookup, the connection, the TLS handshake, and the time from then to the
 * head of the answer, which includes sending the request.
 */
export type Phase = 'dns' | 'connect' | 'tls' | 'firstByte';

/** The options of a request, including those that only `Connections` uses. */
export interface ConnectedRequest extends RequestOptions {
  agent: Connections;
  host: string;
  attempt: PhaseTimeouts;
}

/** Maximum number of addresses checked per host. A DNS answer can hold 4,000, which would block the event loop for 0.2 s. */
const ADDRESSES_MAX = 128;
/** Maximum number of addresses to which a connection is tried; further ones are only checked. */
const DIALLED_MAX = 16;
/** Maximum milliseconds to wait for a connection to an address if there is another to try. */
const DIAL_MS_MAX = 2_500;
/** Milliseconds for which a host's idle connection is kept for the next delivery. Servers keep them longer (5 s and more). */
const IDLE_MS_MAX = 4_000;
/** Maximum idle connections kept to a host. Webhooks of many companies lead to the same few hosts, often at once. */
const IDLE_PER_HOST_MAX = 64;
/** Number of open connections to all hosts together above which none is kept. */
const OPEN_MAX = 256;
/** Maximum age of a kept connection in milliseconds, so that deliveries follow a host to a new address. */
const AGE_MS_MAX = 60_000;

/** Node's own method `keepSocketAlive`, with its return value, which Node's type omits. */
const { keepSocketAlive } = HttpAgent.prototype as unknown as {
  keepSocketAlive: (socket: Duplex) => boolean;
};

/**
 * A pool of connections to public hosts, each kept for the next request to the same host name. Node's agent opens them to
 * addresses that were checked: it looks a name up once, and dials only the addresses it gets. It also keeps them, and closes
 * one when the other side ends it or sends anything unasked.
 *
 * A request for which no connection can be made fails with AttemptFailure `dns`, `refused` or `timeout`, or with an error of
 * Node.
 */
export class Connections extends Agent {
  readonly #resolve: ResolveHostname;
  readonly #isCallable: AddressRule;
  readonly #openedAt = new Map<Duplex, number>();

  /** Creates an empty pool. @param ca certificate authorities in PEM instead of the usual ones. */
  constructor(resolve: ResolveHostname, isCallable: AddressRule, ca?: string) {
    super({
      keepAlive: true,
      maxFreeSockets: IDLE_PER_HOST_MAX,
      timeout: IDLE_MS_MAX,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: DIAL_MS_MAX,
      ALPNProtocols: ['http/1.1'],
      // Node doesn't check the name in the certificate when a session is resumed.
      maxCachedSessions: 0,
      // Set here, so that Node's environment and command line can change neither this nor the TLS versions.
      rejectUnauthorized: true,
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        maxVersion: 'TLSv1.3',
        ...(ca === undefined ? {} : { ca }),
      }),
    });
    this.#resolve = resolve;
    this.#isCallable = isCallable;
  }

  override createConnection(options: RequestOptions): Duplex {
    // Only `ConnectedRequest`s are made with this agent, and it hands on their options.
    const { host, attempt } = options as ConnectedRequest;
    // Node doesn't look up a host that is an IP address, so the lookup couldn't check it.
    if (isIP(host) !== 0) throw new AttemptFailure('refused');
    const socket = super.createConnection({ ...options, lookup: this.#lookupFor(attempt) });
    if (!(socket instanceof TLSSocket)) throw new Error('Node opens a connection of TLS at once.');
    this.#openedAt.set(socket, performance.now());
    socket.once('close', () => this.#openedAt.delete(socket));
    // This listener comes before Node's own, which begins the handshake.
    return socket.prependOnceListener('connect', () => {
      if (this.#isCallable(socket.remoteAddress ?? '')) attempt.enter('tls');
      else socket.destroy(new AttemptFailure('refused'));
    });
  }

  #lookupFor(attempt: PhaseTimeouts): LookupFunction {
    return (hostname, _options, callback) => {
      attempt.enter('dns');
      this.#callableAddresses(hostname, attempt.signal).then(
        (addresses) => {
          attempt.enter('connect');
          callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        },
        (error: unknown) => callback(error as Error, []),
      );
    };
  }

  async #callableAddresses(hostname: string, signal: AbortSignal): Promise<string[]> {
    const addresses = await this.#resolve(hostname, signal);
    if (addresses.length > ADDRESSES_MAX) throw new AttemptFailure('dns');
    // One address that isn't public refuses the whole name: a name with both kinds is aimed at the private one.
    if (!addresses.every(this.#isCallable)) throw new AttemptFailure('refused');
    return addresses.slice(0, DIALLED_MAX);
  }

  /** Whether a connection is kept after its request. Node's agent calls this after every request. */
  override keepSocketAlive(socket: Duplex): boolean {
    const ageMs = performance.now() - (this.#openedAt.get(socket) ?? 0);
    const isKept =
      this.#openedAt.size <= OPEN_MAX && ageMs <= AGE_MS_MAX && keepSocketAlive.call(this, socket);
    // Node closes it now but emits `close` later. Until then it would still count, and others would be closed for it.
    if (!isKept) this.#openedAt.delete(socket);
    return isKept;
  }
}
