import { generateSync } from 'otplib';
import t from 'tap';

import type { Administrator } from '../../../src/server/store/accounts/administrator-rows.ts';
import { openWorkplace } from '../../_command.ts';
import { engineNames } from '../../_server.ts';
import { Visitor } from '../portal/_portal.ts';

const EMAIL = 'aoife@acme.example';
const PASSWORD = 'copper kettles whistle softly';

/** Uses a link as its owner does. */
async function use(link: string, fields: Record<string, string>): Promise<Visitor> {
  const visitor = new Visitor(new URL(link).origin);
  await visitor.visit('/portal/invitation');
  await visitor.submit('/portal/invitation', { code: link });
  await visitor.submit('/portal/invitation/accept', fields);
  return visitor;
}

for (const engine of engineNames) {
  t.test(`${engine}: an operator invites, lists, resets and disables administrators`, async (t) => {
    await using workplace = await openWorkplace(engine);
    const { json, run } = workplace;
    await json(['company', 'create', 'acme', '--api', '--invoicing']);
    const served = await workplace.serve();
    const env = { BASE_URL: served.greeting.address };
    t.equal((await run(['admin', 'list', 'acme'])).stdout, 'There are no administrators.\n');

    const invited = await run(['admin', 'create', 'acme', EMAIL, '--scopes', 'jobs:read, forms:read'], env);
    t.match(
      invited.stdout,
      /^http:\/\/127\.0\.0\.1:\d+\/portal\/invitation#[\w-]+\.[\w-]{43}\n$/,
      'the link alone',
    );
    t.equal(invited.stderr, `Send this link to ${EMAIL}; it works once and is shown only now.\n`);
    t.strictSame(await json(['admin', 'list', 'acme']), [], 'who is invited is no administrator yet');

    const password = { password: PASSWORD, 'password-again': PASSWORD };
    const visitor = await use(invited.stdout.trim(), { name: 'Aoife', ...password });
    t.equal((await visitor.visit('/portal')).statusCode, 200);
    const [administrator] = await json<Administrator[]>(['admin', 'list', 'acme']);
    t.match(administrator, {
      name: 'Aoife',
      email: EMAIL,
      scopes: ['jobs:read', 'forms:read'],
      mayInvite: true,
    });
    t.notMatch(JSON.stringify(administrator), /scrypt|password/);

    const reset = await run(['admin', 'reset', 'acme', EMAIL], env);
    t.equal((await visitor.visit('/portal')).statusCode, 200, 'a link changes nothing before it is used');
    const next = 'granite lanterns drift north';
    const again = await use(reset.stdout.trim(), { password: next, 'password-again': next });
    t.equal((await again.visit('/portal')).statusCode, 200);
    t.equal((await visitor.visit('/portal')).statusCode, 303, 'setting a password ends every session');

    t.equal((await run(['admin', 'sign-out', 'acme', EMAIL])).stdout, '1 session has ended.\n');
    t.equal((await again.visit('/portal')).statusCode, 303);
    t.strictSame(await json(['admin', 'sign-out', 'acme', EMAIL]), {
      company: 'acme',
      email: EMAIL,
      count: 0,
    });
    await again.visit('/portal/sign-in');
    t.equal((await again.submit('/portal/sign-in', { email: EMAIL, password: next })).statusCode, 303);

    await again.visit('/portal/account/second-factor');
    const [, secret = ''] = /<code>([A-Z2-7 ]+)</.exec(again.shown) ?? [];
    const code = generateSync({ secret: secret.replaceAll(' ', '') });
    await again.submitAndFollow('/portal/account/second-factor', { code });
    t.match((await run(['admin', 'list', 'acme'])).stdout, /SECOND FACTOR[^]* yes +yes /);
    const removal = ['admin', 'remove-second-factor', 'acme', EMAIL];
    t.equal((await run(removal)).stdout, `${EMAIL} has no second factor any more.\n`);
    t.match(await workplace.call(removal), { exitCode: 1, stderr: /There is no second factor/ });

    for (const name of ['Kept', 'Another']) {
      await again.visit('/portal/keys/new');
      await again.submitAndFollow('/portal/keys/new', { name, scopes: 'jobs:read' });
    }
    t.match(
      (await run(['admin', 'disable', 'acme', EMAIL.toUpperCase()])).stdout,
      /^aoife@acme.example no longer has access\.\nA key that they made keeps working: \w+ \(Kept\)\.\nA key .* \(Another\)\.\n$/,
    );
    t.equal((await again.visit('/portal')).statusCode, 303);
    t.match((await run(['admin', 'list', 'acme'])).stdout, /\naoife@acme.example {2}Aoife {2}disabled 2.*Z/);
    const back = await run(['admin', 'create', 'acme', EMAIL, '--no-invite'], env);
    const returned = await use(back.stdout.trim(), { name: 'Aoife', ...password });
    t.equal((await returned.visit('/portal')).statusCode, 200, 'who was disabled can be invited again');
    await returned.visit('/portal/people');
    t.match(returned.text, /You can’t invite anybody/);
    await returned.visit('/portal/keys/new');
    await returned.submitAndFollow('/portal/keys/new', { name: 'Last', scopes: 'jobs:read' });
    const gone = await json<{ revoked: unknown; left: unknown }>([
      ...['admin', 'disable', 'acme', EMAIL],
      '--revoke-keys',
    ]);
    t.match(gone, { email: EMAIL, revoked: [{ name: 'Last' }], left: [] });
  });
}

t.test('a link is at BASE_URL, or where a server of these settings listens', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['company', 'create', 'acme', '--api', '--invoicing']);
  const links: [environment: Record<string, string>, start: string][] = [
    [{}, 'http://127.0.0.1:8080/portal/invitation#'],
    [{ HOST: '::1', PORT: '3000' }, 'http://[::1]:3000/portal/invitation#'],
    [{ BASE_URL: 'https://api.example.com' }, 'https://api.example.com/portal/invitation#'],
  ];
  for (const [environment, start] of links) {
    const { stdout, stderr } = await workplace.call(['admin', 'create', 'acme', EMAIL], environment);
    t.ok(stdout.startsWith(start), stdout);
    const origin = start.slice(0, start.indexOf('/portal'));
    const isTold = stderr.includes(`BASE_URL isn't set, so the link leads to ${origin}, where a server with`);
    t.equal(isTold, !('BASE_URL' in environment), 'and it is said why');
  }
});
