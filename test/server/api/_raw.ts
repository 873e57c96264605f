import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { type Answer, readHead, toAnswer } from '../../contract/_exchange.ts';

const ANSWER_MS_MAX = 20_000;

/**
 * Sends bytes as they are on a connection of their own and reads what comes back, until `count` answers are complete
 * or the server closes the connection.
 * @throws Error when that takes longer than 20 seconds.
 */
export async function exchangeRaw(
  url: string,
  bytes: string | Uint8Array,
  { count = 1, isHead = false, halfClose = false } = {},
): Promise<Answer[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  try {
    const answers = readAnswers(socket, count, isHead);
    if (halfClose) socket.end(buffer);
    else socket.write(buffer);
    return await answers;
  } finally {
    socket.destroy();
  }
}

/** A connection that is kept from request to request, and made anew when the server has closed it. */
export interface Wire extends Disposable {
  /** Sends one request as it is. @throws Error when no whole answer comes within 20 seconds. */
  send: (request: string, isHead?: boolean) => Promise<Answer>;
}

export function openWire(url: string): Wire {
  const { hostname, port } = new URL(url);
  let socket: Socket | undefined;
  return {
    async send(request, isHead = false) {
      if (!socket || socket.closed || socket.readableEnded || socket.destroyed) {
        socket = connect(Number(port), hostname);
        await once(socket, 'connect');
      }
      const answers = readAnswers(socket, 1, isHead);
      socket.write(request, 'latin1');
      const [answer] = await answers;
      if (!answer) throw new Error(`The server closed the connection without an answer to: ${request}`);
      if (answer.headers.connection === 'close') socket.destroy();
      return answer;
    },
    [Symbol.dispose]: () => socket?.destroy(),
  };
}

async function readAnswers(socket: Socket, count: number, isHead: boolean): Promise<Answer[]> {
  const chunks: Buffer[] = [];
  return new Promise<Answer[]>((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', finish).off('end', finish);
      resolve(parseAnswers(Buffer.concat(chunks), isHead).answers);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      const { answers, isWhole } = parseAnswers(Buffer.concat(chunks), isHead);
      if (isWhole && answers.length >= count) finish();
    };
    const timer = setTimeout(() => {
      reject(new Error(`No whole answer came: ${Buffer.concat(chunks).toString('latin1')}`));
    }, ANSWER_MS_MAX);
    socket.on('data', onData).once('close', finish).once('end', finish);
    // A server that refuses a request may close before all of it was sent; what it answered counts.
    if (socket.listenerCount('error') === 0) socket.on('error', () => undefined);
  });
}

function parseAnswers(bytes: Buffer, isHead: boolean): { answers: Answer[]; isWhole: boolean } {
  const answers: Answer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { answers, isWhole: false };
    const { status, rawHeaders } = readHead(rest.subarray(0, end));
    const { headers } = toAnswer(status, rawHeaders, Buffer.alloc(0));
    const isBodiless = isHead || status < 200 || status === 304;
    const length = isBodiless ? 0 : Number(headers['content-length'] ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length);
    if (body.length < length) return { answers, isWhole: false };
    // An interim answer such as 100 Continue is not the answer.
    if (!(status < 200)) answers.push(toAnswer(status, rawHeaders, body));
    rest = rest.subarray(end + 4 + length);
  }
  return { answers, isWhole: true };
}
