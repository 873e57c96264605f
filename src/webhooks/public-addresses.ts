import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

import ipaddr from 'ipaddr.js';

import { quote, UsageError } from '../errors.ts';

/** Says whether an address may be called. It is given the address of a connection too, as the socket knows it. */
export type AddressRule = (address: string) => boolean;

type Block = [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

/** IANA's registry of special-purpose IPv4 addresses (RFC 6890 and later), and one address that only looks public. */
const CLOSED_IPV4 = blocks(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // The platform's own services in every virtual machine of Azure.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
);

/**
 * The only part of IPv6 that IANA hands out to networks. Addresses outside of it are local, or carry an IPv4 address
 * (mapped, compatible, SIIT, NAT64). A list of the open part is safe; a list of all closed parts would miss new ones.
 */
const OPEN_IPV6 = blocks('2000::/3');
/** Within it: protocol assignments (Teredo, ORCHID), documentation, 6to4, and documentation again (RFC 9637). */
const CLOSED_IPV6 = blocks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/** ISATAP (RFC 5214 section 6.1) carries an IPv4 address in the last 32 bits, behind either of these. */
const ISATAP_INTERFACES: readonly string[] = ['0:5efe', '200:5efe'];

/**
 * Whether an address belongs to the public Internet (service.md, "Response and retries": "An address that resolves to
 * a private or local network is never called"). A text that isn't one address, or that has a zone, isn't public.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !isIn(ipaddr.IPv4.parse(address), CLOSED_IPV4);
    case 6: {
      const ipv6 = ipaddr.IPv6.parse(address);
      const isOpen = ipv6.zoneId === undefined && isIn(ipv6, OPEN_IPV6) && !isIn(ipv6, CLOSED_IPV6);
      return isOpen && !carriesIsatap(ipv6);
    }
    default:
      return false;
  }
}

/**
 * Builds the rule of a service: it calls an address that is public and isn't its own, so that a webhook can't call back
 * into the service.
 * @param ownAddresses public addresses that lead to the service and that its machine doesn't have itself.
 * @param interfaces the machine's, read anew each time because addresses come and go while the service runs.
 * @throws UsageError for one of them that isn't an IP address.
 */
export function createAddressRule(
  ownAddresses: readonly string[] = [],
  interfaces = networkInterfaces,
): AddressRule {
  const own = new Set(ownAddresses.map(canonicalOwn));
  return (address) => {
    if (!isPublicAddress(address)) return false;
    const canonical = canonicalOf(address);
    return !own.has(canonical) && !isOneOf(interfaces(), canonical);
  };
}

function isOneOf(interfaces: ReturnType<typeof networkInterfaces>, canonical: string): boolean {
  return Object.values(interfaces).some((addresses) =>
    addresses?.some(({ address }) => canonicalOf(address) === canonical),
  );
}

function canonicalOwn(address: string): string {
  if (isIP(address) === 0) throw new UsageError(`${quote(address)} is not an IP address.`);
  return canonicalOf(address);
}

function canonicalOf(address: string): string {
  return ipaddr.parse(address).toNormalizedString();
}

function carriesIsatap(address: ipaddr.IPv6): boolean {
  return ISATAP_INTERFACES.includes(address.parts.slice(4, 6).map(toHex).join(':'));
}

function toHex(part: number): string {
  return part.toString(16);
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, table: readonly Block[]): boolean {
  return table.some(([network, prefixBits]) => address.match(network, prefixBits));
}

function blocks(...cidrs: string[]): readonly Block[] {
  return cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
}
