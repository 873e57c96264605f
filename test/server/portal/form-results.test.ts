import t from 'tap';

import { listKeys } from '../../../src/server/features/keys/keys.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { RESULTS_OF_SESSION_MAX } from '../../../src/server/store/accounts/sent-forms.ts';
import { engineNames, KEY_PREFIX, openTestDatabase, startTestServer } from '../../_server.ts';
import {
  addAdministrator,
  addCompany,
  COMPANY,
  EMAIL,
  hiddenFields,
  inviteAs,
  NEW_PASSWORD,
  onSqlite,
  PASSWORD,
  typedTwice,
  Visitor,
} from './_portal.ts';
import { addWebhook } from '../features/webhooks/_registered.ts';

const KEY = new RegExp(`${KEY_PREFIX}\\.${COMPANY}\\.[0-9a-f]{12}\\.[\\w-]{43}`);
const FIELDS = { name: 'Ledger export', scopes: 'jobs:read' };

for (const name of engineNames) {
  t.test(`${name}: of one form that two processes get at once one makes a key`, async (t) => {
    await using database = await openTestDatabase(name);
    await addCompany(database.engine);
    await addAdministrator(database.engine, { email: EMAIL, password: PASSWORD });
    await using engine = await openEngine(database.url);
    await using one = await startTestServer({ engine: database.engine });
    await using other = await startTestServer({ engine });
    const visitor = new Visitor(one.url);
    await visitor.signIn(EMAIL, PASSWORD);
    for (let round = 1; round <= 5; round += 1) {
      await visitor.visit('/portal/keys/new');
      const fields = { ...hiddenFields(visitor.shown, '/portal/keys/new'), ...FIELDS };
      const answers = await Promise.all(
        [one, other, one, other].map(({ url }) => visitor.copy(url).send('/portal/keys/new', fields)),
      );
      const places = answers.map(({ statusCode, headers }) => `${statusCode} ${headers.location}`);
      t.match(places[0], /^303 \/portal\/keys\?done=/);
      t.equal(new Set(places).size, 1, `round ${round}: all are led to the same page`);
      t.equal((await listKeys(engine, COMPANY)).length, round);
      t.match((await visitor.visit(answers[1]?.headers.location ?? '')).body, KEY);
    }
  });
}

onSqlite('two submissions of one form make one key, and lead to it', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/keys/new');
  const fields = { ...hiddenFields(visitor.shown, '/portal/keys/new'), ...FIELDS };
  const tab = visitor.copy();
  const first = await visitor.send('/portal/keys/new', fields);
  const second = await tab.send('/portal/keys/new', fields);
  t.match(first.headers.location, /^\/portal\/keys\?done=[\w-]{22}$/);
  t.strictSame([second.statusCode, second.headers.location], [303, first.headers.location]);
  t.equal((await listKeys(portal.engine, COMPANY)).length, 1);
  t.match((await tab.visit(second.headers.location ?? '')).body, KEY, 'the secret is shown there');
  t.notMatch((await visitor.visit(first.headers.location ?? '')).body, KEY, 'once');
  const third = await visitor.send('/portal/keys/new', fields);
  t.equal(third.headers.location, first.headers.location, 'also when it was seen');
  t.notMatch((await visitor.visit(third.headers.location ?? '')).body, KEY);
  await visitor.visit('/portal/keys/new');
  await visitor.submit('/portal/keys/new', FIELDS);
  t.equal((await listKeys(portal.engine, COMPANY)).length, 2, 'loaded anew, it is another form');
});

onSqlite('a secret waits for the page that its form led to', async (t, portal) => {
  const visitor = await portal.signedIn();
  const create = async (tab: Visitor) => {
    await tab.visit('/portal/keys/new');
    return (await tab.submit('/portal/keys/new', FIELDS)).headers.location ?? '';
  };
  const [one, two] = [await create(visitor.copy()), await create(visitor.copy())];
  for (const page of ['/portal', '/portal/keys', '/portal/people', '/portal/keys?done=another'])
    t.notMatch((await visitor.visit(page)).body, KEY, page);
  const stranger = await portal.signedIn();
  t.notMatch((await stranger.visit(one)).body, KEY, 'another browser doesn’t see it');
  const seen = [one, two].map(async (page) => KEY.exec((await visitor.copy().visit(page)).body)?.[0]);
  t.equal(new Set(await Promise.all(seen)).size, 2, 'two tabs make two keys, and each shows its own');
  const kept = await portal.engine.run('SELECT notice FROM form_results WHERE notice IS NOT NULL');
  t.strictSame(kept, [], 'and then nothing of them is kept');
});

onSqlite('what is kept of a session’s forms is bounded, and ends with it', async (t, portal) => {
  const { id } = await addWebhook(portal.engine);
  const visitor = await portal.signedIn();
  await portal.engine.run(
    `INSERT INTO form_results (company, session, form, done_at)
        SELECT s.company, s.id, 'form-' || n.number, '2026-11-19T00:00:00.000Z' FROM portal_sessions s
        CROSS JOIN (WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < ${RESULTS_OF_SESSION_MAX})
          SELECT number FROM n) n WHERE s.client = 'got (https://github.com/sindresorhus/got)'`,
  );
  const count = async () => (await portal.engine.run('SELECT form FROM form_results')).length;
  t.equal(await count(), RESULTS_OF_SESSION_MAX);
  await visitor.visit(`/portal/webhooks/${id}`);
  t.match(await visitor.act(`/portal/webhooks/${id}/pause`), /The webhook is paused/);
  t.equal(await count(), RESULTS_OF_SESSION_MAX);
  await visitor.submit('/portal/sign-out');
  t.equal(await count(), 0);
});

/** The forms that end a session, and the page of each. */
const LEAVING = { '/portal/sign-out': '/portal', '/portal/account/sign-out-everywhere': '/portal/account' };

onSqlite('signing out by two clicks leads to the sign-in page', async (t, portal) => {
  for (const [action, page] of Object.entries(LEAVING)) {
    const visitor = await portal.signedIn();
    await visitor.visit(page);
    const hidden = { ...hiddenFields(visitor.shown, action), present: PASSWORD };
    const clicks = Array.from({ length: 4 }, () => visitor.copy());
    const late = visitor.copy();
    const answers = await Promise.all(clicks.map((click) => click.send(action, hidden)));
    answers.push(await late.send(action, hidden), await (clicks[0] ?? late).send(action, hidden));
    for (const { statusCode, headers } of answers)
      t.strictSame([statusCode, headers.location], [303, '/portal/sign-in?left'], action);
  }
});

onSqlite('a form of another site, which comes without the session, signs nobody out', async (t, portal) => {
  const visitor = await portal.signedIn();
  for (const action of Object.keys(LEAVING)) {
    const from = { 'sec-fetch-site': 'cross-site' };
    t.equal((await portal.visitor().send(action, {}, from)).statusCode, 403, action);
    // Browsers that are too old to tell where a form comes from.
    const { headers } = await portal.visitor().send(action, {});
    const cookies = (headers['set-cookie'] ?? []).filter((cookie) => /^fieldledger_session/.test(cookie));
    t.strictSame(cookies, []);
    t.notOk('clear-site-data' in headers);
  }
  t.equal((await visitor.visit('/portal')).statusCode, 200);
});

onSqlite('a form whose first sending was broken off says that it did its work', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/keys/new');
  const fields = { ...hiddenFields(visitor.shown, '/portal/keys/new'), ...FIELDS };
  await visitor.send('/portal/keys/new', fields);
  await portal.engine.run('UPDATE form_results SET leads_to = NULL');
  t.equal((await visitor.send('/portal/keys/new', fields)).statusCode, 409);
  t.match(visitor.text, /You already sent this form It was carried out once/);
  t.equal((await listKeys(portal.engine, COMPANY)).length, 1);
});

onSqlite('a form that comes several times at once is never refused', async (t, portal) => {
  const visitor = await portal.signedIn();
  const { id } = await addWebhook(portal.engine);
  const password = { present: PASSWORD, ...typedTwice(NEW_PASSWORD) };
  const forms: [page: string, action: string, fields: Record<string, string>][] = [
    ['/portal/account', '/portal/account/password', password],
    [`/portal/webhooks/${id}`, `/portal/webhooks/${id}/delete`, {}],
    ['/portal/people', '/portal/people/invite', { email: 'x@brennan.example', scopes: 'jobs:read' }],
  ];
  for (const [page, action, fields] of forms) {
    await visitor.visit(page);
    const tabs = Array.from({ length: 4 }, () => visitor.copy());
    const hidden = hiddenFields(visitor.shown, action);
    const answers = await Promise.all(tabs.map((tab) => tab.send(action, { ...hidden, ...fields })));
    const places = answers.map(({ statusCode, headers }) => `${statusCode} ${headers.location}`);
    t.strictSame(new Set(places).size, 1, `${action}: ${places.join(', ')}`);
    t.match(places[0], /^303 .*\?done=/);
  }
});

onSqlite('a form that was refused can be sent again', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/keys/new');
  const hidden = hiddenFields(visitor.shown, '/portal/keys/new');
  await portal.engine.run(`UPDATE administrators SET scopes = '["forms:read"]'`);
  t.equal((await visitor.send('/portal/keys/new', { ...hidden, ...FIELDS })).statusCode, 422);
  await portal.engine.run(`UPDATE administrators SET scopes = '["jobs:read"]'`);
  t.equal((await visitor.send('/portal/keys/new', { ...hidden, ...FIELDS })).statusCode, 303);
  t.equal((await listKeys(portal.engine, COMPANY)).length, 1);
});

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
  const { token } = await inviteAs(portal.engine, 'new@brennan.example');
  const guest = portal.visitor();
  const typed = { name: '', 'password-again': 'one thing' };
  t.equal(await guest.useLink(token, 'one thing and another', typed), 422);
  t.strictSame(wrongFields(guest.shown), ['name', 'password-again']);
});
