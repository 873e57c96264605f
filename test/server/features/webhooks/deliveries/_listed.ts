import type { Test } from 'tap';

import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import { type EngineName, STORY_NOW } from '../../../../_server.ts';
import { addHistory } from '../_history.ts';
import { COMPANY, startPortal, type Visitor } from '../../../portal/_portal.ts';
import { addWebhook } from '../_registered.ts';

/** Reads a list to its end by the links to older pages. */
export async function crawl(visitor: Visitor, path: string): Promise<string[]> {
  const ids: string[] = [];
  await visitor.visit(path);
  do ids.push(...[...visitor.shown.matchAll(/deliveries\/(dlv_[\w-]+)"/g)].map(([, id]) => id ?? ''));
  while (await visitor.turnPage());
  return ids;
}

/** Ids of deliveries that a condition holds for, the newest first. */
export async function idsWhere(engine: Engine, condition: string): Promise<string[]> {
  const rows = await engine.run(
    `SELECT d.id FROM deliveries AS d JOIN events AS e ON e.company = d.company AND e.id = d.event WHERE ${condition} ORDER BY d.id DESC`,
  );
  return rows.map(({ id }) => String(id));
}

/** A portal with a webhook whose history has several kinds and states, and another's beside it. */
export async function startHistory(t: Test, count: number, name: EngineName = 'sqlite') {
  const portal = await startPortal(t, name);
  const { engine } = portal;
  const { id, secret } = await addWebhook(engine);
  const other = await addWebhook(engine);
  const options = { company: COMPANY, until: STORY_NOW, rarelyEvery: 10, failedEvery: 7, retriedEvery: 11 };
  await addHistory(engine, { ...options, webhooks: [id, other.id], count });
  return { portal, engine, id, secret, of: `/portal/webhooks/${id}` };
}
