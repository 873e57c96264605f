import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import type { Config } from '../../process/config.ts';
import { UsageError } from '../../../errors.ts';
import { beginFile } from '../../../command-line/unfinished-file.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { findWebhookRow, type Webhook } from './stored-webhooks.ts';
import { listSeals, replaceStoredSecret, storedSecrets } from '../../store/stored-secrets.ts';
import { createSecretBox, type SecretBox, type SecretOwner } from '../../process/secret-box.ts';

type Settings = Pick<Config, 'databaseUrl' | 'webhookSecretKey' | 'webhookSecretKeyPrevious'>;

/** A secret box that may lack keys. Deliveries are held for webhooks whose secrets it can't open. */
export interface OpenedBox extends SecretBox {
  /** Fingerprints of keys that stored secrets are sealed with and the box lacks. */
  missing: readonly string[];
  /** A sentence for the operator about missing keys; undefined when none is missing. */
  problem: string | undefined;
}

/**
 * Opens the box of a database's signing secrets with the key `WEBHOOK_SECRET_KEY`. Without that setting, a file beside the
 * SQLite database holds the key; it is created when first needed.
 */
export async function openSecretBox(engine: Engine, settings: Settings): Promise<OpenedBox> {
  const box = await takeSecretBox(engine, settings);
  const missing = (await usedFingerprints(engine)).filter((used) => !box.fingerprints.includes(used));
  return { ...box, missing, problem: missing.length > 0 ? problemOf(missing, settings) : undefined };
}

/** Opens the box without reporting missing keys, for commands that re-seal or delete stored secrets. */
export async function takeSecretBox(engine: Engine, settings: Settings): Promise<SecretBox> {
  const file = keyFileOf(settings);
  if (file !== undefined && settings.webhookSecretKey === undefined && !existsSync(file)) {
    // A new key couldn't open secrets sealed with another key, and would get in the way when that key is found.
    const { fingerprints } = createSecretBox(undefined, settings.webhookSecretKeyPrevious);
    const used = await usedFingerprints(engine);
    if (used.every((fingerprint) => fingerprints.includes(fingerprint))) await makeKey(engine, file);
  }
  const own = file === undefined ? undefined : keyIn(file);
  const box = createSecretBox(settings.webhookSecretKey ?? own, settings.webhookSecretKeyPrevious, own);
  if (file === undefined || own !== undefined || settings.webhookSecretKey !== undefined || !existsSync(file))
    return box;
  const seal = () => {
    throw new UsageError(`${file} must hold a key of 32 bytes in base64. Put it back from a backup.`);
  };
  return { ...box, seal };
}

/** Names the keys that stored secrets are sealed with: by setting or file, or by fingerprint if the key isn't here. */
export async function namesOfKeys(engine: Engine, settings: Settings): Promise<string[]> {
  const file = keyFileOf(settings);
  const keys: Record<string, string | undefined> = {
    WEBHOOK_SECRET_KEY: settings.webhookSecretKey,
    WEBHOOK_SECRET_KEY_PREVIOUS: settings.webhookSecretKeyPrevious,
    ...(file !== undefined && { [file]: keyIn(file) }),
  };
  const used = await usedFingerprints(engine);
  return used.map((fingerprint) => {
    const found = Object.entries(keys).find(([, key]) =>
      createSecretBox(undefined, key).fingerprints.includes(fingerprint),
    );
    return found?.[0] ?? `the one with the fingerprint ${fingerprint}, which is not here`;
  });
}

async function usedFingerprints(engine: Engine): Promise<string[]> {
  return (await listSeals(engine)).map((seal) => seal.split('.')[1] ?? '');
}

/** Returns the path of the file beside a SQLite database that holds the secrets' key when no setting does. */
export function keyFileOf({ databaseUrl }: Pick<Settings, 'databaseUrl'>): string | undefined {
  return databaseUrl.startsWith('sqlite:') ? `${databaseUrl.slice('sqlite:'.length)}-secret-key` : undefined;
}

/** Creates the key file whole or not at all, and only once: other processes wait for the database's lock. */
async function makeKey(engine: Engine, file: string): Promise<void> {
  await engine.transaction(async () => {
    if (existsSync(file)) return;
    using unfinished = beginFile(file);
    writeFileSync(unfinished.path, `${randomBytes(32).toString('base64')}\n`);
    // Survives a power cut, which must not leave sealed secrets without their key.
    unfinished.replace();
  });
}

/** Refuses a file that exists but holds no key, before it is read or replaced. @throws UsageError for such a file. */
export function refuseOtherThanKey(file: string): void {
  if (!existsSync(file) || keyIn(file) !== undefined) return;
  throw new UsageError(`${file} isn't a key of signing secrets. Nothing was changed.`);
}

/** Reads the key in a file; undefined if there is no file, this user can't read it, or it holds something else. */
function keyIn(file: string): string | undefined {
  try {
    const found = statSync(file);
    if (!found.isFile() || found.size >= 100) return undefined;
    const text = readFileSync(file, 'utf8').trim();
    return Buffer.from(text, 'base64').length === 32 ? text : undefined;
  } catch {
    return undefined;
  }
}

function problemOf(missing: readonly string[], settings: Settings): string {
  const file = keyFileOf(settings);
  const other = file === undefined ? '' : `, or put ${file} back from a backup`;
  return `Signing secrets of webhooks are encrypted with a key that is not here, the one with the fingerprint ${missing.join(' and the one with ')}, and their deliveries are held. Second factors encrypted with it accept only recovery codes. Set it as WEBHOOK_SECRET_KEY or WEBHOOK_SECRET_KEY_PREVIOUS${other}, and restart. If it is lost: fieldledger webhook delete --unreadable, and fieldledger admin remove-second-factor.`;
}

/**
 * Re-seals all stored secrets with the configured key, after that key was replaced.
 * @returns the number of re-sealed secrets, and a sentence for each that can't be opened; those stay as they are.
 */
export async function sealSecrets(
  engine: Engine,
  box: SecretBox,
): Promise<{ sealedCount: number; problems: string[] }> {
  const problems: string[] = [];
  let sealedCount = 0;
  for await (const stored of storedSecrets(engine.db)) {
    const problem = whyUnreadable(box, stored);
    if (problem !== undefined) {
      problems.push(problem);
      continue;
    }
    await replaceStoredSecret(engine, stored, box.seal(box.open(stored.secret, stored), stored));
    sealedCount += 1;
  }
  return { sealedCount, problems };
}

/** Lists webhooks whose signing secrets the box can't open: the key is lost, or the stored secret is damaged. */
export async function listUnreadable(engine: Engine, box: SecretBox): Promise<Webhook[]> {
  const found: Webhook[] = [];
  for await (const stored of storedSecrets(engine.db)) {
    if (whyUnreadable(box, stored) === undefined) continue;
    // A deleted webhook still has its row, with its secret.
    const webhook = await findWebhookRow(engine.db, stored.company, stored.id);
    if (webhook) found.push(webhook);
  }
  return found;
}

/** Returns in a sentence why a box can't open a stored secret; undefined when it can. */
export function whyUnreadable(box: SecretBox, stored: SecretOwner & { secret: string }): string | undefined {
  try {
    box.open(stored.secret, stored);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}
