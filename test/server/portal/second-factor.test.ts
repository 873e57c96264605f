import { generateSync } from 'otplib';

import { createCompany } from '../../../src/server/access/companies.ts';
import { inviteToReset } from '../../../src/server/access/invitations.ts';
import { addSecondFactor, removeSecondFactor } from '../../../src/server/access/second-factor.ts';
import { beginSession } from '../../../src/server/access/sessions.ts';
import { routes } from '../../../src/server/portal/routes.ts';
import { createSecretBox } from '../../../src/server/secret-box.ts';
import { findAccounts } from '../../../src/server/store/accounts/administrator-rows.ts';
import { listAuditRows } from '../../../src/server/store/accounts/audit-trail.ts';
import { listSessionRows } from '../../../src/server/store/accounts/session-rows.ts';
import { sealSecrets } from '../../../src/server/webhooks/secret-key.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  EMAIL,
  hiddenFields,
  onEachEngine,
  onSqlite,
  PASSWORD,
  type TestPortal,
  type Visitor,
} from './_portal.ts';

const PATH = '/portal/account/second-factor';
const COOKIE = 'fieldledger_session';
const OTHER = { email: 'conor@brennan.example', password: 'seven quiet harbour bells' };
const later = (seconds: number) => new Date(STORY_NOW.getTime() + seconds * 1000);
/** The code of a foreign generator, some seconds after the story's moment. */
const codeAt = (secret: string, seconds = 0) =>
  generateSync({ secret, epoch: STORY_NOW.getTime() / 1000 + seconds });

/** Sets up a second factor with the code of half a minute ago, so that the present one is still good. */
async function setUp(visitor: Visitor): Promise<{ secret: string; recovery: string[] }> {
  await visitor.visit(PATH);
  const [, shown = ''] = /into the app:\s*<code>([A-Z2-7 ]+)</.exec(visitor.shown) ?? [];
  const secret = shown.replaceAll(' ', '');
  await visitor.submitAndFollow(PATH, { code: codeAt(secret, -30) });
  return { secret, recovery: visitor.text.match(/(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}/g) ?? [] };
}

/** A browser in which the right password was given, and which waits for the code. */
async function afterPassword(portal: TestPortal, who = { email: EMAIL, password: PASSWORD }) {
  const visitor = portal.visitor();
  await visitor.visit('/portal/sign-in?next=/portal/people');
  await visitor.submitAndFollow('/portal/sign-in', who);
  return visitor;
}

let addresses = 0;
/** Gives a code, from an address of its own unless told, so that only one test is about the limits. */
async function give(visitor: Visitor, code: string, address = `198.51.100.${(addresses += 1)}`) {
  return (await visitor.submit('/portal/companies', { code }, { 'x-forwarded-for': address })).statusCode;
}

const signInWith = async (portal: TestPortal, code: string) => give(await afterPassword(portal), code);
const proxied = { trustedProxies: 1 };

onSqlite('the codes of RFC 6238 are taken', async (t, { engine, administrator }) => {
  const { company, id } = administrator;
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const box = PORTAL_SETTINGS.secrets;
  const sealed = box.seal(secret, { company, id });
  const vectors = { 59: '287082', 1111111109: '081804', 1111111111: '050471', 1234567890: '005924' };
  for (const [seconds, code] of Object.entries({ ...vectors, 2000000000: '279037', 20000000000: '353130' })) {
    const now = new Date(Number(seconds) * 1000);
    const from = { address: '192.0.2.1', client: 'Test', now };
    const lengths = { idleMinutes: 30, hoursMax: 12 };
    await engine.transaction((transaction) => beginSession(transaction, { administrator, ...from, lengths }));
    const sessions = await listSessionRows(engine, administrator);
    const session = sessions.find(({ createdAt }) => createdAt === now.toISOString())?.id ?? '';
    const add = { company, by: { administrator: id, session, ...from }, now, sealed };
    t.equal((await addSecondFactor(engine, box, { ...add, code })).length, 10, `${seconds} s`);
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    await t.rejects(addSecondFactor(engine, box, { ...add, code: wrong }), /code is wrong/);
  }
});

onEachEngine(
  'signing in asks for a code, which is good once and for a minute and a half',
  proxied,
  async (t, portal) => {
    const { engine } = portal;
    const { secret, recovery } = await setUp(await portal.signedIn());
    t.equal(new Set(recovery).size, 10);
    const [stored] = await engine.run('SELECT second_factor, recovery_codes FROM administrators');
    for (const shown of [secret, ...recovery, ...recovery.map((code) => code.replaceAll('-', ''))])
      t.notOk(JSON.stringify(stored).includes(shown), 'what is shown once is not stored');
    const visitor = await afterPassword(portal);
    t.match(visitor.text, /Enter your code/);
    t.equal((await visitor.copy().visit('/portal')).statusCode, 303, 'until then there is nothing to see');
    t.equal(await give(visitor, ` ${codeAt(secret).slice(0, 3)} ${codeAt(secret).slice(3)}`), 303);
    t.match(await visitor.read('/portal'), /Overview/);
    const attempts: [string, number, number, number][] = [
      ['taken when it was set up', 0, -30, 422],
      ['taken before', 0, 0, 422],
      ['61 s ahead', 0, 61, 422],
      ['30 s ahead', 0, 30, 303],
      ['older than the last one', 0, 0, 422],
      ['61 s late', 120, 59, 422],
      ['30 s late', 120, 90, 303],
    ];
    for (const [what, now, of, status] of attempts) {
      portal.setNow(later(now));
      t.equal(await signInWith(portal, codeAt(secret, of)), status, what);
    }
    t.equal(await signInWith(portal, ` ${recovery[3]?.toLowerCase().replaceAll('-', ' ')}`), 303);
    t.equal(await signInWith(portal, recovery[3] ?? ''), 422, 'a recovery code is good once');
    for (const code of ['', '000000', 'x'.repeat(500), `${codeAt(secret, 150)}0`, 'null'])
      t.equal(await signInWith(portal, code), 422, code.slice(0, 10));
    const entries = await listAuditRows(engine, COMPANY, { limit: 50 });
    t.match(entries.find(({ action }) => action === 'administrator.sign_in_failed')?.details, {
      wrong: /code/,
    });
    t.match(entries.filter(({ action }) => action === 'administrator.signed_in')[0]?.details, {
      code: 'recovery code',
    });
  },
);

onEachEngine('of requests with one code at once, one gets in', proxied, async (t, portal) => {
  const { secret, recovery } = await setUp(await portal.signedIn());
  const one = await afterPassword(portal);
  for (const code of [codeAt(secret), recovery[0] ?? '']) {
    const racers = [one.copy(), ...(await Promise.all([1, 2, 3].map(() => afterPassword(portal))))];
    for (const racer of racers) racer.shown ||= one.shown;
    const statuses = await Promise.all(racers.map((racer) => give(racer, code)));
    t.strictSame(statuses.sort(), [303, 422, 422, 422]);
  }
});

onSqlite(
  'whoever planted the cookie of a session that waits is not let in by its code',
  async (t, portal) => {
    const { secret } = await setUp(await portal.signedIn());
    const thief = await afterPassword(portal);
    const owner = thief.copy();
    owner.shown = thief.shown;
    t.equal(await give(owner, codeAt(secret)), 303);
    t.not(owner.cookies.get(COOKIE), thief.cookies.get(COOKIE));
    t.equal((await thief.visit('/portal')).statusCode, 303);
    t.match(await thief.read('/portal/companies'), /You are not signed in/);
    t.equal((await owner.visit('/portal')).statusCode, 200);
  },
);

onSqlite('a wrong password is answered the same with a second factor and without', async (t, portal) => {
  const texts = [];
  for (const isSetUp of [false, true]) {
    if (isSetUp) await setUp(await portal.signedIn());
    const visitor = portal.visitor();
    await visitor.visit('/portal/sign-in');
    await visitor.submit('/portal/sign-in', { email: EMAIL, password: 'not this one' });
    texts.push(visitor.text);
  }
  t.equal(texts[0], texts[1]);
});

onSqlite(
  'codes are counted like passwords, and guesses keep no known browser out',
  proxied,
  async (t, portal) => {
    const owner = await portal.signedIn();
    const { secret, recovery } = await setUp(owner);
    const known = await afterPassword(portal);
    await give(known, recovery[0] ?? '');
    const guesser = await afterPassword(portal);
    const guess = (address: string) => give(guesser, '000000', address);
    const statuses = [];
    for (let sent = 0; sent < 6; sent += 1) statuses.push(await guess('203.0.113.1'));
    t.strictSame(statuses, [422, 422, 422, 422, 422, 429]);
    t.match(guesser.text, /too many attempts/);
    for (let sent = 0; sent < 45; sent += 1) await guess(`2001:db8:${sent.toString(16)}::1`);
    t.equal(await guess('203.0.113.2'), 429, 'from many networks, too');
    const again = portal.visitor();
    again.cookies.set('fieldledger_browser', known.cookies.get('fieldledger_browser') ?? '');
    await again.visit('/portal/sign-in');
    await again.submitAndFollow('/portal/sign-in', { email: EMAIL, password: PASSWORD });
    t.equal(await give(again, codeAt(secret), '203.0.113.3'), 303);
  },
);

onEachEngine('each company asks for the code of its own account', proxied, async (t, portal) => {
  const { engine } = portal;
  await createCompany(engine, 'other', { name: 'Other Plumbing' }, STORY_NOW);
  const here = await setUp(await portal.signedIn());
  const there = await addAdministrator(engine, { email: EMAIL, password: PASSWORD, company: 'other' });
  const visitor = await afterPassword(portal);
  t.match(visitor.text, /Choose a company/);
  const choose = async (company: string, code?: string) => {
    await visitor.visit('/portal/companies');
    const { statusCode } = await visitor.submit('/portal/companies', { company, ...(code && { code }) });
    return statusCode;
  };
  t.equal(await choose('other'), 303, 'one has none');
  t.equal(await choose(COMPANY), 200);
  t.match(visitor.text, /Enter your code .* Brennan/);
  t.equal((await visitor.visit('/portal/people')).statusCode, 200, 'the first goes on');
  const own = await setUp(visitor);
  await engine.run("UPDATE portal_sessions SET is_waiting = 1 WHERE company = 'other'");
  t.equal(await choose('other', codeAt(here.secret)), 422, 'a code of another company’s account');
  t.equal(await choose(COMPANY, own.recovery[0]), 422);
  t.equal(await choose(COMPANY, codeAt(here.secret)), 303);
  t.equal(await choose('other', codeAt(own.secret)), 303);
  t.match((await findAccounts(engine.db, { company: 'other', id: there.id }))[0]?.secondFactor, {
    recoveryCodes: { length: 10 },
  });
});

onEachEngine(
  'a session that waits is asked for what the account has when the code comes',
  proxied,
  async (t, portal) => {
    const { engine, administrator } = portal;
    const owner = await portal.signedIn();
    const former = await setUp(owner);
    const [one, two] = [await afterPassword(portal), await afterPassword(portal)];
    const next = await setUp(owner);
    t.equal(await give(one, codeAt(former.secret)), 422, 'it was replaced');
    t.equal(
      (t.match(await one.read('/portal/companies')).statusCode, 200),
      /You are not signed in/,
      'and other sessions ended with that',
    );
    const waiting = await afterPassword(portal);
    await removeSecondFactor(engine, {
      company: COMPANY,
      id: administrator.id,
      by: 'operator',
      now: STORY_NOW,
    });
    t.equal(await give(waiting, codeAt(next.secret)), 303, 'it was taken away');
    const [entry] = (await listAuditRows(engine, COMPANY, { limit: 9 })).filter(
      ({ action }) => action === 'second_factor.removed',
    );
    t.match(entry, { administratorName: 'Operator', details: { email: EMAIL } });
    t.equal(await give(two, codeAt(next.secret)), 422);
  },
);

onEachEngine('a company requires it of all, who reach nothing else before', async (t, portal) => {
  const { engine } = portal;
  await addAdministrator(engine, { ...OTHER, name: 'Conor' });
  const [owner, colleague] = [await portal.signedIn(), await portal.signedIn(OTHER)];
  const require = async (visitor: Visitor, required: string) => {
    await visitor.visit('/portal/people');
    const hidden = hiddenFields(visitor.shown, '/portal/sign-out');
    return (await visitor.send('/portal/people/second-factor', { ...hidden, required })).statusCode;
  };
  t.equal(await require(owner, 'yes'), 422, 'whoever has none can’t');
  await setUp(owner);
  t.match(await owner.read('/portal/people'), /Conor No second factor/);
  t.notMatch(owner.text, /You No second factor/);
  t.equal(await require(owner, 'yes'), 303);
  await owner.visit('/portal/account');
  const hidden = hiddenFields(owner.shown, '/portal/sign-out');
  t.equal((await owner.send(`${PATH}/remove`, hidden)).statusCode, 422);
  await colleague.visit(PATH);
  const token = hiddenFields(colleague.shown, '/portal/sign-out');
  for (const { method, path, access, endsSession } of routes) {
    if (access === 'guests' || endsSession || `/portal${path}` === PATH) continue;
    const address = `/portal${path}`;
    const { statusCode, headers } =
      method === 'get' ? await colleague.visit(address) : await colleague.send(address, token);
    t.strictSame([statusCode, headers.location], [303, PATH], `${method} ${address}`);
  }
  await setUp(colleague);
  t.equal((await colleague.visit('/portal')).statusCode, 200);
  await engine.run("UPDATE administrators SET may_invite = 0 WHERE name = 'Conor'");
  t.equal(await require(colleague, 'no'), 422);
  t.equal(await require(owner, 'no'), 303);
  await owner.visit('/portal/account');
  t.match(await owner.act(`${PATH}/codes`), /You have new recovery codes/);
  t.match(await owner.act(`${PATH}/remove`), /Your second factor is removed/);
});

onSqlite('a link for a new password doesn’t go round the code', async (t, portal) => {
  const { recovery } = await setUp(await portal.signedIn());
  const { token } = await inviteToReset(portal.engine, { company: COMPANY, email: EMAIL, now: STORY_NOW });
  const visitor = portal.visitor();
  await visitor.visit('/portal/invitation');
  await visitor.submit('/portal/invitation', { code: token });
  const password = 'granite lanterns drift north';
  const fields = { password, 'password-again': password };
  t.match(await visitor.act('/portal/invitation/accept', fields), /Enter your code/);
  t.equal((await visitor.copy().visit('/portal/keys')).statusCode, 303);
  t.equal(await give(visitor, recovery[0] ?? ''), 303);
});

onEachEngine('secrets are sealed for their owner, and anew with another key', async (t, portal) => {
  const { engine } = portal;
  await addAdministrator(engine, { ...OTHER, name: 'Conor' });
  const [owner, colleague] = [await portal.signedIn(), await portal.signedIn(OTHER)];
  await colleague.visit(PATH);
  const { sealed = '' } = hiddenFields(colleague.shown, PATH);
  await owner.visit(PATH);
  const token = hiddenFields(owner.shown, PATH);
  for (const stolen of [sealed, '', 'whsec_AAAA', `whsec_${sealed}`])
    t.equal((await owner.send(PATH, { ...token, sealed: stolen, code: '000000' })).statusCode, 422, stolen);
  const { secret } = await setUp(owner);
  const next = createSecretBox(
    Buffer.alloc(32, 8).toString('base64'),
    Buffer.alloc(32, 7).toString('base64'),
  );
  t.strictSame(await sealSecrets(engine, next), { sealedCount: 1, problems: [] });
  const [stored] = await engine.run("SELECT second_factor FROM administrators WHERE second_factor <> ''");
  const owned = { company: COMPANY, id: portal.administrator.id };
  t.equal(
    createSecretBox(Buffer.alloc(32, 8).toString('base64')).open(String(stored?.second_factor), owned),
    secret,
  );
  const waiting = await afterPassword(portal);
  t.equal(await give(waiting, codeAt(secret)), 422, 'without that key no code can be checked');
  t.match(waiting.text, /sealed with another WEBHOOK_SECRET_KEY/);
});

onSqlite(
  'without a key setting it up says so',
  { portal: { ...PORTAL_SETTINGS, secrets: createSecretBox(undefined) } },
  async (t, portal) => {
    const visitor = await portal.signedIn();
    t.equal(
      (t.match(await visitor.read(PATH)).statusCode, 422),
      /there is no key for that: the operator sets WEBHOOK_SECRET_KEY/,
    );
  },
);

onEachEngine(
  'after ten minutes a change asks who it is, and loses nothing that was filled in',
  async (t, portal) => {
    const visitor = await portal.signedIn();
    const { secret } = await setUp(visitor);
    const count = async () => (await portal.engine.run('SELECT id FROM api_keys')).length;
    portal.setNow(later(601));
    await visitor.visit('/portal/keys/new');
    const filled = { name: '<b>"Export" & more', scopes: ['jobs:read', 'quotes:read'] };
    t.match(
      await visitor.refused('/portal/keys/new', filled),
      /Confirm that it is you .*Your password, or a code of your authenticator app/,
    );
    t.equal(await count(), 0);
    const scopes = filled.scopes;
    const name = '<b>"Export" & more';
    for (const proof of ['a guess', codeAt(secret, -30)]) {
      await visitor.submit('/portal/keys/new', { name, scopes, proof });
      t.match(visitor.text, /Your password or code is not right/);
      t.match(visitor.shown, /name="name" value="&lt;b&gt;&quot;Export&quot; &amp; more"/);
      t.match(visitor.shown, /value="jobs:read"[^]*value="quotes:read"/);
      t.notMatch(visitor.shown, /value="a guess"/);
    }
    const [twice, code] = [visitor.copy(), codeAt(secret, 600)];
    twice.shown = visitor.shown;
    const both = [visitor, twice].map((one) => one.submit('/portal/keys/new', { name, scopes, proof: code }));
    const answers = await Promise.all(both);
    t.strictSame(
      answers.map(({ statusCode }) => statusCode),
      [303, 303],
      'sent twice at once, it is done once',
    );
    t.equal(await count(), 1);
    await visitor.visit('/portal/keys/new');
    t.equal(
      (await visitor.submit('/portal/keys/new', filled)).statusCode,
      303,
      'and good for ten minutes more',
    );
    portal.setNow(later(601 + 601));
    await visitor.visit('/portal/account');
    await visitor.submit('/portal/account/sign-out-everywhere');
    t.equal(
      (await visitor.submit('/portal/account/sign-out-everywhere', { proof: PASSWORD })).statusCode,
      303,
    );
  },
);
