import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import pg from 'pg';

/** Codes and letters of PostgreSQL's protocol (postgresql.org/docs/current/protocol-message-formats.html). */
const SSL_REQUEST = 80_877_103;
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);
const IDLE = 'I'.charCodeAt(0);

/** The startup parameters that PgBouncer 1.18 takes; it refuses a client that sends another one. */
const parametersTaken = new Set([
  ...['user', 'database', 'application_name', 'client_encoding'],
  ...['datestyle', 'timezone', 'standard_conforming_strings'],
]);

/** A session of the database, and the client whose transaction it makes. */
interface Session {
  socket: Duplex;
  client: Socket | undefined;
}

export interface Pooler extends AsyncDisposable {
  /** The address of the same database through the pooler. */
  url: string;
}

/**
 * Starts a pooler that does what PgBouncer 1.18 does in transaction mode: a client has a session of the database from the
 * first message of a transaction until the database is ready for the next one. The sessions take turns, and keep what the
 * clients before have left in them. What a session is told while it has no client is lost.
 */
export async function startPooler(databaseUrl: string, { sessionCount = 3 } = {}): Promise<Pooler> {
  const idle: Session[] = [];
  const waiting: ((session: Session) => void)[] = [];
  const sessions = new Set<Session>();
  const clients = new Set<Socket>();
  let isEnded = false;

  const release = (session: Session) => {
    session.client = undefined;
    const next = waiting.shift();
    if (next) next(session);
    else idle.push(session);
  };
  const take = async () => idle.shift() ?? new Promise<Session>((resolve) => waiting.push(resolve));
  const open = async () => {
    const session: Session = { socket: await connect(databaseUrl), client: undefined };
    // A session that replaces a lost one may be there only after the pooler has ended.
    if (isEnded) return void session.socket.destroy();
    sessions.add(session);
    const read = messagesOf((message) => {
      session.client?.write(message);
      if (message[0] === READY_FOR_QUERY && message[5] === IDLE) release(session);
    });
    session.socket.on('data', read).on('error', () => undefined);
    // The database rolls back what is half done, and a client whose session has ended is cut off as well.
    session.socket.once('close', () => {
      sessions.delete(session);
      idle.splice(0, idle.length, ...idle.filter((one) => one !== session));
      session.client?.destroy();
      if (!isEnded) void open().catch(() => undefined);
    });
    release(session);
  };

  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    let session: Session | undefined;
    let unsent: Buffer[] = [];
    const read = messagesOf((message) => {
      if (message[0] === TERMINATE) client.end();
      else if (session?.client === client) session.socket.write(message);
      else if (unsent.push(message) === 1)
        void take().then((taken) => {
          if (client.destroyed) {
            release(taken);
            return;
          }
          session = Object.assign(taken, { client });
          taken.socket.write(Buffer.concat(unsent));
          unsent = [];
        });
    });
    client.on('error', () => undefined);
    client.on('close', () => {
      clients.delete(client);
      if (session?.client === client) session.socket.destroy();
    });
    void greet(client).then((isWelcome) => isWelcome && client.on('data', read).resume());
  });

  for (let count = 0; count < sessionCount; count += 1) await open();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  // A server that listens on a port has an address of this shape.
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      isEnded = true;
      server.close();
      for (const socket of [...clients, ...[...sessions].map((session) => session.socket)]) socket.destroy();
    },
  };
}

/** Opens a session by a client of its own, which signs in and leaves its socket. */
async function connect(connectionString: string): Promise<Duplex> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client.connection.stream.removeAllListeners('data');
}

/** Lets a client in, whoever it is, or refuses its startup parameters. */
async function greet(client: Socket): Promise<boolean> {
  let [startup] = (await once(client, 'data')) as [Buffer];
  if (startup.readInt32BE(4) === SSL_REQUEST) {
    client.write('N');
    [startup] = (await once(client, 'data')) as [Buffer];
  }
  client.pause();
  const words = startup.toString('utf8', 8).split('\0');
  const refused = words.find((word, index) => index % 2 === 0 && word !== '' && !parametersTaken.has(word));
  if (refused !== undefined) {
    const reason = `SFATAL\0C08P01\0Munsupported startup parameter: ${refused}\0\0`;
    client.end(messageOf('E', Buffer.from(reason)));
    return false;
  }
  client.write(Buffer.concat([messageOf('R', Buffer.alloc(4)), messageOf('Z', Buffer.from('I'))]));
  return true;
}

function messageOf(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** Splits what comes in into messages: a letter, the length of what follows, and that. */
function messagesOf(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.length < 5 ? Infinity : 1 + rest.readInt32BE(1);
      if (rest.length < end) return;
      onMessage(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}
