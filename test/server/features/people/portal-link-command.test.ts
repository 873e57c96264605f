import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import got from 'got';
import t from 'tap';

import type { Administrator } from '../../../../src/server/store/accounts/administrator-rows.ts';
import { openWorkplace } from '../../../_command.ts';
import { Visitor } from '../../portal/_portal.ts';

t.test('a link is made by command and over HTTP, and an operator changes access', async (t) => {
  await using workplace = await openWorkplace();
  const { json, call, folder } = workplace;
  await json('company create acme');
  const create = 'feed-token create --companies all --changes all --name';
  const made = await json<{ token: string }>(`${create} erp --portal-links 'jobs:read, quotes:read'`);
  t.match(made, { portalScopes: ['jobs:read', 'quotes:read'], portalMayInvite: false });
  t.match(await json(`${create} crm`), { portalScopes: [], portalMayInvite: false });
  t.match(
    (await call('feed-token list')).stdout,
    /\n\S+ +erp .* all +all +jobs:read, quotes:read\n.* none\n$/s,
  );
  for (const [wrong, stderr] of [
    ['--portal-links jobs:write', /"jobs:write" is not a scope/],
    ['--portal-links ,', /Choose at least one scope/],
    ['--portal-invites', /needs the scopes of these links/],
  ] as const)
    t.match(await call(`${create} x ${wrong}`), { exitCode: 1, stderr });

  const file = join(folder, 'token');
  writeFileSync(file, `${made.token}\n`);
  const link = `portal-link acme jane@acme.example --name Jane --token-file ${file} --scopes`;
  const served = await workplace.serve([], { FEED_PORT: '0', PORTAL_SIGN_IN: 'links' });
  const { address, feed = '' } = served.greeting;
  const linked = await call(`${link} jobs:read`, { BASE_URL: address });
  t.match(linked, { exitCode: 0, stdout: /^http:\S+\/portal\/invitation#acme\.[\w-]{43}\n$/, stderr: '' });
  const follow = async (code: string) => {
    const visitor = new Visitor(address);
    await visitor.openLink(code);
    return (await visitor.visit('/portal')).statusCode;
  };
  t.equal(await follow(linked.stdout.trim()), 200);
  const asked = { company: 'acme', email: 'jane@acme.example', name: 'Jane', scopes: ['quotes:read'] };
  const headers = { authorization: `Bearer ${made.token}` };
  const { link: given } = await got
    .post(`${feed}/feed/v1/portal-links`, { json: asked, headers })
    .json<{ link: string }>();
  t.ok(given.startsWith(`${address}/portal/invitation#acme.`), given);
  t.equal(await follow(given), 200);
  t.notMatch(served.output.stderr, given.split('#')[1]);
  t.match(await call(`${link} jobs:read --invite`), {
    exitCode: 1,
    stdout: /^$/,
    stderr: /Portal links of this feed token may give jobs:read, quotes:read\./,
  });

  for (const line of [
    'admin create acme joe@acme.example --scopes all',
    'admin reset acme jane@acme.example',
  ])
    t.match(await call(line, { PORTAL_SIGN_IN: 'links' }), {
      exitCode: 1,
      stderr: /PORTAL_SIGN_IN is links\. There are no passwords/,
    });
  const set = 'admin set acme Jane@acme.example';
  t.equal((await call(`${set} --scopes jobs:read,people:read --invite`)).exitCode, 0);
  await call('admin disable acme jane@acme.example');
  t.equal(
    (await call(`${set} --no-invite`)).stdout,
    'jane@acme.example: jobs:read, people:read\n',
    'who was removed is let in again, with the access of before',
  );
  const administrators = await json<Administrator[]>('admin list acme');
  const seen = administrators.map(({ disabledAt, mayInvite }) => ({ disabledAt, mayInvite }));
  t.strictSame(seen, [{ disabledAt: null, mayInvite: false }]);
  const nobody = await call('admin set acme joe@acme.example');
  t.match(nobody, { exitCode: 1, stderr: /has no administrator/ });
});
