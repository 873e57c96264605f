import t from 'tap';

import type { Administrator } from '../../../../src/server/store/accounts/administrator-rows.ts';
import { openWorkplace } from '../../../_command.ts';
import { Visitor } from '../../portal/_portal.ts';
import { totpAt } from '../../../_totp.ts';

const EMAIL = 'aoife@acme.example';
const PASSWORD = 'copper kettles whistle softly';

/** Uses a link as its owner does. */
async function use(link: string, password: string): Promise<Visitor> {
  const visitor = new Visitor(new URL(link).origin);
  await visitor.useLink(link, password, { name: 'Aoife' });
  return visitor;
}

t.test('an operator invites, lists, resets and disables administrators', async (t) => {
  await using workplace = await openWorkplace();
  const { json, call } = workplace;
  await json('company create acme --api --invoicing');
  const { greeting } = await workplace.serveHere();
  const env = { BASE_URL: greeting.address };
  const told = async (line: string) => (await call(line, env)).stdout;
  t.equal(await told('admin list acme'), 'No administrators.\n');

  const invited = await call(`admin create acme ${EMAIL} --scopes 'jobs:read, forms:read' --invite`, env);
  t.match(invited, {
    stdout: /^http:\/\/127\.0\.0\.1:\d+\/portal\/invitation#[\w-]+\.[\w-]{43}\n$/,
    stderr: `Send this link to ${EMAIL}: it works once, and won't be shown again.\n`,
  });
  t.strictSame(await json('admin list acme'), [], 'who is invited is no administrator yet');

  const visitor = await use(invited.stdout.trim(), PASSWORD);
  t.equal((await visitor.visit('/portal')).statusCode, 200);
  const [administrator] = await json<Administrator[]>('admin list acme');
  const scopes = ['jobs:read', 'forms:read'];
  t.match(administrator, { name: 'Aoife', email: EMAIL, scopes, mayInvite: true });
  t.notMatch(JSON.stringify(administrator), /scrypt|password/);

  const reset = await told(`admin reset acme ${EMAIL}`);
  t.equal((await visitor.visit('/portal')).statusCode, 200, 'a link changes nothing before it is used');
  const next = 'granite lanterns drift north';
  const again = await use(reset.trim(), next);
  t.equal((await again.visit('/portal')).statusCode, 200);
  t.equal((await visitor.visit('/portal')).statusCode, 303, 'setting a password ends every session');

  t.equal(await told(`admin sign-out acme ${EMAIL}`), '1 session has ended.\n');
  t.equal((await again.visit('/portal')).statusCode, 303);
  const none = { company: 'acme', email: EMAIL, count: 0 };
  t.strictSame(await json(`admin sign-out acme ${EMAIL}`), none);
  await again.visit('/portal/sign-in');
  t.equal((await again.submit('/portal/sign-in', { email: EMAIL, password: next })).statusCode, 303);

  await again.visit('/portal/account/second-factor');
  const [, secret = ''] = /secret=([A-Z2-7]{32})/.exec(again.shown) ?? [];
  const code = totpAt(secret);
  await again.submitAndFollow('/portal/account/second-factor', { code });
  t.match(await told('admin list acme'), /SECOND FACTOR[^]* yes +yes /);
  const removal = `admin remove-second-factor acme ${EMAIL}`;
  t.equal(await told(removal), `${EMAIL} no longer has a second factor, and is signed out everywhere.\n`);
  t.match(await call(removal), { exitCode: 1, stderr: /has no second factor/ });
  t.equal((await again.visit('/portal')).statusCode, 303, 'it ends every session');
  await again.visit('/portal/sign-in');
  t.equal((await again.submit('/portal/sign-in', { email: EMAIL, password: next })).statusCode, 303);

  const makeKey = async (of: Visitor, name: string) => {
    await of.visit('/portal/keys/new');
    await of.submitAndFollow('/portal/keys/new', { name, scopes: 'jobs:read' });
  };
  for (const name of ['Kept', 'Another']) await makeKey(again, name);
  t.match(
    await told(`admin disable acme ${EMAIL.toUpperCase()}`),
    /^aoife@acme.example no longer has access\.\nA key they made still works: \w+ \(Kept\)\.\nA key .* \(Another\)\.\n$/,
  );
  t.equal((await again.visit('/portal')).statusCode, 303);
  t.match(await told('admin list acme'), /\naoife@acme.example {2}Aoife {2}disabled 2.*Z/);
  const back = await told(`admin create acme ${EMAIL} --scopes all`);
  const returned = await use(back.trim(), PASSWORD);
  t.equal((await returned.visit('/portal')).statusCode, 200, 'who was disabled can be invited again');
  t.match(await json('admin list acme'), [{ disabledAt: /Z$/ }, { mayInvite: false }]);
  await makeKey(returned, 'Last');
  const gone = await json(`admin disable acme ${EMAIL} --revoke-keys`);
  t.match(gone, { email: EMAIL, revoked: [{ name: 'Last' }], left: [] });
});

t.test('a link is at BASE_URL, or where a server of these settings listens', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json('company create acme --api --invoicing');
  const links: [environment: Record<string, string>, origin: string][] = [
    [{}, 'http://127.0.0.1:8080'],
    [{ HOST: '::1', PORT: '3000' }, 'http://[::1]:3000'],
    [{ BASE_URL: 'https://api.example.com' }, 'https://api.example.com'],
  ];
  for (const [environment, origin] of links) {
    const { stdout, stderr } = await workplace.call(`admin create acme ${EMAIL} --scopes all`, environment);
    t.ok(stdout.startsWith(`${origin}/portal/invitation#`), stdout);
    const isTold = stderr.includes(`BASE_URL isn't set, so the link leads to ${origin}, where this server`);
    t.equal(isTold, !('BASE_URL' in environment), 'and it is said why');
  }
});
