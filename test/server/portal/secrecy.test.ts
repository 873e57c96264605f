import t from 'tap';

import { openWorkplace, until } from '../../_command.ts';
import {
  addAdministrator,
  COLLEAGUE,
  EMAIL,
  hiddenFields,
  onSqlite,
  PASSWORD,
  textOf,
  Visitor,
} from './_portal.ts';

const SCRIPT = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;

t.test(
  'no password, token, link or cookie is in the log, nor what stands in an address or a form',
  async (t) => {
    await using workplace = await openWorkplace();
    await workplace.json(['company', 'create', 'acme', '--api', '--invoicing']);
    const served = await workplace.serve([], { LOG_LEVEL: 'trace' });
    const { link } = await workplace.json<{ link: string }>(
      `admin create acme ${EMAIL} --scopes all --invite`,
    );
    const code = link.slice(link.indexOf('#') + 1);
    const visitor = new Visitor(served.greeting.address);
    await visitor.openLink(code);
    const tokens = [hiddenFields(visitor.shown, '/portal/invitation/accept')['form-token'] ?? ''];
    const passwords = { password: PASSWORD, 'password-again': PASSWORD };
    await visitor.submit('/portal/invitation/accept', { name: 'Aoife Brennan', ...passwords });
    await visitor.visit('/portal/people');
    tokens.push(hiddenFields(visitor.shown, '/portal/people/invite')['form-token'] ?? '');
    await visitor.submitAndFollow('/portal/people/invite', {
      email: 'conor@acme.example',
      scopes: 'jobs:read',
    });
    const invited = /\/portal\/invitation#([\w-]+\.[\w-]{43})/.exec(visitor.shown)?.[1] ?? '';
    await visitor.visit('/portal/people?password=in-the-address');
    await visitor.visit('/portal/in-the-path');
    await visitor.visit('/portal/account');
    const session = visitor.cookies.get('fieldledger_session') ?? '';
    await visitor.submit('/portal/sign-out');
    await visitor.signIn('typed@acme.example', 'mistyped password');
    await until(() => served.logs().filter(({ path }) => path === '/portal/sign-in').length >= 2);
    await visitor.submit('/portal/sign-in', { email: EMAIL, password: 'mistyped password' });
    await until(() => served.logs().filter(({ path }) => path === '/portal/sign-in').length >= 3);
    t.match(
      served.logs().filter(({ path, method }) => path === '/portal/sign-in' && method === 'POST'),
      [
        { status: 422, company: undefined, administrator: undefined },
        { status: 422, company: 'acme', administrator: /^adm_/ },
      ],
      'a failed sign-in is logged with the account, if there is one',
    );
    const log = served.output.stderr;
    const guest = visitor.cookies.get('fieldledger_guest') ?? '';
    const secrets = [code, invited, session, guest, PASSWORD, ...tokens];
    const typed = 'in-the-address in-the-path typed@acme.example mistyped conor@acme.example Aoife'.split(
      ' ',
    );
    for (const secret of [...secrets, ...typed, EMAIL]) t.notOk(log.includes(secret), secret);
    const lines = served.logs().filter(({ path }) => path === '/portal/people/invite');
    t.match(lines, [
      { msg: 'request.answered', method: 'POST', status: 303, company: 'acme', administrator: /^adm_/ },
    ]);
  },
);

onSqlite('script in every free text is shown as text', async (t, portal) => {
  const visitor = await portal.signedIn();
  const noScript = (body: string, where: string) => {
    t.notMatch(body, /<script>|<img/, where);
    t.match(textOf(body), /<script>alert\(1\)/, `${where} shows what was typed`);
  };
  await visitor.visit('/portal/people');
  await visitor.submit('/portal/people/invite', { email: SCRIPT, scopes: 'jobs:read' });
  t.notMatch(visitor.shown, /<script>|<img/, 'an invitation that is refused');
  t.ok(visitor.shown.includes('value="&quot;&gt;&lt;script&gt;'), 'and filled in again');
  await visitor.submit('/portal/people/invite', { email: 'a@b.example', scopes: SCRIPT });
  noScript(visitor.shown, 'a scope that is refused');

  await addAdministrator(portal.engine, { ...COLLEAGUE, name: SCRIPT });
  await visitor.visit('/portal/people');
  noScript(visitor.shown, 'the name of an administrator');
  await visitor.visit('/portal/audit');
  noScript(visitor.shown, 'the name in the audit trail');
  const browser = portal.visitor();
  await browser.signIn(COLLEAGUE.email, COLLEAGUE.password, { 'user-agent': SCRIPT });
  await browser.visit('/portal/account');
  noScript(browser.shown, 'the name of the browser');

  const guest = portal.visitor();
  await guest.visit('/portal/sign-in');
  await guest.submit('/portal/sign-in', { email: SCRIPT, password: 'x', next: SCRIPT });
  t.notMatch(guest.shown, /<script>|<img/, 'the sign-in page');
  await guest.visit(`/portal/sign-in?next=${encodeURIComponent(SCRIPT)}`);
  t.notMatch(guest.shown, /<script>|<img/, 'the address of the sign-in page');
  await portal.engine.run(
    "UPDATE companies SET name = '<script>alert(1)</script>', time_zone = 'Europe/Dublin'",
  );
  await visitor.visit('/portal');
  noScript(visitor.shown, 'the name of the company');
  await visitor.visit(
    `/portal/audit?action=${encodeURIComponent(SCRIPT)}&who=${encodeURIComponent(SCRIPT)}&before=%22%3E`,
  );
  t.notMatch(visitor.shown, /<script>|<img/, 'the filters of the audit trail');
});

onSqlite('a fault shows a request id, and its cause is in the log alone', async (t, portal) => {
  const visitor = await portal.signedIn();
  await portal.engine.run('ALTER TABLE audit_entries RENAME TO gone');
  const { statusCode, body, headers } = await visitor.visit('/portal/audit');
  t.equal(statusCode, 500);
  t.match(textOf(body), /Something went wrong This is our fault/);
  t.ok(body.includes(String(headers['x-request-id'])));
  t.notMatch(body, /audit_entries|SQLITE|at .*\.ts/);
  await portal.engine.run('ALTER TABLE gone RENAME TO audit_entries');
  t.equal((await visitor.visit('/portal/audit')).statusCode, 200);
});

onSqlite(
  'a link that is shown once is shown to one of several tabs, and to no HEAD request',
  async (t, portal) => {
    const visitor = await portal.signedIn();
    await visitor.visit('/portal/people');
    const invited = { email: 'conor@brennan.example', scopes: 'jobs:read' };
    const { location = '' } = (await visitor.submit('/portal/people/invite', invited)).headers;
    const { cookie } = visitor;
    const head = await portal.http.head(location.slice(1), { headers: { cookie } });
    t.equal(head.statusCode, 200);
    const tabs = [visitor.copy(), visitor.copy(), visitor.copy()];
    const pages = await Promise.all(tabs.map((tab) => tab.visit(location)));
    t.equal(pages.filter(({ body }) => /invitation#[\w-]+\.[\w-]{43}/.test(body)).length, 1);
  },
);
