import { invite } from '../../../src/server/access/invitations.ts';
import { STORY_NOW } from '../../_server.ts';
import { COMPANY, onSqlite } from './_portal.ts';

/** The fields that the page says are wrong, by the ids of their problems. */
const wrongFields = (page: string) =>
  [...page.matchAll(/aria-describedby="[^"]*?([\w-]+)-problem"/g)].map(([, field]) => field);

onSqlite('a form that is refused says at each field what is wrong with it', async (t, portal) => {
  const visitor = await portal.signedIn();
  const forms: [page: string, action: string, fields: string[]][] = [
    ['/portal/keys/new', '/portal/keys/new', ['name', 'scopes']],
    ['/portal/webhooks/new', '/portal/webhooks', ['url', 'events']],
    ['/portal/people', '/portal/people/invite', ['email', 'scopes']],
  ];
  for (const [page, action, fields] of forms) {
    await visitor.visit(page);
    t.equal((await visitor.submit(action)).statusCode, 422, action);
    t.strictSame(wrongFields(visitor.shown), fields, action);
  }
  const given = { company: COMPANY, email: 'new@brennan.example', scopes: ['jobs:read'], mayInvite: false };
  const { token } = await invite(portal.engine, { ...given, by: 'operator', now: STORY_NOW });
  const guest = portal.visitor();
  await guest.visit('/portal/invitation');
  await guest.submit('/portal/invitation', { code: token });
  const typed = { name: '', password: 'one thing and another', 'password-again': 'one thing' };
  t.equal((await guest.submit('/portal/invitation/accept', typed)).statusCode, 422);
  t.strictSame(wrongFields(guest.shown), ['name', 'password-again']);
});

onSqlite('somebody whose session is over is told so, and nobody else', async (t, portal) => {
  const visitor = await portal.signedIn();
  portal.setNow(new Date(STORY_NOW.getTime() + 31 * 60_000));
  const { headers } = await visitor.visit('/portal/keys');
  t.equal(headers.location, '/portal/sign-in?next=%2Fportal%2Fkeys&over=yes');
  t.match(await visitor.read(headers.location ?? ''), /Your session has ended: it wasn’t used for a while/);
  t.equal(
    (await portal.visitor().visit('/portal/keys')).headers.location,
    '/portal/sign-in?next=%2Fportal%2Fkeys',
  );
});
