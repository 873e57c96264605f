import type { Engine } from '../src/server/store/engines/engine.ts';
import { STORY_NOW } from './_server.ts';

/**
 * Gives a company with a webhook a row in each table that a demo leaves empty. The secrets are `hashed-password` and
 * `sha-of-token`.
 */
export async function fillOtherTables(engine: Engine, company: string): Promise<void> {
  const [webhook] = await engine.run('SELECT id FROM webhooks');
  const at = STORY_NOW.toISOString();
  for (const statement of [
    `INSERT INTO events VALUES ('evt_1', '${company}', 'ping', '${at}', '{"a":"é\\u0000"}')`,
    `INSERT INTO deliveries (company, webhook, id, event, state, due_at)
      VALUES ('${company}', '${String(webhook?.id)}', 'dlv_1', 'evt_1', 'retrying', '${at}')`,
    `INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, total_ms)
      VALUES ('${company}', '${String(webhook?.id)}', 'dlv_1', 1, '${at}', 500, 12)`,
    `INSERT INTO webhook_hours
      VALUES ('${company}', '${String(webhook?.id)}', '${at.slice(0, 13)}', 0, 1, '', '${at} 500 dlv_1')`,
    `INSERT INTO administrators (id, company, email, name, password, scopes, may_invite, created_at)
      VALUES ('adm_1', '${company}', 'aoife@brennan.example', 'Aoife', 'hashed-password', '[]', 1, '${at}')`,
    `INSERT INTO portal_sessions VALUES ('sha-of-token', 'ses_1', 'adm_1', 'Firefox', '${at}', '${at}', '${at}', 1, '${company}', '${at}')`,
    `INSERT INTO form_results (company, session, form, done_at) VALUES ('${company}', 'ses_1', 'form', '${at}')`,
    `INSERT INTO notices (company, id, administrator, kind, details, created_at, due_at, stop_sha256)
      VALUES ('${company}', 'ntc_1', 'adm_1', 'key.created', '{}', '${at}', '${at}', 'sha-of-token')`,
    `INSERT INTO hand_overs (company, id, created_at, due_at) VALUES ('${company}', 'inv_1', '${at}', '${at}')`,
    `INSERT INTO logos (company, sha256, data_url) VALUES ('${company}', 'sha', 'data:image/png;base64,')`,
    `INSERT INTO feed_positions VALUES ('${company}', 'erp', 7, 'chg_1', '${at}')`,
    `INSERT INTO feed_tokens VALUES ('tok_1', 'erp', 'sha-of-token', 0, NULL, '${at}', NULL, NULL, '[]', 0)`,
    `INSERT INTO feed_token_companies VALUES ('${company}', 'tok_1')`,
    `INSERT INTO number_series VALUES ('${company}', 'INV-{YEAR}-', 7)`,
  ])
    await engine.run(statement);
}
