import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

import ipaddr from 'ipaddr.js';

export interface Question {
  name: string;
  type: 'A' | 'AAAA';
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
export const [SERVFAIL, NXDOMAIN, REFUSED] = [2, 3, 5];

/** A name server of a test, on 127.0.0.1. */
export interface NameServer extends AsyncDisposable {
  /** As `address:port`. */
  address: string;
  /** Everything that was asked, in order. */
  questions: Question[];
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;

/** Starts a name server (RFC 1035, over UDP) that asks a function what to say. */
export async function startNameServer(answer: (question: Question) => DnsReply): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: Question[] = [];
  socket.on('message', (message: Buffer, { port, address }: RemoteInfo) => {
    const { question, end } = readQuestion(message);
    questions.push(question);
    const reply = answer(question);
    if (reply !== undefined) socket.send(replyTo(message.subarray(0, end), question, reply), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
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
