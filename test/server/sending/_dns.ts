import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

import ipaddr from 'ipaddr.js';

export interface Question {
  name: string;
  type: 'A' | 'AAAA';
  isOverTcp?: boolean;
}

export interface DnsRecord {
  type: 'A' | 'AAAA' | 'CNAME';
  /** An address, or the name of a CNAME. */
  value: string;
  /** The name the record is of, when that isn't the one asked for. */
  name?: string;
  ttl?: number;
}

/** A code of RFC 1035 section 4.1.1 for no records, or undefined to say nothing at all. */
export type DnsReply = DnsRecord[] | number | undefined;
export const [SERVFAIL, NXDOMAIN, REFUSED] = [2, 3, 5] as const;

/** A name server of a test, on 127.0.0.1. */
export interface NameServer extends AsyncDisposable {
  /** As `address:port`. */
  address: string;
  /** Everything that was asked, in order. */
  questions: Question[];
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;

/**
 * Starts a name server (RFC 1035) that asks a function what to say.
 * @param options.isTruncating has it say over UDP that it has more to say than fits, and say it over TCP.
 */
export async function startNameServer(
  answer: (question: Question) => DnsReply,
  { isTruncating = false } = {},
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: Question[] = [];
  socket.on('message', (message: Buffer, { port, address }: RemoteInfo) => {
    const { question, end } = readQuestion(message);
    questions.push(question);
    const reply = answer(question);
    if (reply === undefined) return;
    const asked = message.subarray(0, end);
    socket.send(isTruncating ? truncated(asked, question) : replyTo(asked, question, reply), port, address);
  });
  // Each message stands behind its length (RFC 1035 section 4.2.2); c-ares may send several on one connection.
  const server = createServer((connection) => {
    let waiting = Buffer.alloc(0);
    connection.on('error', () => undefined);
    connection.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk]);
      while (waiting.length > 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
        const message = waiting.subarray(2, 2 + waiting.readUInt16BE(0));
        waiting = waiting.subarray(2 + message.length);
        const { question, end } = readQuestion(message);
        questions.push({ ...question, isOverTcp: true });
        const reply = replyTo(message.subarray(0, end), question, answer(question) ?? SERVFAIL);
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        connection.write(Buffer.concat([length, reply]));
      }
    });
  });
  const port = await listenOnBoth(socket, server);
  return {
    address: `127.0.0.1:${port}`,
    questions,
    async [Symbol.asyncDispose]() {
      socket.close();
      server.close();
      await once(socket, 'close');
    },
  };
}

/** Has both listen on one port. TCP chooses it: other tests take many of its ports, and hardly one of UDP's. */
async function listenOnBoth(socket: Socket, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return port;
}

const HEADER_BYTES = 12;

function readQuestion(message: Buffer): { question: Question; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1) === TYPES.A ? 'A' : 'AAAA';
  // Behind the name: its end, a type and a class.
  return { question: { name: labels.join('.').toLowerCase(), type }, end: at + 5 };
}

function replyTo(asked: Buffer, { name }: Question, reply: DnsRecord[] | number): Buffer {
  const records = typeof reply === 'number' ? [] : reply;
  const header = Buffer.from(asked.subarray(0, HEADER_BYTES));
  // An answer, with recursion.
  header.writeUInt16BE(0x81_80 | (typeof reply === 'number' ? reply : 0), 2);
  header.writeUInt16BE(records.length, 6);
  // The question may have announced additional records; the answer has none.
  header.fill(0, 8);
  return Buffer.concat([
    header,
    asked.subarray(HEADER_BYTES),
    ...records.map((record) => encode(record, name)),
  ]);
}

/** No records, and the bit that says that there are some. */
function truncated(asked: Buffer, question: Question): Buffer {
  const reply = replyTo(asked, question, []);
  reply.writeUInt16BE(reply.readUInt16BE(2) | 0x02_00, 2);
  return reply;
}

function encode({ type, value, name, ttl = 0 }: DnsRecord, asked: string): Buffer {
  const content = type === 'CNAME' ? encodeName(value) : Buffer.from(ipaddr.parse(value).toByteArray());
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(TYPES[type], 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(ttl, 4);
  fields.writeUInt16BE(content.length, 8);
  return Buffer.concat([encodeName(name ?? asked), fields, content]);
}

function encodeName(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}
