import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { inviteToReset } from '../../../../src/server/features/people/invitations.ts';
import { resetSecondFactor } from '../../../../src/server/features/people/administrators.ts';
import { routes } from '../../../../src/server/portal/routes.ts';
import { createSecretBox } from '../../../../src/server/process/secret-box.ts';
import { findAccount } from '../../../../src/server/store/accounts/administrator-rows.ts';
import { listAuditRows } from '../../../../src/server/store/accounts/audit-trail.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  hiddenFields,
  NEW_PASSWORD,
  onEachEngine,
  onSqlite,
  PASSWORD,
  type TestPortal,
  type Visitor,
} from '../../portal/_portal.ts';
import { totpAt } from '../../../_totp.ts';

const PATH = '/portal/account/second-factor';
const COOKIE = 'fieldledger_session';
const later = (seconds: number) => new Date(STORY_NOW.getTime() + seconds * 1000);
/** The code of an app, some seconds after the story's moment. */
const codeAt = (secret: string, seconds = 0) => totpAt(secret, STORY_NOW.getTime() / 1000 + seconds);

/** Sets up a second factor with the code of half a minute ago, so that the present one is still good. */
async function setUp(visitor: Visitor): Promise<{ secret: string; recovery: string[] }> {
  await visitor.visit(PATH);
  const [, secret = ''] = /href="otpauth:\/\/totp\/[^"]*secret=([A-Z2-7]{32})/.exec(visitor.shown) ?? [];
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

onSqlite('the secret is copied without blanks, and recovery codes are kept in a file', async (t, portal) => {
  const visitor = await portal.signedIn();
  const { secret, recovery } = await setUp(visitor);
  const [, file = ''] =
    /download="recovery-codes.txt"\s+href="data:text\/plain;charset=utf-8,([^"]*)"/.exec(visitor.shown) ?? [];
  t.equal(decodeURIComponent(file), ['Recovery codes', '', ...recovery, ''].join('\r\n'));
  t.equal(recovery.length, 10);
  await visitor.visit(PATH);
  const [, code = ''] = /<code\s+id="app-secret"[^>]*>([^]*?)<\/code>/.exec(visitor.shown) ?? [];
  t.match(code.replaceAll(/<\/?span>/g, ''), /^[A-Z2-7]{32}$/);
  t.notMatch(visitor.shown, secret, 'a secret is shown once');
});

onSqlite('signing in asks for a code, which is good once', proxied, async (t, portal) => {
  const { engine } = portal;
  const { secret, recovery } = await setUp(await portal.signedIn());
  const visitor = await afterPassword(portal);
  t.match(visitor.text, /Enter your code/);
  t.equal((await visitor.copy().visit('/portal')).statusCode, 303, 'until then there is nothing to see');
  t.equal(await give(visitor, codeAt(secret, -30)), 422, 'it was used to set it up');
  t.equal(await give(visitor, codeAt(secret)), 303);
  t.match(await visitor.read('/portal'), /Overview/);
  t.equal(await signInWith(portal, codeAt(secret)), 422);
  t.equal(await signInWith(portal, recovery[3] ?? ''), 303);
  const entries = await listAuditRows(engine, COMPANY, { limit: 50 });
  t.match(entries.find(({ action }) => action === 'administrator.sign_in_failed')?.details, {
    wrong: /code/,
  });
  t.match(entries.find(({ action }) => action === 'administrator.signed_in')?.details, {
    code: 'recovery code',
  });
});

onEachEngine('of requests with one code at once, one gets in', proxied, async (t, portal) => {
  const { secret, recovery } = await setUp(await portal.signedIn());
  const one = await afterPassword(portal);
  for (const code of [codeAt(secret), recovery[0] ?? '']) {
    const racers = [one.copy(), ...(await Promise.all([1, 2, 3].map(() => afterPassword(portal))))];
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
    t.equal(await give(owner, codeAt(secret)), 303);
    t.not(owner.cookies.get(COOKIE), thief.cookies.get(COOKIE));
    t.equal((await thief.visit('/portal')).statusCode, 303);
    t.match(await thief.read('/portal/companies'), /You are not signed in/);
    t.equal((await owner.visit('/portal')).statusCode, 200);
  },
);

onSqlite(
  'codes are counted like passwords, and guesses keep no known browser out',
  proxied,
  async (t, portal) => {
    const owner = await portal.signedIn();
    const { secret, recovery } = await setUp(owner);
    const known = await afterPassword(portal);
    await give(known, recovery[0] ?? '');
    const wrong = portal.visitor();
    await wrong.visit('/portal/sign-in');
    const told = await wrong.refused('/portal/sign-in', { email: EMAIL, password: 'not this one' });
    const stranger = { email: 'nobody@brennan.example', password: 'not this one' };
    t.equal(await wrong.refused('/portal/sign-in', stranger), told, 'a second factor isn’t told of');
    const guesser = await afterPassword(portal);
    const guess = (address: string) => give(guesser, '000000', address);
    const statuses = [];
    for (let sent = 0; sent < 6; sent += 1) statuses.push(await guess('203.0.113.1'));
    t.strictSame(statuses, [422, 422, 422, 422, 422, 429]);
    t.match(guesser.text, /Too many attempts/);
    for (let sent = 0; sent < 45; sent += 1) await guess(`2001:db8:${sent.toString(16)}::1`);
    t.equal(await guess('203.0.113.2'), 429, 'from many networks, too');
    const again = portal.visitor();
    again.cookies.set('fieldledger_browser', known.cookies.get('fieldledger_browser') ?? '');
    await again.visit('/portal/sign-in');
    await again.submitAndFollow('/portal/sign-in', { email: EMAIL, password: PASSWORD });
    t.equal(await give(again, codeAt(secret), '203.0.113.3'), 303);
  },
);

onSqlite('each company asks for the code of its own account', proxied, async (t, portal) => {
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
  t.match((await findAccount(engine.db, { company: 'other', id: there.id }))?.secondFactor, {
    recoveryCodes: { length: 10 },
  });
});

onSqlite(
  'a session that waits is asked for what the account has when the code comes',
  proxied,
  async (t, portal) => {
    const { engine, administrator } = portal;
    const owner = await portal.signedIn();
    const former = await setUp(owner);
    const [one, two] = [await afterPassword(portal), await afterPassword(portal)];
    const next = await setUp(owner);
    t.equal(await give(one, codeAt(former.secret)), 422, 'it was replaced');
    t.match(await one.read('/portal/companies'), /You are not signed in/, 'and other sessions ended');
    const waiting = await afterPassword(portal);
    const { id } = administrator;
    await resetSecondFactor(engine, { company: COMPANY, id, by: 'operator', now: STORY_NOW });
    t.match(await waiting.read('/portal/companies'), /You are not signed in/, 'it was taken away');
    const [entry] = await listAuditRows(engine, COMPANY, { action: 'second_factor.reset', limit: 1 });
    t.match(entry, { administratorName: 'Operator', details: { email: EMAIL } });
    t.equal(await give(two, codeAt(next.secret)), 422);
  },
);

onEachEngine('whoever may invite resets a colleague’s, and both are told', async (t, portal) => {
  const { engine, administrator } = portal;
  const { visitor: conor, administrator: colleague } = await portal.join();
  await setUp(conor);
  const waiting = await afterPassword(portal, COLLEAGUE);
  const owner = await portal.signedIn();
  const path = `/portal/people/${colleague.id}/second-factor`;
  await owner.visit('/portal/people');
  t.match(await owner.act(path), /Conor no longer has a second factor, and is signed out everywhere\./);
  t.notMatch(owner.shown, path, 'it is reset once');
  t.equal((await conor.visit('/portal')).statusCode, 303);
  t.match(await waiting.read('/portal/companies'), /You are not signed in/);
  const again = await afterPassword(portal, COLLEAGUE);
  t.equal((await again.visit('/portal')).statusCode, 200, 'without a code');
  const told =
    /The second factor of Conor was reset Aoife Brennan reset the second factor of Conor, \S+, and signed/;
  for (const visitor of [owner, again]) t.match(await visitor.read('/portal/notices'), told);
  const [entry] = await listAuditRows(engine, COMPANY, { action: 'second_factor.reset', limit: 2 });
  t.match(entry, { administrator: administrator.id, subject: colleague.id });
});

onSqlite('a company requires it of all, who reach nothing else before', async (t, portal) => {
  const { engine } = portal;
  const owner = await portal.signedIn();
  const { visitor: colleague } = await portal.join();
  const require = async (visitor: Visitor, required: string) => {
    await visitor.visit('/portal/people');
    return visitor.force('/portal/people/second-factor', { required });
  };
  t.equal(await require(owner, 'yes'), 422, 'whoever has none can’t');
  await setUp(owner);
  t.match(await owner.read('/portal/people'), /Conor No second factor/);
  t.notMatch(owner.text, /You No second factor/);
  t.equal(await require(owner, 'yes'), 303);
  await owner.visit('/portal/account');
  t.equal(await owner.force(`${PATH}/remove`), 422);
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
  t.equal(await visitor.useLink(token, NEW_PASSWORD), 303);
  t.match(await visitor.read('/portal/companies'), /Enter your code/);
  t.equal((await visitor.copy().visit('/portal/keys')).statusCode, 303);
  t.equal(await give(visitor, recovery[0] ?? ''), 303);
});

onSqlite(
  'without a key setting it up says so',
  { portal: { ...PORTAL_SETTINGS, secrets: createSecretBox(undefined) } },
  async (t, portal) => {
    const visitor = await portal.signedIn();
    t.equal((await visitor.visit(PATH)).statusCode, 422);
    t.match(visitor.text, /there is no key for that: the operator sets WEBHOOK_SECRET_KEY/);
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
      /Confirm that it’s you .*Your password, or a code of your authenticator app/,
    );
    t.equal(await count(), 0);
    for (const proof of ['a guess', codeAt(secret, -30)]) {
      await visitor.submit('/portal/keys/new', { ...filled, proof });
      t.match(visitor.text, /Your password or code is wrong/);
      t.match(visitor.shown, /name="name" value="&lt;b&gt;&quot;Export&quot; &amp; more"/);
      t.match(visitor.shown, /value="jobs:read"[^]*value="quotes:read"/);
      t.notMatch(visitor.shown, /value="a guess"/);
    }
    const code = codeAt(secret, 600);
    const both = [visitor, visitor.copy()].map((one) =>
      one.submit('/portal/keys/new', { ...filled, proof: code }),
    );
    for (const { statusCode } of await Promise.all(both)) t.equal(statusCode, 303);
    t.equal(await count(), 1, 'sent twice at once, it is done once');
    await visitor.visit('/portal/keys/new');
    // The proof is good for ten minutes more.
    t.equal((await visitor.submit('/portal/keys/new', filled)).statusCode, 303);
    portal.setNow(later(601 + 601));
    await visitor.visit('/portal/account');
    await visitor.submit('/portal/account/sign-out-everywhere');
    await visitor.submitAndFollow('/portal/account/sign-out-everywhere', { proof: PASSWORD });
  },
);
