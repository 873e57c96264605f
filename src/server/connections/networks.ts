import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/**
 * Returns the network of an IP address, for counting attempts and connections by network. The owner of an IPv6 address
 * usually has at least 2^64 neighbouring ones (RFC 6177), so a /64 counts as one network.
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

/** Returns the URL of a server without TLS, with brackets around an IPv6 address (RFC 3986 section 3.2.2). */
export function httpAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the bytes of an IP address in network order; empty if the text isn't an address. */
export function bytesOf(address: string): number[] {
  return isIP(address) === 0 ? [] : ipaddr.parse(address).toByteArray();
}
