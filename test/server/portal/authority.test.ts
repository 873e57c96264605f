import type { Visit } from '../../../src/server/views/visit.ts';
import {
  AuthorityEndedError,
  ProofNeededError,
} from '../../../src/server/store/accounts/authorised-transaction.ts';
import { listSessionRows } from '../../../src/server/store/accounts/session-rows.ts';
import { getCompany } from '../../../src/server/store/records/companies.ts';
import { until } from '../../_command.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import { connectTo } from '../../_socket.ts';
import { actions, everything, formsOf, pathOf } from './_forms.ts';
import {
  COMPANY,
  EMAIL,
  hiddenFields,
  onSqlite,
  servicesOf,
  type TestPortal,
  type Visitor,
} from './_portal.ts';

/** The statuses of actions that aren't refused as others are: what ends a session, and what has the same answer for everybody. */
const refusals = new Map([
  ...actions.flatMap(({ path, endsSession }) => (endsSession ? [[path, '303'] as const] : [])),
  ['/forgotten', '200'],
]);

/** Sends a form with its last byte held back until `meanwhile` has happened. @returns the status of the answer. */
async function sendSlowly(
  portal: TestPortal,
  visitor: Visitor,
  form: { path: string; body: string },
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  using connection = await connectTo(Number(new URL(portal.url).port));
  const head = [
    `POST ${form.path} HTTP/1.1`,
    `Host: ${new URL(portal.url).host}`,
    `Cookie: ${visitor.cookie}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${form.body.length}`,
    // The server says that it has the headers.
    'Expect: 100-continue',
    'Connection: close',
  ];
  connection.send(`${head.join('\r\n')}\r\n\r\n${form.body.slice(0, -1)}`);
  await until(() => connection.received().includes('100 Continue'));
  await meanwhile();
  connection.send(form.body.slice(-1));
  const answer = await connection.closed;
  return /HTTP\/1\.1 (?!100)(\d+)/.exec(answer)?.[1] ?? answer;
}

/** How an authority ends, and how it is put back for the next form. */
const endings = {
  'its administrator was removed': {
    end: [
      `UPDATE administrators SET disabled_at = '2026-11-20' WHERE email = '${EMAIL}'`,
      "UPDATE portal_links SET expires_at = '2026-11-20'",
    ],
    undo: [
      `UPDATE administrators SET disabled_at = NULL WHERE email = '${EMAIL}'`,
      "UPDATE portal_links SET expires_at = '2026-11-30'",
    ],
  },
  'its session was ended': {
    end: [
      `DELETE FROM portal_sessions WHERE administrator IN (SELECT id FROM administrators WHERE email = '${EMAIL}')`,
    ],
    undo: [],
  },
};

/** Those of guests, and one of those whose session is looked at before the form is there. */
const slow = actions.filter(({ path, access }) => access === 'guests' || path === '/keys/new');

onSqlite(
  `a form whose last byte comes when ${Object.keys(endings).join(', or ')}, does nothing`,
  { portal: { ...PORTAL_SETTINGS, isMailing: true } },
  async (t, portal) => {
    const { engine } = portal;
    const forms = await formsOf(portal);
    for (const [ending, { end, undo }] of Object.entries(endings)) {
      for (const route of slow) {
        const isGuest = route.access === 'guests';
        // A session is no part of what a guest may do.
        if (isGuest && ending.includes('session')) continue;
        const form = forms[route.path];
        const visitor = isGuest ? portal.visitor() : await portal.signedIn();
        await visitor.visit(isGuest ? '/portal/sign-in' : '/portal/account');
        const hidden = hiddenFields(visitor.shown, isGuest ? '/portal/sign-in' : '/portal/sign-out');
        const body = new URLSearchParams({ ...hidden, ...form?.fields }).toString();
        let before = '';
        const status = await sendSlowly(
          portal,
          visitor,
          { path: pathOf(route, form?.params), body },
          async () => {
            for (const statement of end) await engine.run(statement);
            before = await everything(engine);
          },
        );
        t.equal(status, refusals.get(route.path) ?? (isGuest ? '422' : '403'), `${route.path}, ${ending}`);
        t.equal(await everything(engine), before, `${route.path} changes nothing`);
        for (const statement of undo) await engine.run(statement);
      }
    }
  },
);

onSqlite('every action looks at session and administrator again when it is done', async (t, portal) => {
  const { engine } = portal;
  const forms = await formsOf(portal);
  for (const route of actions) t.ok(forms[route.path], `${route.path} is listed in this test`);
  const services = servicesOf(portal);
  for (const [ending, { end, undo }] of Object.entries(endings)) {
    await portal.signedIn();
    const visit = await visitOf(portal);
    for (const statement of end) await engine.run(statement);
    const before = await everything(engine);
    for (const route of actions) {
      if (route.access === 'guests') continue;
      const { params = {}, fields = {} } = forms[route.path] ?? {};
      const stale = { ...visit, params, form: new URLSearchParams(fields) };
      const outcome = await Promise.resolve(route.page(stale, services)).catch((error: unknown) => error);
      // Whoever was removed has no password that could be the present one.
      const isRefused = outcome instanceof AuthorityEndedError || route.path === '/account/password';
      t.ok(isRefused, `${route.path}, ${ending}`);
    }
    t.equal(await everything(engine), before, 'and nothing was done');
    for (const statement of undo) await engine.run(statement);
  }
});

/** They change neither access nor what is sent where, end this session alone, or bring the password themselves. */
const NEEDS_NO_PROOF = [
  '/sign-out',
  '/webhooks/:id/ping',
  '/webhooks/:id/recover',
  '/webhooks/:id/deliveries/:delivery/send-again',
  '/documents/:id/hand-over',
  '/hand-overs/again',
  '/account/password',
];

onSqlite('every other action needs a proof of the last ten minutes', async (t, portal) => {
  const { engine } = portal;
  const forms = await formsOf(portal);
  const services = servicesOf(portal);
  await portal.signedIn();
  const visit = await visitOf(portal);
  const before = await everything(engine);
  for (const [seconds, isStale] of [
    [601, true],
    [600, false],
  ] as const) {
    const provedAt = new Date(STORY_NOW.getTime() - seconds * 1000).toISOString();
    await engine.run(`UPDATE portal_sessions SET proved_at = '${provedAt}'`);
    for (const route of actions) {
      if (route.access === 'guests' || NEEDS_NO_PROOF.includes(route.path)) continue;
      const { params = {}, fields = {} } = forms[route.path] ?? {};
      const act = { ...visit.act, by: { ...visit.act.by, form: route.path } };
      const asked = { ...visit, act, params, form: new URLSearchParams(fields) };
      const outcome = await Promise.resolve(route.page(asked, services)).catch((error: unknown) => error);
      t.equal(outcome instanceof ProofNeededError, isStale, `${route.path} after ${seconds} s`);
    }
    if (isStale) t.equal(await everything(engine), before, 'and nothing was done');
  }
});

/** The visit that a page is given when somebody asks who was found to be signed in. */
async function visitOf({ engine, administrator }: TestPortal): Promise<Visit> {
  const [session] = await listSessionRows(engine, administrator);
  if (!session) throw new Error('They have no session.');
  const origin = { address: '192.0.2.1', client: 'Test' };
  return {
    path: '/portal',
    params: {},
    query: new URLSearchParams(),
    form: new URLSearchParams(),
    tokens: [],
    formToken: '',
    browser: undefined,
    requestId: '',
    ...origin,
    now: STORY_NOW,
    supportUrl: undefined,
    onAccount: () => undefined,
    afterwards: () => undefined,
    administrator,
    session: { ...session, token: '' },
    act: {
      company: COMPANY,
      by: { administrator: administrator.id, session: session.id, ...origin, form: 'a-form' },
      now: STORY_NOW,
    },
    company: await getCompany(engine, COMPANY),
  };
}
