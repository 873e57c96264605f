import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import {
  createFeedAuthentication,
  createFeedToken,
} from '../../../../src/server/features/feed-tokens/feed-tokens.ts';
import { UsageError } from '../../../../src/errors.ts';
import {
  listFeedTokens,
  revokeFeedToken,
} from '../../../../src/server/features/feed-tokens/stored-feed-tokens.ts';
import { KEY_PREFIX, STORY_NOW } from '../../../_server.ts';
import { readTables } from '../../backoffice/_backoffice.ts';
import { onEachStore } from '../../store/_stores.ts';

onEachStore(
  'a token works until it is revoked, and its last use is known to the minute',
  async (t, { engine }) => {
    for (const id of ['acme', 'bolt']) await createCompany(engine, id, {}, STORY_NOW);
    let now = STORY_NOW;
    const later = (seconds: number) => (now = new Date(now.getTime() + seconds * 1_000));
    const given = { keyPrefix: KEY_PREFIX, name: 'erp', now };
    const { token, record } = await createFeedToken(engine, given);
    const limits = { companies: ['bolt', 'acme', 'bolt'], changes: ['job.create', 'job.create'] };
    const limited = await createFeedToken(engine, { ...given, ...limits, now: later(1) });
    t.match(token, /^fl-feed\.[0-9a-f]{12}\.[\w-]{43}$/);
    const [, , secret = ''] = token.split('.');
    t.notMatch(JSON.stringify(await readTables(engine)), secret, 'only its digest is stored');

    const authenticate = createFeedAuthentication(engine, { keyPrefix: KEY_PREFIX, now: () => now });
    t.match(await authenticate(`Bearer ${token}`), { id: record.id, companies: null, changes: null });
    const found = await authenticate(`bearer  ${limited.token}`);
    t.match(found, { id: limited.record.id, companies: ['acme', 'bolt'], changes: ['job.create'] });
    const usedAt = async () => (await listFeedTokens(engine)).map(({ usedAt: at }) => at);
    const first = now.toISOString();
    t.strictSame(await usedAt(), [first, first]);
    later(60);
    await authenticate(`Bearer ${token}`);
    t.strictSame(await usedAt(), [first, first], 'it is written down once in a minute');
    later(1);
    await authenticate(`Bearer ${token}`);
    t.strictSame(await usedAt(), [now.toISOString(), first]);

    await revokeFeedToken(engine, record.id, now);
    await t.rejects(authenticate(`Bearer ${token}`), { code: 'revoked_key' });
    await t.rejects(
      authenticate(`Bearer ${token.slice(0, -1)}`),
      { code: 'invalid_key' },
      'not told to others',
    );
    await authenticate(`Bearer ${limited.token}`);
    await revokeFeedToken(engine, record.id, later(9));
    const [revoked] = await listFeedTokens(engine);
    t.equal(Date.parse(revoked?.revokedAt ?? '') < now.getTime(), true, 'the time of the first stays');
    await t.rejects(
      revokeFeedToken(engine, 'nobody', now),
      new UsageError('There is no feed token "nobody".'),
    );
  },
);

onEachStore("a token for what isn't there is refused, and nothing is made", async (t, { engine }) => {
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const wrong: [given: { name?: string; companies?: string[]; changes?: string[] }, message: RegExp][] = [
    [{ companies: ['acme', 'bolt'] }, /^There is no company "bolt"\.$/],
    [{ companies: [] }, /^A list is empty\./],
    [{ changes: [] }, /^A list is empty\./],
    [
      { changes: ['job.create', 'job.creat'] },
      /^"job\.creat" is not a change of the feed; did you mean job\.create\?$/,
    ],
    [{ name: '' }, /^Enter the name of a token\.$/],
    [{ name: 'x'.repeat(101) }, /^The name of a token /],
    [{ name: 'a\nb' }, /^The name of a token /],
  ];
  for (const [given, message] of wrong) {
    const made = createFeedToken(engine, { keyPrefix: KEY_PREFIX, name: 'erp', now: STORY_NOW, ...given });
    await t.rejects(made, { name: 'UsageError', message });
  }
  t.strictSame(await listFeedTokens(engine), []);
});
