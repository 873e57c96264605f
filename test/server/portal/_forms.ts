import { proposeSecondFactor } from '../../../src/server/features/sign-in/second-factor.ts';
import { type Route, routes } from '../../../src/server/portal/routes.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { listSessionRows } from '../../../src/server/store/accounts/session-rows.ts';
import { ping } from '../../../src/server/features/webhooks/deliveries/deliveries.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  inviteAs,
  makeKey,
  NEW_PASSWORD,
  PASSWORD,
  type TestPortal,
  typedTwice,
} from './_portal.ts';
import { addWebhook } from '../features/webhooks/_registered.ts';
import { totpAt } from '../../_totp.ts';

export const actions = routes.filter(({ method }) => method === 'post');

export interface Form {
  params?: Record<string, string>;
  fields?: Record<string, string>;
}

/** The parameters and fields of each form, so that only the authority is wrong. A new form is listed here. */
export async function formsOf({ engine, administrator }: TestPortal): Promise<Record<string, Form>> {
  const key = await makeKey(engine);
  const { token, invitation } = await inviteAs(engine, 'one@brennan.example');
  const webhook = await addWebhook(engine);
  const paused = await addWebhook(engine);
  const of = { company: COMPANY, webhook: webhook.id };
  const replacing = await addWebhook(engine, { url: 'https://hooks.example.com/replaced' });
  const replaced = await addWebhook(engine, { url: 'https://hooks.example.com/replaced' });
  await engine.run(`UPDATE webhooks SET replaces = '${replaced.id}' WHERE id = '${replacing.id}'`);
  await engine.run(
    `INSERT INTO webhook_hours VALUES ('${COMPANY}', '${replacing.id}', '2026-11-20T10', 1, 0, '2026-11-20T10:00', '')`,
  );
  const delivery = await ping(engine, of, { now: STORY_NOW });
  await engine.run("UPDATE deliveries SET state = 'failed'");
  await engine.run(`UPDATE webhooks SET paused_at = created_at WHERE id = '${paused.id}'`);
  const at = STORY_NOW.toISOString();
  await engine.run(
    `INSERT INTO hand_overs (company, id, created_at, due_at, state) VALUES ('${COMPANY}', 'inv_1', '${at}', '${at}', 'failed')`,
  );
  const other = await addAdministrator(engine, COLLEAGUE);
  await engine.run(
    `UPDATE administrators SET second_factor = 'x', second_factor_step = 0, recovery_codes = '[]' WHERE id = '${other.id}'`,
  );
  const [session] = await listSessionRows(engine, administrator);
  const id = (value = '') => ({ params: { id: value } });
  const password = typedTwice(NEW_PASSWORD);
  const { secret, sealed } = proposeSecondFactor(PORTAL_SETTINGS.secrets, administrator, { issuer: 'Test' });
  const code = totpAt(secret, STORY_NOW.getTime() / 1000);
  return {
    '/sign-in': { fields: { email: EMAIL, password: PASSWORD } },
    '/invitation': { fields: { code: token } },
    '/invitation/accept': { fields: { code: token, name: 'Niamh', ...password } },
    '/companies': { fields: { company: COMPANY } },
    '/forgotten': { fields: { email: EMAIL } },
    '/notices/stop/:code': { params: { code: `${COMPANY}.some-id.some-code` } },
    '/sign-out': {},
    '/keys/new': { fields: { name: 'Export', scopes: 'jobs:read' } },
    '/keys/:id/change': { ...id(key.id), fields: { name: 'Ledger', 'last-day': '2026-12-31' } },
    '/keys/:id/revoke': id(key.id),
    '/webhooks': { fields: { url: 'https://hooks.example.com/new', events: 'job.created' } },
    '/webhooks/:id/ping': id(webhook.id),
    '/webhooks/:id/change': { ...id(webhook.id), fields: { description: 'Stock', events: 'job.created' } },
    '/webhooks/:id/secret': id(webhook.id),
    '/webhooks/:id/secret/end': id(replacing.id),
    '/webhooks/:id/pause': id(webhook.id),
    '/webhooks/:id/resume': id(paused.id),
    '/webhooks/:id/delete': id(webhook.id),
    '/webhooks/:id/recover': { ...id(webhook.id), fields: { from: '2026-11-20T11:00', count: '1' } },
    '/webhooks/:id/deliveries/:delivery/send-again': {
      params: { id: webhook.id, delivery },
      fields: { seen: '0' },
    },
    '/documents/:id/hand-over': id('inv_1'),
    '/hand-overs/again': {},
    '/people/invite': { fields: { email: 'two@brennan.example', scopes: 'jobs:read' } },
    '/people/invitations/:id/withdraw': id(invitation.id),
    '/people/:id/access': { ...id(other.id), fields: { scopes: 'jobs:read' } },
    '/people/:id/second-factor': id(other.id),
    '/people/:id/remove': id(other.id),
    '/people/second-factor': { fields: { required: 'no' } },
    '/account/notices': {},
    '/account/password': { fields: { present: PASSWORD, ...password } },
    '/account/second-factor': { fields: { sealed, code } },
    '/account/second-factor/codes': {},
    '/account/second-factor/remove': {},
    '/account/sessions/:id/end': id(session?.id),
    '/account/sign-out-everywhere': {},
  };
}

/** Everything that an action could have changed. */
export async function everything(engine: Engine): Promise<string> {
  const tables =
    'api_keys webhooks deliveries portal_links administrators audit_entries notices hand_overs'.split(' ');
  const rows = await Promise.all(
    tables.map((table) => engine.run(`SELECT * FROM ${table} ORDER BY 1, 2, 3`)),
  );
  const sessions = await engine.run('SELECT id FROM portal_sessions ORDER BY id');
  return JSON.stringify([...rows, sessions], null, 1);
}

export const pathOf = ({ path }: Route, params: Record<string, string> = {}) =>
  `/portal${path.replaceAll(/:(\w+)/g, (_all, name: string) => params[name] ?? '')}`;
