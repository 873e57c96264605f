import { randomBytes } from 'node:crypto';

const COUNTER_MAX = 0xfff;

/**
 * Returns functions that create sorted ids for one move. The twelve bits after the time are a counter, so that ids of the
 * same millisecond are in order too; the other 62 bits are random.
 */
export function createIds(random: (size: number) => Buffer = randomBytes) {
  let counter = -1;
  /** Returns a new UUIDv7 (RFC 9562 section 5.7) for a time in Unix milliseconds. */
  const uuid = (ms: number) => {
    counter = Math.min(counter + 1, COUNTER_MAX);
    const time = ms.toString(16).padStart(12, '0');
    const bytes = random(8);
    bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x80;
    const tail = bytes.toString('hex');
    const count = counter.toString(16).padStart(3, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
  /** Returns a new id with a prefix, such as `job_`. */
  const prefixed = (prefix: string, ms: number) => `${prefix}${uuid(ms)}`;
  return { uuid, prefixed };
}
