import { Agent, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Attempt } from './attempt.ts';
import type { Connect } from './connection.ts';

/**
 * A connection is kept for the next delivery to its host this long, which is less than servers keep them (5 s and
 * more).
 */
const IDLE_MS_MAX = 4_000;
/** As many as are often under way at once: many webhooks of many companies lead to the same few hosts. */
const IDLE_PER_HOST_MAX = 64;
/** Open connections to all hosts together beyond which none is kept. */
const OPEN_MAX = 256;
/** A host that moves to another address is followed within this time, however busy its connection is. */
const AGE_MS_MAX = 60_000;

/** Node's own agent; its types leave out that the method returns something. */
const nodeAgent = Agent.prototype as unknown as { keepSocketAlive: (socket: Duplex) => boolean };

/** The options of a request, with those that only the pool reads. */
export interface PooledRequest extends ClientRequestArgs {
  /** The host name, by which connections are kept: never by an address, which several hosts may share. */
  host: string;
  attempt: Attempt;
}

/**
 * The connections, kept for the next request to the same host.
 *
 * Node's agent does the keeping: it closes a connection on which the other side ends or sends anything unasked. It is
 * the agent of `http`, over connections that are secure already, so that nothing but `connect` ever opens one.
 */
export class ConnectionPool extends Agent {
  readonly #connect: Connect;
  readonly #openedAt = new Map<Duplex, number>();
  // The scheme of its requests. Node's agent reads it, and its types don't know it.
  readonly protocol = 'https:';

  constructor(connect: Connect) {
    super({ keepAlive: true, maxFreeSockets: IDLE_PER_HOST_MAX, timeout: IDLE_MS_MAX });
    this.#connect = connect;
  }

  override getName(options: ClientRequestArgs): string {
    return String(options.host);
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    // Only `PooledRequest`s are made with this agent, and it hands on their options.
    const { host, attempt } = options as PooledRequest;
    this.#connect(host, attempt).then(
      (socket) => {
        this.#openedAt.set(socket, performance.now());
        socket.once('close', () => this.#openedAt.delete(socket));
        callback(null, socket);
      },
      // With an error no socket is looked at.
      (error: unknown) => callback(error as Error, undefined as unknown as Duplex),
    );
  }

  /** Closes the kept connections of a host. */
  forget(host: string): void {
    for (const socket of this.freeSockets[host] ?? []) socket.destroy();
  }

  /** Node's agent asks this of every connection that a request has done with. */
  override keepSocketAlive(socket: Duplex): boolean {
    const ageMs = performance.now() - (this.#openedAt.get(socket) ?? 0);
    const isKept =
      this.#openedAt.size <= OPEN_MAX && ageMs <= AGE_MS_MAX && nodeAgent.keepSocketAlive.call(this, socket);
    // Node closes it now, but says so later: others that are done with meanwhile would count it, and be closed for it.
    if (!isKept) this.#openedAt.delete(socket);
    return isKept;
  }
}
