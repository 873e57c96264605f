import t from 'tap';

import { invite, inviteToReset } from '../../src/access/invitations.ts';
import { STORY_NOW } from '../_server.ts';
import { COMPANY, EMAIL, PASSWORD, startPortal, textOf, type Visitor } from './_portal.ts';

/** The example company is Brennan Heating & Electrical; the invited person is Niamh Kelly. */
const WEAK = [
  'password1234',
  '123456789012',
  'qwertyuiop12',
  'iloveyou12345',
  'BrennanHeating1',
  'kellyniamh2026',
];

/** What is said at a field; undefined when nothing is wrong with it. */
function problemAt({ shown }: Visitor, field: string): string | undefined {
  const described = new RegExp(`<input\\s+id="${field}"[^>]*aria-invalid="true"`).test(shown);
  const [, problem] = new RegExp(`id="${field}-problem"[^>]*>([^<]*)<`).exec(shown) ?? [];
  return described && problem !== undefined ? textOf(problem) : undefined;
}

t.test('a weak password is refused at its field wherever one is set, and nothing is changed', async (t) => {
  const portal = await startPortal(t);
  const of = { company: COMPANY, now: STORY_NOW };
  const invited = { email: 'niamh@brennan.example', scopes: ['jobs:read'], mayInvite: false };
  const invitation = await invite(portal.engine, { ...of, ...invited, by: 'operator' });
  const reset = await inviteToReset(portal.engine, { ...of, email: EMAIL });
  const owner = await portal.signedIn();
  const places: Record<string, (password: string, again?: string) => Promise<Visitor>> = {
    invitation: (password, again) => useLink(invitation.token, password, again),
    reset: (password, again) => useLink(reset.token, password, again),
    async account(password, again = password) {
      await owner.visit('/portal/account');
      const fields = { present: PASSWORD, password, 'password-again': again };
      await owner.submit('/portal/account/password', fields);
      return owner;
    },
  };
  async function useLink(code: string, password: string, again = password): Promise<Visitor> {
    const visitor = portal.visitor();
    await visitor.visit('/portal/invitation');
    await visitor.submit('/portal/invitation', { code });
    const fields = { name: 'Niamh Kelly', password, 'password-again': again };
    await visitor.submit('/portal/invitation/accept', fields);
    return visitor;
  }
  for (const [place, setPassword] of Object.entries(places)) {
    const known = place === 'invitation' ? WEAK : WEAK.slice(0, -1);
    for (const password of known)
      t.match(
        problemAt(await setPassword(password), 'password'),
        /too easy to guess/,
        `${place}: ${password}`,
      );
    t.match(problemAt(await setPassword('short'), 'password'), /12 to 200 characters/, place);
    const typo = await setPassword('granite lanterns drift north', 'granite lanterns drift');
    t.match(problemAt(typo, 'password-again'), /differ/, place);
    t.equal(problemAt(typo, 'password'), undefined);
  }
  await portal.signedIn({ email: EMAIL, password: PASSWORD });
  const accepted = await useLink(invitation.token, 'granite lanterns drift north');
  t.equal((await accepted.visit('/portal')).statusCode, 200, 'and a strong one is taken');
});
