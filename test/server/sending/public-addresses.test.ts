import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';

import t from 'tap';

import { createAddressRule, isPublicAddress } from '../../../src/server/sending/public-addresses.ts';
import { isClosed, textOf } from './_address-oracle.ts';
import { closedAddresses, noAddresses, publicAddresses } from './_addresses.ts';

t.test('an address is public or not, in capitals too, and no other text is one', async (t) => {
  const lists = { 'is public': publicAddresses, 'is not public': closedAddresses };
  for (const [verdict, addresses] of Object.entries(lists))
    for (const [address, what] of addresses)
      for (const text of [address, address.toUpperCase()])
        t.equal(isPublicAddress(text), addresses === publicAddresses, `${text} ${verdict}: ${what}`);
  for (const text of noAddresses)
    t.equal(isPublicAddress(text), false, `${JSON.stringify(text)} is no address`);
});

/** 1,000,000 take 16 seconds for each family. */
const COUNT = Number(process.env.RANDOM_ADDRESSES ?? 20_000);

/** Prefixes that random numbers would hardly ever meet: forms that carry an IPv4 address, and borders of blocks. */
const PREFIXES: readonly (readonly [prefix: bigint, bits: number])[] = [
  [0n, 96],
  [0xffffn, 96],
  [0xffff_0000n, 96],
  [0x64_ff9b_0000_0000_0000_0000n, 96],
  [0x64_ff9b_0001n, 48],
  [0x2002n, 16],
  [0x2001_0000n, 32],
  [0x2001_0db8n, 32],
  [0x2001n, 16],
  [0x3fffn, 16],
  [1n, 3],
  [0n, 0],
];

/** A random address, one in five with an interface id of ISATAP. */
function randomIpv6(index: number): bigint {
  const random = BigInt(`0x${randomBytes(16).toString('hex')}`);
  const [prefix, bits] = PREFIXES[index % PREFIXES.length] ?? [0n, 0];
  const free = BigInt(128 - bits);
  const address = (prefix << free) | (random & ((1n << free) - 1n));
  if (index % 5 !== 0) return address;
  const id = index % 2 === 0 ? 0x5efen : 0x0200_5efen;
  return ((address >> 64n) << 64n) | (id << 32n) | (address & 0xffff_ffffn);
}

t.test(
  `${COUNT} random IPv6 addresses: none is called that is closed, or carries a closed IPv4 address`,
  async (t) => {
    let publicCount = 0;
    const wrong: string[] = [];
    for (let index = 0; index < COUNT; index += 1) {
      const address = randomIpv6(index);
      const isPublic = isPublicAddress(textOf(address, 6));
      if (isPublic) publicCount += 1;
      if (isPublic === isClosed(address, 6)) wrong.push(textOf(address, 6));
    }
    t.strictSame(wrong.slice(0, 10), []);
    t.ok(publicCount > COUNT / 20, 'and enough of them are public');
  },
);

t.test(`${COUNT} random IPv4 addresses: none is called that is closed, and every other is`, async (t) => {
  const wrong: string[] = [];
  for (let index = 0; index < COUNT; index += 1) {
    const address = BigInt(randomBytes(4).readUInt32BE());
    if (isPublicAddress(textOf(address, 4)) === isClosed(address, 4)) wrong.push(textOf(address, 4));
  }
  t.strictSame(wrong.slice(0, 10), []);
});

t.test('the service calls neither its machine nor the addresses it is given as its own', async (t) => {
  const isCallable = createAddressRule(['93.184.216.34', '2606:2800:220:1::1']);
  t.equal(isCallable('93.184.216.35'), true);
  t.equal(isCallable('93.184.216.34'), false);
  t.equal(isCallable('2606:2800:220:1::2'), true);
  t.equal(isCallable('2606:2800:0220:0001:0:0:0:1'), false, 'however it is written');
});

t.test('the addresses of the machine are looked at each time', async (t) => {
  const one = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])[0];
  if (one === undefined) throw new Error('Every machine has a loopback interface.');
  const interfaces: ReturnType<typeof networkInterfaces> = {};
  const isCallable = createAddressRule([], () => interfaces);
  t.equal(isCallable('2606:2800:220:1::3'), true);
  interfaces['eth7'] = [one, { ...one, address: '2606:2800:220:1:0:0:0:3' }];
  t.equal(isCallable('2606:2800:220:1::3'), false);
});

t.test('an own address behind DNS64 is refused too, and one that is given so', async (t) => {
  const isCallable = createAddressRule(['93.184.216.34', '64:ff9b::5db8:d823']);
  t.equal(isCallable('64:ff9b::5db8:d822'), false);
  t.equal(isCallable('93.184.216.35'), false);
  t.equal(isCallable('64:ff9b::5db8:d824'), true);
});

t.test('an own address that is none is refused', async (t) => {
  t.throws(() => createAddressRule(['fieldledger.example.com']), {
    name: 'UsageError',
    message: '"fieldledger.example.com" is not an IP address.',
  });
});
