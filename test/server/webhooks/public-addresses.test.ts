import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';

import t, { type Test } from 'tap';

import { createAddressRule, isPublicAddress } from '../../../src/server/webhooks/public-addresses.ts';
import { createResolve } from '../../../src/server/webhooks/connections.ts';
import { isClosed, textOf } from './_address-oracle.ts';
import { closedAddresses, noAddresses, publicAddresses } from './_addresses.ts';
import { watchDials } from './_dialled.ts';
import {
  type DnsRecord,
  type DnsReply,
  NXDOMAIN,
  type Question,
  REFUSED,
  SERVFAIL,
  startNameServer,
} from './_dns.ts';
import { HOST, startHttpsReceiver } from './_receivers.ts';
import { requestTo, senderTo } from './_senders.ts';

for (const [address, what] of publicAddresses) {
  t.test(`${address} is public (${what})`, async (t) => {
    t.equal(isPublicAddress(address), true);
    t.equal(isPublicAddress(address.toUpperCase()), true, 'in capitals too');
  });
}

for (const [address, what] of closedAddresses) {
  t.test(`${address} is not public (${what})`, async (t) => {
    t.equal(isPublicAddress(address), false);
    t.equal(isPublicAddress(address.toUpperCase()), false, 'in capitals neither');
  });
}

for (const [text, what] of noAddresses) {
  t.test(`${JSON.stringify(text)} is no address (${what})`, async (t) => {
    t.equal(isPublicAddress(text), false);
  });
}

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

/** The receiver's address stands for a public one: it is the only one of this machine that may be called. */
const isCallable = (address: string) => address === '127.0.0.1' || isPublicAddress(address);
const never = new AbortController().signal;

/** A receiver, a name server that leads to it or elsewhere, and a sender that asks it. */
async function start(t: Test, answer: (question: Question, count: number) => DnsReply, deadlineMs = 10_000) {
  const stack = new AsyncDisposableStack();
  t.teardown(() => stack.disposeAsync());
  const receiver = stack.use(await startHttpsReceiver((_request, response) => response.end()));
  const counts = new Map<string, number>();
  const names = stack.use(
    await startNameServer((question) => {
      const key = `${question.name} ${question.type}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return answer(question, counts.get(key) ?? 0);
    }),
  );
  const resolve = createResolve([names.address]);
  const sender = stack.use(senderTo(receiver, { resolve, isCallable, deadlineMs }));
  const dialled = watchDials(t);
  const dialledAddresses = () => dialled.map(({ address }) => address);
  return { receiver, names, resolve, sender, dialled, dialledAddresses };
}

function only(...addresses: string[]): (question: Question) => DnsRecord[] {
  return ({ type }) =>
    addresses
      .filter((address) => address.includes(':') === (type === 'AAAA'))
      .map((value) => ({ type, value }));
}

t.test('a name with a public address is called', async (t) => {
  const { sender, names } = await start(t, only('127.0.0.1'));
  t.match(await sender.send(requestTo()), {
    status: 200,
    phases: { dns: Number, connect: Number, tls: Number },
  });
  t.strictSame(names.questions.map(({ name, type }) => `${name} ${type}`).sort(), [
    `${HOST} A`,
    `${HOST} AAAA`,
  ]);
});

t.test('on a network with DNS64 alone, a receiver with a public IPv4 address is not refused', async (t) => {
  const { names } = await start(t, ({ type }) =>
    type === 'AAAA' ? [{ type, value: '64:ff9b::5db8:d822' }] : [],
  );
  const addresses = await createResolve([names.address])(HOST, never);
  t.strictSame(
    addresses.map(createAddressRule()),
    [true],
    'the very rule of the sender, on what DNS64 answers',
  );
});

const refusedAnswers: Record<string, readonly string[]> = {
  'a private address': ['127.0.0.2'],
  'a public and a private address': ['127.0.0.1', '10.0.0.1'],
  'a private and a public address': ['10.0.0.1', '127.0.0.1'],
  'a public IPv4 and a private IPv6 address': ['127.0.0.1', 'fc00::1'],
  'a public IPv4 address and a mapped one': ['127.0.0.1', '::ffff:127.0.0.1'],
  'a private IPv4 address behind DNS64': ['64:ff9b::a00:1'],
  'one private address behind 99 public ones': [...Array<string>(99).fill('127.0.0.1'), '10.0.0.1'],
};
for (const [what, addresses] of Object.entries(refusedAnswers)) {
  t.test(`a name with ${what} is refused`, async (t) => {
    const { sender, dialled } = await start(t, only(...addresses));
    t.match(await sender.send(requestTo()), { status: null, error: 'refused', phases: { connect: null } });
    t.equal(dialled.length, 0);
  });
}

t.test('no address that is closed is called, whether a name leads to it or an URL names it', async (t) => {
  let answer: (question: Question) => DnsRecord[] = () => [];
  const { names, receiver, dialled } = await start(t, () => []);
  await using own = await startNameServer((question) => answer(question));
  await using sender = senderTo(receiver, {
    resolve: createResolve([own.address]),
    isCallable: createAddressRule(),
  });
  for (const [address] of closedAddresses) {
    answer = only(address);
    t.match(await sender.send(requestTo()), { status: null, error: 'refused' }, address);
  }
  const asked = own.questions.length;
  for (const [address] of [...closedAddresses, ...publicAddresses]) {
    const url = `https://${address.includes(':') ? `[${address}]` : address}/hook`;
    t.match(await sender.send(requestTo({ url })), { error: 'refused', phases: { dns: null } }, url);
  }
  t.equal(own.questions.length + names.questions.length, asked, 'a literal address is no question');
  t.equal(dialled.length, 0);
});

t.test("neither the machine's own addresses nor the service's are called", async (t) => {
  const { names, receiver, dialled } = await start(t, only('93.184.216.34'));
  await using sender = senderTo(receiver, {
    resolve: createResolve([names.address]),
    isCallable: createAddressRule(['93.184.216.34']),
  });
  t.match(await sender.send(requestTo()), { status: null, error: 'refused' });
  t.equal(dialled.length, 0);
});

t.test('a name that changes its address is called at the one that was checked', async (t) => {
  const { sender, dialledAddresses, names } = await start(t, (question, count) =>
    only(count === 1 ? '127.0.0.1' : '127.0.0.2')(question),
  );
  t.match(await sender.send(requestTo()), { status: 200 });
  t.strictSame(dialledAddresses(), ['127.0.0.1']);
  t.equal(names.questions.length, 2, 'one question for each family');
});

t.test('a kept connection goes on when the name has become private, and no other is made', async (t) => {
  const { sender, dialled } = await start(t, (question, count) =>
    only(count === 1 ? '127.0.0.1' : '10.0.0.1')(question),
  );
  t.match(await sender.send(requestTo()), { status: 200 });
  const both = await Promise.all([sender.send(requestTo()), sender.send(requestTo())]);
  t.match(both, [
    { status: 200, phases: { dns: null } },
    { status: null, error: 'refused' },
  ]);
  t.equal(dialled.length, 1);
});

t.test('an answer that a cache might keep is asked for again', async (t) => {
  const { resolve, names } = await start(t, ({ type }) =>
    type === 'A' ? [{ type, value: '127.0.0.1', ttl: 3600 }] : [],
  );
  await resolve(HOST, never);
  await resolve(HOST, never);
  t.equal(names.questions.length, 4);
});

t.test('a name that is another name for a private one is refused', async (t) => {
  const { sender, dialled } = await start(t, ({ type }) => [
    { type: 'CNAME', value: 'localhost' },
    { type, name: 'localhost', value: type === 'A' ? '127.0.0.2' : '::1' },
  ]);
  t.match(await sender.send(requestTo()), { status: null, error: 'refused' });
  t.equal(dialled.length, 0);
});

const chain = Array.from({ length: 20 }, (_value, index): DnsRecord => ({
  type: 'CNAME',
  ...(index === 0 ? {} : { name: `n${index}.example.com` }),
  value: `n${index + 1}.example.com`,
}));
const failures: Record<string, DnsReply> = {
  'no record': [],
  'a name for itself': [{ type: 'CNAME', value: HOST }],
  'a chain of 20 names': chain,
  NXDOMAIN,
  SERVFAIL,
  REFUSED,
};
for (const [what, reply] of Object.entries(failures)) {
  t.test(`dns when the answer is ${what}`, async (t) => {
    const { sender, dialled } = await start(t, () => reply);
    t.match(await sender.send(requestTo()), { status: null, error: 'dns', phases: { connect: null } });
    t.equal(dialled.length, 0);
  });
}

t.test('a name server that is silent about a name holds up no other name', async (t) => {
  const { sender, resolve } = await start(t, (question) => {
    if (question.name === 'silent.example.com') return undefined;
    if (question.name === 'half.example.com' && question.type === 'AAAA') return undefined;
    return only('127.0.0.1')(question);
  });
  let isOver = false;
  const silent = sender
    .send(requestTo({ url: 'https://silent.example.com/' }))
    .finally(() => (isOver = true));
  const half = resolve('half.example.com', never);
  const others = await Promise.all(Array.from({ length: 16 }, async () => sender.send(requestTo())));
  t.strictSame([...new Set(others.map(({ status }) => status)), isOver], [200, false]);
  t.match(await silent, { error: 'dns' });
  t.strictSame(await half, ['127.0.0.1'], 'and one family does for the other');
});

t.test('the deadline of the attempt ends the search for an address', async (t) => {
  const { sender, resolve } = await start(t, () => undefined, 300);
  t.match(await sender.send(requestTo()), {
    ...{ status: null, error: 'timeout' },
    phases: { dns: Number, connect: null },
  });
  await t.rejects(resolve(HOST, AbortSignal.timeout(100)), { message: 'The attempt ends with dns.' });
});

t.test('neither the hosts file nor a search domain has a say', async (t) => {
  // The C library's way to set a search domain; c-ares reads it too.
  process.env['LOCALDOMAIN'] = 'example.com';
  t.teardown(() => delete process.env['LOCALDOMAIN']);
  const { resolve, names } = await start(t, ({ name, type }) =>
    name === 'localhost' && type === 'A' ? [{ type, value: '93.184.216.34' }] : NXDOMAIN,
  );
  t.strictSame(await resolve('localhost', never), ['93.184.216.34']);
  await t.rejects(resolve('intranet', never), { message: 'The attempt ends with dns.' });
  t.strictSame([...new Set(names.questions.map(({ name }) => name))], ['localhost', 'intranet']);
});

t.test('an answer that does not fit is asked for over TCP, and all of it is looked at', async (t) => {
  const many = Array.from({ length: 900 }, (_value, index) => `93.184.${index >> 8}.${index & 255}`);
  const lists: Record<string, string[]> = { [HOST]: many, 'mixed.example.com': [...many, '10.0.0.1'] };
  await using names = await startNameServer((question) => only(...(lists[question.name] ?? []))(question), {
    isTruncating: true,
  });
  const resolve = createResolve([names.address]);
  t.strictSame((await resolve(HOST, never)).toSorted(), many.toSorted());
  t.ok(names.questions.some(({ isOverTcp }) => isOverTcp));
  t.ok((await resolve('mixed.example.com', never)).includes('10.0.0.1'), 'the last one as well');
});

t.test('the families take turns, IPv4 first', async (t) => {
  const { resolve } = await start(t, only('9.0.0.1', '9.0.0.2', '9.0.0.3', '2600::1'));
  t.strictSame(await resolve(HOST, never), ['9.0.0.1', '2600::1', '9.0.0.2', '9.0.0.3']);
});
