import { subscribableKinds } from '../../../../src/contract/events.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { createWebhook } from '../../../../src/server/features/webhooks/registration.ts';
import { createSecretBox } from '../../../../src/server/process/secret-box.ts';
import { SECRET_KEY } from '../../../_command.ts';
import { STORY_NOW } from '../../../_server.ts';
import { COMPANY } from '../../portal/_portal.ts';

/** Registers a webhook the way an operator does. @returns its id and its secret. */
export async function addWebhook(
  engine: Engine,
  options: { company?: string; url?: string; events?: readonly string[]; now?: Date } = {},
): Promise<{ id: string; secret: string }> {
  const {
    company = COMPANY,
    events = subscribableKinds,
    now = new Date(STORY_NOW.getTime() - 31 * 86_400_000),
  } = options;
  const url = options.url ?? 'https://hooks.example.com/fieldledger';
  const { secret, record } = await createWebhook(engine, createSecretBox(SECRET_KEY), {
    company,
    url,
    events,
    now,
  });
  return { id: record.id, secret };
}
