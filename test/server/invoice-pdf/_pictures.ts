/** Pictures as data URLs, and PNG files made of their chunks. */
import { crc32 } from 'node:zlib';
import { logoFromFile } from '../../../src/server/logos/logo.ts';

export const png = (bytes: Uint8Array) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
export const jpeg = (bytes: Uint8Array) => `data:image/jpeg;base64,${Buffer.from(bytes).toString('base64')}`;

/** The fault of a new logo; undefined when it is kept. */
export function logoProblem(dataUrl: string): string | undefined {
  try {
    logoFromFile(bytesOf(dataUrl));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export const bytesOf = (dataUrl: string) => Buffer.from(dataUrl.split(',')[1] ?? '', 'base64');

function chunk(name: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const body = Buffer.concat([Buffer.from(name), content]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A file of chunks, of which the first is the header; the one at the end is added. */
export function file(...chunks: [string, Buffer][]): string {
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const all = [...chunks, ['IEND', Buffer.of()] as const];
  return png(Buffer.concat([signature, ...all.map(([name, content]) => chunk(name, content))]));
}

export function header(
  width: number,
  height: number,
  depth = 8,
  type = 2,
  interlacing = 0,
): [string, Buffer] {
  const content = Buffer.alloc(13);
  content.writeUInt32BE(width, 0);
  content.writeUInt32BE(height, 4);
  content.set([depth, type, 0, 0, interlacing], 8);
  return ['IHDR', content];
}
