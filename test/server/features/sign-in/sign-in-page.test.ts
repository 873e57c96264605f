import { inviteToReset } from '../../../../src/server/features/people/invitations.ts';
import { STORY_NOW } from '../../../_server.ts';
import {
  COMPANY,
  EMAIL,
  inviteAs,
  NEW_PASSWORD,
  onEachEngine,
  onSqlite,
  PASSWORD,
  textOf,
  typedTwice,
  type Visitor,
} from '../../portal/_portal.ts';

onEachEngine('an administrator signs in, sees the overview, and signs out', async (t, portal) => {
  const visitor = portal.visitor();
  const first = await visitor.visit('/portal/people');
  t.equal(first.statusCode, 303);
  t.equal(first.headers.location, '/portal/sign-in?next=%2Fportal%2Fpeople');
  await visitor.visit(first.headers.location ?? '');
  t.match(
    await visitor.act('/portal/sign-in', {
      email: ` ${EMAIL.toUpperCase()}`,
      password: PASSWORD,
    }),
    /These people are administrators/,
    'and comes to the page that was asked for',
  );
  t.match(await visitor.act('/portal/sign-out'), /You have signed out/);
  t.ok(visitor.cookies.has('fieldledger_browser'), 'the browser stays known');
  t.equal((await visitor.visit('/portal')).statusCode, 303);
});

const later = (minutes: number) => new Date(STORY_NOW.getTime() + minutes * 60_000);

onSqlite('signing in begins a new session, so that a planted one is worth nothing', async (t, portal) => {
  const attacker = await portal.signedIn();
  const victim = portal.visitor();
  // The attacker has planted both cookies in the victim's browser: one of no session, then one of their own.
  for (const planted of ['A'.repeat(43), attacker.cookies.get('fieldledger_session') ?? '']) {
    victim.cookies.clear();
    victim.cookies.set('fieldledger_session', planted);
    await victim.signIn(EMAIL, PASSWORD);
    const given = victim.cookies.get('fieldledger_session');
    t.not(given, planted);
    t.match(given, /^[\w-]+\.[\w-]{43}$/);
    t.equal((await victim.visit('/portal')).statusCode, 200);
  }
  const thief = portal.visitor();
  thief.cookies.set('fieldledger_session', 'A'.repeat(43));
  t.equal((await thief.visit('/portal')).statusCode, 303, 'what was planted opens nothing');
});

onSqlite('a changed password ends the other sessions', async (t, portal) => {
  const [here, there] = [await portal.signedIn(), await portal.signedIn()];
  await here.visit('/portal/account');
  const fields = typedTwice(NEW_PASSWORD);
  const wrong = await here.refused('/portal/account/password', { ...fields, present: 'not my password' });
  t.match(wrong, /Your current password is wrong/);
  t.equal((await there.visit('/portal')).statusCode, 200);
  const changed = await here.act('/portal/account/password', { ...fields, present: PASSWORD });
  t.match(changed, /Your password is changed/);
  t.equal((await there.visit('/portal')).statusCode, 303, 'the other session has ended');
  await t.rejects(portal.signedIn(), /422/, 'the old password is wrong now');
  await portal.signedIn({ email: EMAIL, password: NEW_PASSWORD });
});

onSqlite('nobody ends sessions by one that was stolen', async (t, portal) => {
  const [owner, thief] = [await portal.signedIn(), await portal.signedIn()];
  portal.setNow(later(11));
  await thief.visit('/portal/account');
  const [end = ''] = /\/portal\/account\/sessions\/[\w-]+\/end/.exec(thief.shown) ?? [];
  for (const action of [end, '/portal/account/sign-out-everywhere']) {
    await thief.visit('/portal/account');
    await thief.submit(action);
    for (const proof of ['', 'a guess']) {
      t.match(await thief.refused(action, { proof }), /Your password Your password or code is wrong/);
    }
  }
  t.equal((await owner.visit('/portal')).statusCode, 200);
  await owner.visit('/portal/audit?action=administrator.sign_in_failed');
  t.equal(owner.text.split('of somebody who was signed in').length, 5, 'the owner sees the four guesses');
  await thief.submit('/portal/account/sign-out-everywhere', { proof: 'the fifth guess' });
  const { statusCode } = await thief.submit('/portal/account/sign-out-everywhere', { proof: PASSWORD });
  t.equal(statusCode, 429, 'five guesses are enough');
});

onSqlite('a session ends when it is not used for half an hour', async (t, portal) => {
  const visitor = await portal.signedIn();
  portal.setNow(later(29));
  t.equal((await visitor.visit('/portal')).statusCode, 200, 'and is prolonged by being used');
  portal.setNow(later(58));
  t.equal((await visitor.visit('/portal')).statusCode, 200);
  portal.setNow(later(88));
  const { headers } = await visitor.visit('/portal/keys');
  t.equal(headers.location, '/portal/sign-in?next=%2Fportal%2Fkeys&over=yes');
  t.match(await visitor.read(headers.location ?? ''), /Your session has ended: it wasn’t used for a while/);
});

onSqlite('a session ends after twelve hours, however much it is used', async (t, portal) => {
  const visitor = await portal.signedIn();
  for (let minutes = 20; minutes < 720; minutes += 20) {
    portal.setNow(later(minutes));
    if ((await visitor.visit('/portal')).statusCode !== 200) t.fail(`It ended after ${minutes} minutes.`);
  }
  portal.setNow(later(720));
  t.equal((await visitor.visit('/portal')).statusCode, 303);
});

onSqlite('an administrator sees where they are signed in, and ends one session or all', async (t, portal) => {
  const [here, there, elsewhere] = [
    await portal.signedIn(),
    await portal.signedIn(),
    await portal.signedIn(),
  ];
  const { visitor: colleague } = await portal.join();
  await here.visit('/portal/account');
  const [action = ''] = /\/portal\/account\/sessions\/[\w-]+\/end/.exec(here.shown) ?? [];
  t.match(await here.act(action), /The session has ended/);
  const opens = async (visitor: Visitor) => (await visitor.visit('/portal')).statusCode === 200;
  t.strictSame([await opens(there), await opens(elsewhere)].sort(), [false, true]);
  t.equal(await here.force(action), 404, 'it is there no longer');
  await here.visit('/portal/account');
  const everywhere = '/portal/account/sign-out-everywhere';
  t.match(await here.act(everywhere, { present: PASSWORD }), /You have signed out/);
  t.strictSame([await opens(there), await opens(elsewhere)], [false, false]);
  t.ok(await opens(colleague));
});

/** The example company is Brennan Heating & Electrical; its administrator and the invited person have this name. */
const OWNER = 'Siobhán Ní Dhómhnaill';
const WEAK = ['password1234', 'BrennanHeating1', 'Dhomhnaill2026!'];

/** The problem that is told at a field; undefined when there is none. */
function problemAt({ shown }: Visitor, field: string): string | undefined {
  const described = new RegExp(`<input\\s+id="${field}"[^>]*aria-invalid="true"`).test(shown);
  const [, problem] = new RegExp(`id="${field}-problem"[^>]*>([^<]*)<`).exec(shown) ?? [];
  return described && problem !== undefined ? textOf(problem) : undefined;
}

onSqlite('a weak password is refused at its field wherever one is set', async (t, portal) => {
  const invitation = await inviteAs(portal.engine, 'niamh@brennan.example');
  const reset = await inviteToReset(portal.engine, { company: COMPANY, email: EMAIL, now: STORY_NOW });
  await portal.engine.run(`UPDATE administrators SET name = '${OWNER}'`);
  const owner = await portal.signedIn();
  const places: Record<string, (password: string, again?: string) => Promise<Visitor>> = {
    invitation: (password, again) => useLink(invitation.token, password, again, OWNER),
    reset: (password, again) => useLink(reset.token, password, again),
    async account(password, again = password) {
      await owner.visit('/portal/account');
      const fields = { present: PASSWORD, password, 'password-again': again };
      await owner.submit('/portal/account/password', fields);
      return owner;
    },
  };
  async function useLink(code: string, password: string, again = password, name = 'Nora'): Promise<Visitor> {
    const visitor = portal.visitor();
    await visitor.useLink(code, password, { name, 'password-again': again });
    return visitor;
  }
  for (const [place, setPassword] of Object.entries(places)) {
    for (const password of WEAK)
      t.match(
        problemAt(await setPassword(password), 'password'),
        /too easy to guess/,
        `${place}: ${password}`,
      );
    t.match(problemAt(await setPassword('short'), 'password'), /12 to 200 characters/, place);
    const typo = await setPassword('granite lanterns drift north', 'granite lanterns drift');
    t.match(problemAt(typo, 'password-again'), /don’t match/, place);
    t.equal(problemAt(typo, 'password'), undefined);
  }
  await portal.signedIn({ email: EMAIL, password: PASSWORD });
  const nameless = portal.visitor();
  t.equal(await nameless.useLink(invitation.token, NEW_PASSWORD, { name: ' ' }), 422);
  t.match(problemAt(nameless, 'name'), /^Enter the name\.$/);
  const whole = `${portal.url}/portal/invitation#${invitation.token}`;
  const accepted = await useLink(whole, NEW_PASSWORD);
  t.equal((await accepted.visit('/portal')).statusCode, 200, 'and a strong one is taken, by the whole link');
});
