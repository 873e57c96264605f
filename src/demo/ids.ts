/**
 * The ids of the records. An id follows from the moment its record was created, which no two records share, so that a
 * record can name another before that one is made.
 */
export interface Ids {
  uuid(createdAtMs: number): string;
  /** Another id of the same moment, for the quote of which a version is created then. */
  groupUuid(createdAtMs: number): string;
  /** A prefix and a UUIDv7 without its dashes. Of one prefix, ids order as their moments do. */
  prefixed(prefix: string, createdAtMs: number): string;
}

/**
 * UUIDv7 (RFC 9562), whose order is that of their moments. Written here because a library's would draw on real
 * randomness, and the same seed has to give the same ids.
 */
export function createIds(seed: number): Ids {
  const uuid = (createdAtMs: number) => uuidV7(createdAtMs, seed);
  return {
    uuid,
    groupUuid: (createdAtMs) => uuidV7(createdAtMs, seed + 1),
    prefixed: (prefix, createdAtMs) => `${prefix}_${uuid(createdAtMs).replaceAll('-', '')}`,
  };
}

function uuidV7(atMs: number, seed: number): string {
  const time = atMs.toString(16).padStart(12, '0');
  const first = scramble(atMs ^ seed);
  const second = scramble(Math.floor(atMs / 2 ** 16) ^ first);
  const third = scramble(first + second);
  const high = hex(first);
  const variant = (0x80 | (third & 0x3f)).toString(16);
  const nibble = ((third >>> 8) & 0xf).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high.slice(0, 3)}-${variant}${high.slice(3, 5)}-${high.slice(5)}${nibble}${hex(second)}`;
}

/** The finaliser of MurmurHash3: one bit changed changes half of them. */
function scramble(bits: number): number {
  let hash = bits | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0');
}
