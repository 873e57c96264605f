import { revokeKey } from '../../../../src/server/features/keys/keys.ts';
import { listKeyHours } from '../../../../src/server/features/usage/key-usage.ts';
import { until } from '../../../_command.ts';
import { keyFor, STORY_NOW } from '../../../_server.ts';
import { COMPANY, onSqlite, type TestPortal } from '../../portal/_portal.ts';

async function ask({ http }: TestPortal, key: string, path = 'api/v1/jobs'): Promise<number> {
  return (await http(path, { headers: { authorization: `Bearer ${key}` } })).statusCode;
}

/** Waits until so many requests are written down: a request is counted when its answer is gone, which its client sees first. */
async function writtenDown({ engine, usage }: TestPortal, count: number): Promise<void> {
  await until(async () => {
    await usage.flush();
    const rows = await listKeyHours(engine, COMPANY, { from: '', limit: 100 });
    return rows.reduce((sum, { answered, limited }) => sum + answered + limited, 0) >= count;
  });
}

onSqlite(
  'the page counts requests by key, and what the rate limit refused',
  { rateLimitPerMinute: 3 },
  async (t, portal) => {
    const visitor = await portal.signedIn();
    t.match(await visitor.read('/portal/usage'), /No key was used/);
    t.match(visitor.text, /No keys Create your first key/);
    t.match(visitor.text, /The overview says which data the API gives out\./);
    const busy = await keyFor(portal.engine, COMPANY);
    const calm = await keyFor(portal.engine, COMPANY, ['jobs:read']);
    const statuses = [];
    for (let asked = 0; asked < 5; asked += 1) statuses.push(await ask(portal, busy));
    t.strictSame(statuses, [200, 200, 200, 429, 429]);
    t.equal(await ask(portal, calm, 'api/v1/people'), 403);
    t.equal(await ask(portal, `${calm}x`), 401, 'a wrong key is nobody’s use');
    await writtenDown(portal, 6);

    t.match(await visitor.read('/portal/usage'), /Requests 6 Refused by the rate limit 2/);
    t.match(visitor.text, /Each key may send 3 requests a minute/);
    t.match(visitor.shown, /20 Nov 2026: 4 answered, 2 refused by the rate limit/);
    const id = (key: string) => key.split('.')[2] ?? '';
    t.match(visitor.text, new RegExp(`Test ${id(busy)} 5 2 20 Nov 2026, 12:00`));
    t.match(visitor.text, new RegExp(`Test ${id(calm)} 1 0 20 Nov 2026, 12:00`));
    t.match(
      await visitor.read('/portal/keys'),
      /by the operator 20 Nov 2026, 12:00 Requests of the key Test Change/,
      'the list of keys says when each was used',
    );

    await revokeKey(portal.engine, COMPANY, id(busy), STORY_NOW);
    t.match(
      await visitor.read('/portal/usage'),
      new RegExp(`Test Ended ${id(busy)} 5 2`),
      'a key that was revoked since is there',
    );
    portal.setNow(new Date(STORY_NOW.getTime() + 31 * 86_400_000));
    const later = await portal.signedIn();
    t.match(await later.read('/portal/usage'), /No key was used/, 'what is older than 30 days is not');
    t.notMatch(later.text, id(busy));
    t.match(later.text, new RegExp(`Test ${id(calm)} 0 0 20 Nov 2026, 12:00 None`));
  },
);
