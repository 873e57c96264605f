import type { IncomingMessage, ServerResponse } from 'node:http';

import type { AnsweredFile } from '../../contract/operations.ts';
import { unavailable } from '../../errors.ts';
import { hasTag, setCacheHeaders } from './answer.ts';

/** Bytes of files that are held in memory for slow clients. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_SECONDS = 5;

/**
 * Creates the sender of files: with a strong ETag, or 304 when the client has the file already (RFC 9110 section 13). Then, and
 * for HEAD, nothing is read. A PDF is compressed in itself, so it goes out as it is.
 * @returns a function that resolves with the number of bytes that the client gets as the body. It rejects with AppError
 *   `unavailable` while too much is on its way already.
 */
export function createFileSender(heldBytesMax = HELD_BYTES_MAX) {
  let heldBytes = 0;
  return async (
    req: IncomingMessage,
    res: ServerResponse,
    { status, mediaType, contentDisposition, digest, byteCount, read }: AnsweredFile & { status: number },
  ): Promise<number> => {
    const tag = `"${digest}"`;
    // The client may be gone by now.
    if (res.closed) return 0;
    if (hasTag(req.headers['if-none-match'], [tag])) {
      setCacheHeaders(res);
      res.writeHead(304, { ETag: tag }).end();
      return 0;
    }
    const sendHead = () => {
      setCacheHeaders(res);
      return res.writeHead(status, {
        'Content-Type': mediaType,
        'Content-Disposition': contentDisposition,
        'Content-Length': byteCount,
        ETag: tag,
      });
    };
    if (req.method === 'HEAD') {
      sendHead().end();
      return 0;
    }
    // A file that is larger than the limit is sent alone.
    if (heldBytes > 0 && heldBytes + byteCount > heldBytesMax)
      throw unavailable({ retryAfterSeconds: RETRY_SECONDS });
    heldBytes += byteCount;
    res.once('close', () => {
      heldBytes -= byteCount;
    });
    const bytes = await read();
    sendHead().end(bytes);
    return byteCount;
  };
}
