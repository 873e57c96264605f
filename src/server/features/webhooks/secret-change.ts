import { UsageError } from '../../../errors.ts';
import { type Act, authorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import { type Connection, dialectOf } from '../../store/dialects/dialect.ts';
import type { Engine } from '../../store/engines/engine.ts';
import type { SecretBox } from '../../process/secret-box.ts';
import { deleteIn, getWebhookToChange, registerIn } from './registration.ts';
import { listWebhookRows, type Webhook } from './stored-webhooks.ts';
import { readWebhookHealth } from './webhook-health.ts';

/**
 * Finds the webhooks with the old and the new secret, of which a webhook is one; undefined while its secret isn't replaced.
 * `hasDelivered` is whether the new one has delivered something, a ping included.
 */
export async function findSecretChange(db: Connection, { company, id }: Pick<Webhook, 'company' | 'id'>) {
  const all = await listWebhookRows({ db }, company);
  const added = all.find((webhook) => webhook.replaces === id || (webhook.id === id && webhook.replaces));
  const old = added && all.find((webhook) => webhook.id === added.replaces);
  if (!old) return undefined;
  const ever = { from: new Date(0), until: new Date('9999-01-01') };
  const health = await readWebhookHealth({ db, dialect: dialectOf(db) }, company, [added.id], [ever]);
  return { old, added, hasDelivered: (health.get(added.id)?.lastDeliveredAt ?? null) !== null };
}

/**
 * Registers a webhook like another one but with a new secret, so that both get every event until `endReplaced`.
 * @throws UsageError when the secret is being replaced already, and what `createWebhook` and `getWebhookToChange` throw.
 */
export async function replaceSecret(engine: Engine, box: SecretBox, { id, ...act }: Act & { id: string }) {
  return authorisedTransaction(engine, act, async (authorised) => {
    const { url, description, events } = await getWebhookToChange(authorised, id);
    if (await findSecretChange(authorised.transaction, { company: act.company, id }))
      throw new UsageError('This webhook’s secret is already being replaced. Finish that first.');
    return registerIn(authorised, box, { url, description, events, replaces: id });
  });
}

/**
 * Deletes the webhook whose secret was replaced.
 * @param options.id the new webhook.
 * @throws UsageError when it replaces none, or has delivered nothing yet; also what `getWebhookToChange` throws.
 */
export async function endReplaced(engine: Engine, { id, ...act }: Act & { id: string }): Promise<void> {
  await authorisedTransaction(engine, act, async (authorised) => {
    await getWebhookToChange(authorised, id);
    const found = await findSecretChange(authorised.transaction, { company: act.company, id });
    if (found?.added.id !== id) throw new UsageError('This webhook doesn’t replace another.');
    if (!found.hasDelivered)
      throw new UsageError('The new webhook has no successful delivery yet. Send it a test first.');
    await deleteIn(authorised, await getWebhookToChange(authorised, found.old.id));
  });
}
