// Long: guesses from hundreds of networks are counted, on both engines, and the memory that they take is measured.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';
import t from 'tap';

import { networkOf } from '../../../src/server/connections/networks.ts';
import { createSignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import { AppError } from '../../../src/errors.ts';
import { openTestDatabase } from '../../_server.ts';
import { onEachStore } from '../store/_stores.ts';

const EMAIL = 'jane@example.com';
type Limits = ReturnType<typeof createSignInLimits>;

/** Counts an attempt. @returns whether it may be made. */
const isAllowed = (limits: Limits, email: string, address: string, browser?: string): Promise<boolean> =>
  limits.count({ email, address, browser }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'rate_limited') return false;
      throw error;
    },
  );

/** Counts attempts one after the other; gives how many were let through before the first refusal. */
async function allowedOf(limits: Limits, attemptOf: (index: number) => [email: string, address: string]) {
  for (let index = 0; index < 100; index += 1)
    if (!(await isAllowed(limits, ...attemptOf(index)))) return index;
  return 100;
}

onEachStore('guesses are counted by account, by network, and by both', async (t, { engine }) => {
  const limits = createSignInLimits(engine);
  const guesses: [what: string, count: number, attemptOf: Parameters<typeof allowedOf>[1]][] = [
    ['both the same', 5, () => [EMAIL, '198.51.100.7']],
    ['one account, from many addresses', 50, (index) => ['ann@example.com', `192.0.2.${index}`]],
    ['many accounts, from one address', 50, (index) => [`p${index}@example.com`, '203.0.113.9']],
    [
      'many accounts, from a network of IPv6',
      50,
      (index) => [`q${index}@example.com`, `2001:db8::${(index + 1).toString(16)}`],
    ],
  ];
  for (const [what, count, attemptOf] of guesses) t.equal(await allowedOf(limits, attemptOf), count, what);
  await limits.count({ email: EMAIL, address: '198.51.100.8' });
  await limits.count({ email: 'q1@example.com', address: '2001:db8:0:1::1' });
});

onEachStore('an attempt that succeeds is not counted', async (t, { engine }) => {
  const limits = createSignInLimits(engine);
  for (let round = 0; round < 60; round += 1) {
    const { forgive } = await limits.count({ email: EMAIL, address: '198.51.100.7' });
    await forgive();
  }
  const four = { email: EMAIL, address: '198.51.100.7' };
  for (let round = 0; round < 4; round += 1) await limits.count(four);
  const { forgive } = await limits.count(four);
  await forgive();
  t.equal(await allowedOf(limits, () => [EMAIL, '198.51.100.7']), 1, 'those before it still are');
});

/** Attempts with ever new email addresses; one that knew each of them would hold some 20 MB. */
const NEW_ADDRESSES = { sqlite: 20_000, postgres: 5_000 };

onEachStore(
  'refused sign-ins with ever new email addresses from one network take no memory',
  async (t, { engine, name }) => {
    const limits = createSignInLimits(engine);
    const attempt = (index: number) =>
      isAllowed(limits, `p${index}@example.com`, `2001:db8::${(index % 9_999) + 1}`);
    // Until the code is compiled and every counter is full.
    for (let index = 0; index < 2_000; index += 1) await attempt(index);
    const before = heapBytes();
    const outcomes = new Set<boolean>();
    for (let index = 0; index < NEW_ADDRESSES[name]; index += 1) outcomes.add(await attempt(2_000 + index));
    // A collection leaves some megabytes more or less; memory that is held is there at every look.
    const looks: number[] = [];
    for (let look = 0; look < 3; look += 1) {
      looks.push(heapBytes());
      await attempt(NEW_ADDRESSES[name] + 2_000 + look);
    }
    const grownMb = (Math.min(...looks) - before) / 1e6;
    t.strictSame([...outcomes], [false]);
    t.ok(grownMb < 5, `${grownMb.toFixed(1)} MB`);
    if (name === 'sqlite') return;
    const [row] = await engine.run('SELECT count(*) AS count FROM rate_counts');
    t.equal(Number(row?.count), 101, 'one network, and fifty accounts by themselves and from there');
  },
);

/** Memory that is in use once what isn't was collected. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  // With the flag, a new context has it.
  const collect = runInNewContext('gc') as () => void;
  collect();
  // The first one may leave what it found only then.
  collect();
  return process.memoryUsage().heapUsed;
}

t.test('processes that share PostgreSQL count together, and keep no address that was typed', async (t) => {
  await using database = await openTestDatabase('postgres');
  const servers = [createSignInLimits(database.engine), createSignInLimits(database.engine)];
  for (let round = 0; round < 10; round += 1) {
    const limits = servers[round % 2] ?? createSignInLimits(database.engine);
    t.equal(await isAllowed(limits, EMAIL, '198.51.100.7'), round < 5);
  }
  const rows = await database.engine.run('SELECT key FROM rate_counts');
  t.ok(rows.length >= 3);
  t.notOk(JSON.stringify(rows).includes('jane'));
});

t.test('an address of IPv6 stands for its network of 64 bits, however it is written', async (t) => {
  const networks: [address: string, network: string][] = [
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
  ];
  for (const [address, network] of networks) t.equal(networkOf(address), network, address);
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
      const sixteen = (address: string) => {
        const url = new URL(`http://[${address}]`).hostname.slice(1, -1);
        const [head = '', tail] = url.split('::');
        const front = head.split(':').filter(Boolean);
        const back = (tail ?? '').split(':').filter(Boolean);
        const zeros = Array.from(
          { length: tail === undefined ? 0 : 8 - front.length - back.length },
          () => '0',
        );
        return [...front, ...zeros, ...back];
      };
      const isSame = sixteen(one).slice(0, 4).join() === sixteen(other).slice(0, 4).join();
      const isMapped = [one, other].some((address) => !networkOf(address).includes('/'));
      return isMapped || isSame === (networkOf(one) === networkOf(other));
    }),
  );
});

onEachStore("a limit that is reached isn't reset by guesses from 204 networks", async (t, { engine }) => {
  const limits = createSignInLimits(engine);
  for (let sent = 0; sent < 50; sent += 1) await isAllowed(limits, EMAIL, `192.0.2.${sent}`);
  t.notOk(await isAllowed(limits, EMAIL, '192.0.2.200'));
  for (let network = 0; network < 210; network += 1)
    await Promise.all(
      Array.from({ length: 50 }, (_value, sent) =>
        isAllowed(limits, `p${network}-${sent}@example.com`, `198.51.${network}.1`),
      ),
    );
  t.notOk(await isAllowed(limits, EMAIL, '192.0.2.201'));
});

onEachStore("an attempt that one limit refuses isn't counted by the others", async (t, { engine }) => {
  const limits = createSignInLimits(engine);
  const address = '198.51.100.7';
  for (let sent = 0; sent < 100; sent += 1) await isAllowed(limits, EMAIL, address);
  for (let sent = 0; sent < 45; sent += 1) await limits.count({ email: `p${sent}@example.com`, address });
  await t.rejects(limits.count({ email: 'ann@example.com', address }), { code: 'rate_limited' });
});
