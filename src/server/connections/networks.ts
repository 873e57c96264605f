import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/**
 * The network of an address, by which attempts and connections are counted. The owner of an IPv6 address has at least the
 * 2^64 beside it (RFC 6177), so they count as one.
 */
export function networkOf(address: string): string {
  if (isIP(address) === 0) return address;
  const plain = ipaddr.process(address);
  if (!('parts' in plain)) return plain.toString();
  return `${plain.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** The URL of a server without TLS; brackets go around an IPv6 address (RFC 3986 section 3.2.2). */
export function httpAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The bytes of an address, the first one first; none of what isn't one. */
export function bytesOf(address: string): number[] {
  return isIP(address) === 0 ? [] : ipaddr.parse(address).toByteArray();
}
