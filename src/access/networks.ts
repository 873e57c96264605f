import { isIPv6 } from 'node:net';

/**
 * The network of an address, by which attempts are counted. The owner of an IPv6 address has at least the 2^64 beside it
 * (RFC 6177), so they count as one.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  // The URL standard writes an address in one way only.
  const written = new URL(`http://[${address.split('%')[0] ?? ''}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(written);
  if (mapped) return ipv4Of(parseInt(mapped[1] ?? '', 16), parseInt(mapped[2] ?? '', 16));
  const [head = '', tail = ''] = written.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`;
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
