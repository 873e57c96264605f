import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const ANSWER_MS_MAX = 20_000;

/**
 * Sends bytes as they are and reads what comes back until the server closes the connection, or until `count` answers
 * are complete.
 * @throws Error when that takes longer than 20 seconds, or when what comes back isn't HTTP.
 */
export async function exchangeRaw(
  url: string,
  bytes: string | Uint8Array,
  { count = 1, isHead = false, halfClose = false } = {},
): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  return new Promise<RawAnswer[]>((resolve, reject) => {
    const finish = (error?: Error) => {
      socket.destroy();
      if (error) reject(error);
      else resolve(parseAnswers(Buffer.concat(chunks), isHead).answers);
    };
    socket.setTimeout(ANSWER_MS_MAX, () =>
      finish(new Error(`No whole answer came: ${Buffer.concat(chunks).toString()}`)),
    );
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      const { answers, isWhole } = parseAnswers(Buffer.concat(chunks), isHead);
      if (isWhole && answers.length >= count) finish();
    });
    socket.on('close', () => finish());
    // A server that refuses a request may close before all of it was sent; what it answered counts.
    socket.on('error', () => finish());
    write(socket, bytes, halfClose);
  });
}

function write(socket: Socket, bytes: string | Uint8Array, halfClose: boolean): void {
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  if (halfClose) socket.end(buffer);
  else socket.write(buffer);
}

function parseAnswers(bytes: Buffer, isHead: boolean): { answers: RawAnswer[]; isWhole: boolean } {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { answers, isWhole: false };
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers = Object.fromEntries(lines.map((line) => headerOf(line)));
    const length = isHead || status < 200 || status === 304 ? 0 : Number(headers['content-length'] ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length);
    if (body.length < length) return { answers, isWhole: false };
    // An interim answer such as 100 Continue is not the answer.
    if (status >= 200 || Number.isNaN(status)) answers.push({ status, headers, body: body.toString('utf8') });
    rest = rest.subarray(end + 4 + length);
  }
  return { answers, isWhole: true };
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
