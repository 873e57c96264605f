import { connect } from 'node:net';

import got from 'got';
import t, { type Test } from 'tap';

import { sendError } from '../../../src/server/api/answer.ts';
import { errorReply } from '../../../src/server/connections/error-replies.ts';
import { createFileSender } from '../../../src/server/api/file-answer.ts';
import { listen } from '../../client/_service.ts';

/** More than a connection takes that nobody reads from. */
const LARGE = 20_000_000;

/** A server that answers a file of as many bytes as its path says. */
async function answering(t: Test, heldBytesMax: number) {
  const send = createFileSender(heldBytesMax);
  const counts = { read: 0, sent: -1 };
  const { url: prefixUrl, port } = await listen(t, (req, res) => {
    const byteCount = Number(req.url?.slice(1));
    const read = async () => {
      counts.read += 1;
      if (byteCount === 13) throw new Error('The disk is broken.');
      return Buffer.alloc(byteCount, 'x');
    };
    const file = {
      status: 200,
      mediaType: 'application/pdf',
      contentDisposition: 'attachment',
      digest: 'd1',
      byteCount,
      read,
    };
    res.setHeader('X-Request-Id', 'one');
    send(req, res, file)
      .then((sent) => (counts.sent = sent))
      .catch((error: unknown) => sendError(req, res, errorReply(error)));
  });
  const http = got.extend({ prefixUrl, retry: { limit: 0 }, throwHttpErrors: false });
  /** A client that asks and takes nothing of the answer. */
  const ignore = async (byteCount: number) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    const readCount = counts.read;
    socket.write(`GET /${byteCount} HTTP/1.1\r\nHost: one\r\n\r\n`);
    while (counts.read === readCount) await new Promise(setImmediate);
    return socket;
  };
  return { http, counts, ignore };
}

t.test('a file is answered with its headers, and its bytes as they are', async (t) => {
  const { http, counts } = await answering(t, 1_000);
  const { statusCode, headers, body } = await http('500', { headers: { 'accept-encoding': 'gzip' } });
  t.equal(statusCode, 200);
  t.match(headers, {
    'content-type': 'application/pdf',
    'content-disposition': 'attachment',
    'content-length': '500',
    'cache-control': 'private, no-cache',
    'x-request-id': 'one',
    etag: '"d1"',
  });
  t.equal(headers['content-encoding'], undefined);
  t.equal(body, 'x'.repeat(500));
  t.strictSame(counts, { read: 1, sent: 500 });
});

t.test('nothing is read for HEAD, and for a client that has the file', async (t) => {
  const { http, counts } = await answering(t, 1_000);
  const head = await http.head('500');
  t.equal(head.headers['content-length'], '500');
  for (const tags of ['"d1"', 'W/"d1"', '"other", "d1"', '*']) {
    const { statusCode, headers } = await http('500', { headers: { 'if-none-match': tags } });
    t.equal(statusCode, 304, tags);
    t.equal(headers.etag, '"d1"');
    t.equal(headers['content-type'], undefined);
  }
  t.strictSame(counts, { read: 0, sent: 0 });
  t.equal((await http('500', { headers: { 'if-none-match': '"d1-gzip"' } })).statusCode, 200);
});

t.test('a file that cannot be read is a fault, and holds nothing', async (t) => {
  const { http } = await answering(t, 20);
  for (let count = 0; count < 5; count += 1) t.equal((await http('13')).statusCode, 503);
  t.equal((await http('20')).statusCode, 200);
});

t.test('no more is held than may be, until somebody takes theirs or goes away', async (t) => {
  const { http, ignore } = await answering(t, LARGE);
  const idle = await ignore(LARGE);
  const refused = await http('1');
  t.equal(refused.statusCode, 503);
  t.equal(refused.headers['retry-after'], '5');
  idle.destroy();
  let status = 503;
  for (let round = 0; round < 1_000 && status === 503; round += 1) status = (await http('1')).statusCode;
  t.equal(status, 200);
});

t.test('a file that is larger than all that may be held goes out by itself', async (t) => {
  const { http } = await answering(t, 10);
  t.equal((await http('500')).body.length, 500);
});
