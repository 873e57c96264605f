import type { IncomingMessage, ServerResponse } from 'node:http';

import type { AnsweredFile } from '../../contract/operations.ts';
import { unavailable } from '../../errors.ts';
import { hasTag, setCacheHeaders } from './answer.ts';

/** Of the files that are on their way to clients so much is held in memory; a client may take its time. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_SECONDS = 5;

/**
 * Sends a file with its strong ETag, or 304 when the client has it already (RFC 9110 section 13): then, and for HEAD,
 * nothing is read. A PDF is compressed in itself, so it goes out as it is.
 * @returns the number of bytes that the client gets as the body.
 * @throws AppError `unavailable` while too much is on its way already.
 */
export type SendFile = (
  req: IncomingMessage,
  res: ServerResponse,
  file: AnsweredFile & { status: number },
) => Promise<number>;

export function createFileSender(heldBytesMax = HELD_BYTES_MAX): SendFile {
  let heldBytes = 0;
  return async (req, res, { status, mediaType, contentDisposition, digest, byteCount, read }) => {
    const tag = `"${digest}"`;
    // A client may have gone away while the file was made.
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
    // A file larger than all that may be held goes out by itself.
    if (heldBytes > 0 && heldBytes + byteCount > heldBytesMax)
      throw unavailable({ retryAfterSeconds: RETRY_SECONDS });
    heldBytes += byteCount;
    const letGo = () => {
      heldBytes -= byteCount;
    };
    res.once('close', letGo);
    const bytes = await read();
    sendHead().end(bytes);
    return byteCount;
  };
}
