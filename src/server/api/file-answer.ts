import type { IncomingMessage, ServerResponse } from 'node:http';

import type { AnsweredFile } from '../../contract/operations.ts';
import { unavailable } from '../../errors.ts';
import { hasTag, setCacheHeaders } from './answer.ts';

/** Maximum total bytes of files that are held in memory while slow clients receive them. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_SECONDS = 5;

/**
 * Returns a function that sends a file with a strong ETag, or status 304 if the client already has it (RFC 9110 section 13).
 * The file isn't read for a 304 or HEAD. A PDF has its own compression, so it is sent as it is.
 * @returns a function that resolves with the number of bytes sent as the body. It rejects with AppError `unavailable` while
 * too many bytes of other files are still being sent.
 */
export function createFileSender(heldBytesMax = HELD_BYTES_MAX) {
  let heldBytes = 0;
  return async (
    req: IncomingMessage,
    res: ServerResponse,
    { status, mediaType, contentDisposition, digest, byteCount, read }: AnsweredFile & { status: number },
  ): Promise<number> => {
    const tag = `"${digest}"`;
    // The client may have disconnected by now.
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
    // A file larger than the limit is sent only while no other is.
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
