/**
 * Whether an address is closed to webhooks, written without a look at the rule under test: from the text of the
 * registries, over whole numbers. It knows what an address carries, where the rule knows what is open.
 */
export function isClosed(address: bigint, family: 4 | 6): boolean {
  return family === 4 ? isClosedIpv4(Number(address)) : isClosedIpv6(address);
}

/** First and last addresses of IANA's special-purpose registry for IPv4, multicast and class E, and Azure's own. */
const CLOSED_IPV4: readonly (readonly [first: number, last: number])[] = [
  [0x00_00_00_00, 0x00_ff_ff_ff],
  [0x0a_00_00_00, 0x0a_ff_ff_ff],
  [0x64_40_00_00, 0x64_7f_ff_ff],
  [0x7f_00_00_00, 0x7f_ff_ff_ff],
  [0xa8_3f_81_10, 0xa8_3f_81_10],
  [0xa9_fe_00_00, 0xa9_fe_ff_ff],
  [0xac_10_00_00, 0xac_1f_ff_ff],
  [0xc0_00_00_00, 0xc0_00_00_ff],
  [0xc0_00_02_00, 0xc0_00_02_ff],
  [0xc0_58_63_00, 0xc0_58_63_ff],
  [0xc0_a8_00_00, 0xc0_a8_ff_ff],
  [0xc6_12_00_00, 0xc6_13_ff_ff],
  [0xc6_33_64_00, 0xc6_33_64_ff],
  [0xcb_00_71_00, 0xcb_00_71_ff],
  [0xe0_00_00_00, 0xff_ff_ff_ff],
];

function isClosedIpv4(address: number): boolean {
  return CLOSED_IPV4.some(([first, last]) => address >= first && address <= last);
}

function isClosedIpv6(address: bigint): boolean {
  const group = (index: number) => Number((address >> BigInt(112 - 16 * index)) & 0xffffn);
  if (address >> 32n === 0x64_ff9bn << 64n) return isClosedIpv4(Number(address & 0xffff_ffffn));
  const carried = carriedBy(address, group);
  if (carried !== undefined) return true;
  const [first, second] = [group(0), group(1)];
  if (first < 0x2000 || first > 0x3fff) return true;
  // Protocol assignments, documentation, and the documentation of RFC 9637.
  return (
    (first === 0x2001 && second < 0x0200) ||
    (first === 0x2001 && second === 0x0db8) ||
    (first === 0x3fff && second < 0x1000)
  );
}

/**
 * The IPv4 address within an IPv6 address, if it has a form that carries one. All such are closed, public or not; only
 * the well-known prefix of NAT64 leads to the address that it carries.
 */
function carriedBy(address: bigint, group: (index: number) => number): number | undefined {
  const last = Number(address & 0xffff_ffffn);
  const above = address >> 32n;
  const isCompatible = above === 0n;
  const isMapped = above === 0xffffn;
  const isSiit = above === 0xffff_0000n;
  const isLocalNat64 = address >> 80n === 0x64_ff9b_0001n;
  const isIsatap = (group(4) & 0xfdff) === 0 && group(5) === 0x5efe;
  if (isCompatible || isMapped || isSiit || isLocalNat64 || isIsatap) return last;
  if (group(0) === 0x2002) return Number((address >> 80n) & 0xffff_ffffn);
  // Teredo keeps it inverted (RFC 4380 section 4).
  if (group(0) === 0x2001 && group(1) === 0) return last ^ 0xffff_ffff;
  return undefined;
}

/** The usual text of an address, with no part left out. */
export function textOf(address: bigint, family: 4 | 6): string {
  const [count, bits, radix, separator] = family === 4 ? [4, 8, 10, '.'] : [8, 16, 16, ':'];
  const mask = (1n << BigInt(bits)) - 1n;
  return Array.from({ length: count }, (_value, index) =>
    ((address >> BigInt(bits * (count - 1 - index))) & mask).toString(radix),
  ).join(separator);
}
