import { join } from 'node:path';

import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { openWorkplace, type Workplace } from '../../_command.ts';
import { type EngineName, STORY_NOW } from '../../_server.ts';
import { fillLargeCompany } from '../../contract/_large-company.ts';

/** The company of the demo, and an invoice of it. */
export const COMPANY = 'brennan';
const INVOICE = '01a0a486-e8e0-7076-ace5-e31611d48e0a';

/**
 * A store of two companies, where the first has rows in every table and `zenith` a great many records. The secrets are
 * `hashed-password` and `sha-of-token`. `key` is one of the first company.
 */
export async function openFullStore(name: EngineName = 'sqlite'): Promise<Workplace & { key: string }> {
  const workplace = await openWorkplace(name, { contents: 'example' });
  for (const line of [
    `webhook create ${COMPANY} https://hooks.example.com/in --events job.created`,
    `admin create ${COMPANY} jane@brennan.example --scopes all`,
    `document pdf ${INVOICE} --out ${join(workplace.folder, 'printed.pdf')}`,
    'company create zenith --api --invoicing',
  ])
    await workplace.json(line);
  const { key } = await workplace.json<{ key: string }>(`key create ${COMPANY} --scopes all`);
  await using engine = await openEngine(workplace.databaseUrl);
  await fillLargeCompany(engine, 'zenith');
  const [webhook] = await engine.run('SELECT id FROM webhooks');
  const at = STORY_NOW.toISOString();
  for (const statement of [
    `INSERT INTO key_uses VALUES ('${COMPANY}', 'k', '${at}')`,
    `INSERT INTO key_hours VALUES ('${COMPANY}', '${at}', 'k', 1, 0)`,
    `INSERT INTO key_requests VALUES ('${COMPANY}', '${at}', 'r', 'k', 'GET', '/api/v1/jobs', 200, NULL, 3)`,
    `INSERT INTO applied_changes (company, id, change, content_digest, applied_at)
      VALUES ('${COMPANY}', 'chg_1', 'job.create', 'digest', '${at}') ON CONFLICT DO NOTHING`,
    ...(name === 'postgres'
      ? [`INSERT INTO key_counts SELECT company, id, 1, 1 FROM api_keys WHERE company = '${COMPANY}'`]
      : []),
    `INSERT INTO events VALUES ('${COMPANY}', 'evt_1', 'ping', '${at}', '{"a":"é\\u0001"}', 0)`,
    `INSERT INTO deliveries (company, webhook, id, event, state, due_at)
      VALUES ('${COMPANY}', '${String(webhook?.id)}', 'dlv_1', 'evt_1', 'retrying', '${at}')`,
    `INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, total_ms)
      VALUES ('${COMPANY}', '${String(webhook?.id)}', 'dlv_1', 1, '${at}', 500, 12)`,
    `INSERT INTO webhook_hours
      VALUES ('${COMPANY}', '${String(webhook?.id)}', '${at.slice(0, 13)}', 0, 1, '', '${at} 500 dlv_1')`,
    `INSERT INTO administrators (id, company, email, name, password, scopes, may_invite, created_at)
      VALUES ('adm_1', '${COMPANY}', 'aoife@brennan.example', 'Aoife', 'hashed-password', '[]', 1, '${at}')`,
    `INSERT INTO portal_sessions VALUES ('${COMPANY}', 'sha-of-token', 'ses_1', 'adm_1', 'Firefox', '${at}', '${at}', '${at}', 1, '${at}')`,
    `INSERT INTO form_results (company, session, form, done_at) VALUES ('${COMPANY}', 'ses_1', 'form', '${at}')`,
    `INSERT INTO notices (company, id, administrator, kind, details, created_at, due_at, stop_sha256)
      VALUES ('${COMPANY}', 'ntc_1', 'adm_1', 'key.created', '{}', '${at}', '${at}', 'sha-of-token')`,
    `INSERT INTO hand_overs (company, id, created_at, due_at) VALUES ('${COMPANY}', 'inv_1', '${at}', '${at}')`,
    `INSERT INTO logos (company, sha256, data_url) VALUES ('${COMPANY}', 'sha', 'data:image/png;base64,')`,
    `INSERT INTO feed_positions VALUES ('${COMPANY}', 'erp', 7, 'chg_1', '${at}')`,
    `INSERT INTO feed_tokens VALUES ('tok_1', 'erp', 'sha-of-token', 0, NULL, '[]', 0, '${at}', NULL, NULL)`,
    `INSERT INTO feed_token_companies VALUES ('${COMPANY}', 'tok_1')`,
    `INSERT INTO number_series VALUES ('${COMPANY}', 'INV-{YEAR}-', 7)`,
  ])
    await engine.run(statement);
  return { ...workplace, key };
}
