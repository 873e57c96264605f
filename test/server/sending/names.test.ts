import t, { type Test } from 'tap';

import { createResolve } from '../../../src/server/sending/connections.ts';
import { createAddressRule, isPublicAddress } from '../../../src/server/sending/public-addresses.ts';
import { closedAddresses, publicAddresses } from './_addresses.ts';
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
  return { receiver, names, resolve, sender, dialled };
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
  const asked = names.questions.map(({ name, type }) => `${name} ${type}`);
  t.strictSame(asked.sort(), [`${HOST} A`, `${HOST} AAAA`]);
});

t.test('on a network with DNS64 alone, a receiver with a public IPv4 address is not refused', async (t) => {
  const { names } = await start(t, ({ type }) =>
    type === 'AAAA' ? [{ type, value: '64:ff9b::5db8:d822' }] : [],
  );
  const addresses = await createResolve([names.address])(HOST, never);
  t.strictSame(addresses.map(createAddressRule()), [true], 'by the very rule of the sender');
});

const chain = Array.from({ length: 20 }, (_value, index): DnsRecord => ({
  type: 'CNAME',
  ...(index === 0 ? {} : { name: `n${index}.example.com` }),
  value: `n${index + 1}.example.com`,
}));
/** What a name server says of a name, and how the attempt ends. */
const uncalled: Record<string, [error: 'refused' | 'dns', answer: (question: Question) => DnsReply]> = {
  'a private address': ['refused', only('127.0.0.2')],
  'a public and a private address': ['refused', only('127.0.0.1', '10.0.0.1')],
  'a private and a public address': ['refused', only('10.0.0.1', '127.0.0.1')],
  'a public IPv4 and a private IPv6 address': ['refused', only('127.0.0.1', 'fc00::1')],
  'a public IPv4 address and a mapped one': ['refused', only('127.0.0.1', '::ffff:127.0.0.1')],
  'a private IPv4 address behind DNS64': ['refused', only('64:ff9b::a00:1')],
  'one private address behind 99 public ones': [
    'refused',
    only(...Array<string>(99).fill('127.0.0.1'), '10.0.0.1'),
  ],
  'another name for a private one': [
    'refused',
    ({ type }) => [
      { type: 'CNAME', value: 'localhost' },
      { type, name: 'localhost', value: type === 'A' ? '127.0.0.2' : '::1' },
    ],
  ],
  'no record': ['dns', () => []],
  'a name for itself': ['dns', () => [{ type: 'CNAME', value: HOST }]],
  'a chain of 20 names': ['dns', () => chain],
  NXDOMAIN: ['dns', () => NXDOMAIN],
  SERVFAIL: ['dns', () => SERVFAIL],
  REFUSED: ['dns', () => REFUSED],
};

t.test('a name that leads to one address that is private, or to none, is not called', async (t) => {
  let answer: (question: Question) => DnsReply = () => [];
  const { sender, dialled } = await start(t, (question) => answer(question));
  for (const [what, [error, given]] of Object.entries(uncalled)) {
    answer = given;
    t.match(await sender.send(requestTo()), { status: null, error, phases: { connect: null } }, what);
  }
  t.equal(dialled.length, 0);
});

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

t.test('a name that changes its address is called at the one that was checked', async (t) => {
  const { sender, dialled, names } = await start(t, (question, count) =>
    only(count === 1 ? '127.0.0.1' : '127.0.0.2')(question),
  );
  t.match(await sender.send(requestTo()), { status: 200 });
  t.match(dialled, [{ address: '127.0.0.1' }]);
  t.equal(dialled.length, 1);
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
