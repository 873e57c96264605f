import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

import ipaddr from 'ipaddr.js';

import { quote, UsageError } from '../../errors.ts';

/** A function that tells whether webhooks may go to an address. It also gets remote addresses as the socket reports them. */
export type AddressRule = (address: string) => boolean;

type Block = [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

/** Special-purpose IPv4 addresses of IANA's registry (RFC 6890 and later), and one that only looks public. */
const CLOSED_IPV4 = blocks(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's platform services, which every virtual machine there can reach.
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
 * The only part of IPv6 that IANA allocates to networks. Addresses outside of it are local, or carry an IPv4 address (mapped,
 * compatible, SIIT). A list of the open part is safe; a list of all closed parts would miss new ones.
 */
const OPEN_IPV6 = blocks('2000::/3');
/**
 * The prefix that DNS64 puts before a host's IPv4 address on a network without IPv4 (RFC 6052 section 2.1, RFC 6147).
 * Prefixes of a network's own choice (64:ff9b:1::/48) stay closed: nobody else can tell where such an address leads.
 */
const NAT64 = blocks('64:ff9b::/96');
/** Parts of 2000::/3 that aren't public: protocol assignments (Teredo, ORCHID), documentation (twice: RFC 9637), 6to4. */
const CLOSED_IPV6 = blocks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/** ISATAP's interface prefixes (RFC 5214 section 6.1), behind which the last 32 bits are an IPv4 address. */
const ISATAP_INTERFACES: readonly string[] = ['0:5efe', '200:5efe'];

/**
 * Whether a text is an address of the public Internet; webhooks go to no other (openapi.yaml, "Webhooks"). Text that isn't a
 * single address, or an address with a zone, isn't public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const destination = destinationOf(address);
  if (destination instanceof ipaddr.IPv4) return !isIn(destination, CLOSED_IPV4);
  const isOpen =
    destination.zoneId === undefined && isIn(destination, OPEN_IPV6) && !isIn(destination, CLOSED_IPV6);
  return isOpen && !carriesIsatap(destination);
}

/** Returns the address that packets reach: for NAT64, the IPv4 address in the last 32 bits, otherwise the address itself. */
function destinationOf(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const parsed = ipaddr.parse(address);
  const isTranslated = parsed instanceof ipaddr.IPv6 && parsed.zoneId === undefined && isIn(parsed, NAT64);
  return isTranslated ? new ipaddr.IPv4(parsed.toByteArray().slice(12)) : parsed;
}

/**
 * Returns the rule for webhooks' addresses. It allows public addresses except the service's own, so that a webhook can't call
 * back into the service.
 * @param ownAddresses public addresses that lead to the service but aren't on its machine's network interfaces.
 * @param interfaces lists the machine's network interfaces, anew each time because addresses come and go.
 * @throws UsageError for an own address that isn't an IP address.
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
  return destinationOf(address).toNormalizedString();
}

function carriesIsatap(address: ipaddr.IPv6): boolean {
  const [group, next] = address.parts.slice(4, 6).map((part) => part.toString(16));
  return ISATAP_INTERFACES.includes(`${group}:${next}`);
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, table: readonly Block[]): boolean {
  return table.some(([network, prefixBits]) => address.match(network, prefixBits));
}

function blocks(...cidrs: string[]): readonly Block[] {
  return cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
}
