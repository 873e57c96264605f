import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

import type { Config } from '../config.ts';
import { UsageError } from '../errors.ts';
import type { Engine } from '../store/engines/engine.ts';
import { listSeals, listStoredSecrets, replaceStoredSecret } from '../store/deliveries/webhooks.ts';
import { createSecretBox, isPlain, type SecretBox } from './secrets.ts';

type Settings = Pick<Config, 'databaseUrl' | 'webhookSecretKey' | 'webhookSecretKeyPrevious'>;

/**
 * The box of a database's signing secrets, with `WEBHOOK_SECRET_KEY` as its key. Where that isn't set, a file beside the
 * SQLite database holds a key; it is made when it is first needed. Secrets that are stored unsealed are sealed now.
 * @throws UsageError when the key of a webhook that can still be called is missing, or when there is none to seal with.
 */
export async function openSecretBox(engine: Engine, settings: Settings): Promise<SecretBox> {
  const box = await takeSecretBox(engine, settings);
  await refuseMissingKeys(engine, box, settings);
  await sealSecrets(engine, box, isPlain);
  return box;
}

/** The same without looking at the stored secrets, for the command that seals them anew. */
export async function takeSecretBox(engine: Engine, settings: Settings): Promise<SecretBox> {
  const file = keyFileOf(settings);
  if (file !== undefined && settings.webhookSecretKey === undefined && !existsSync(file)) {
    // A new key couldn't open secrets that another one sealed.
    await refuseMissingKeys(engine, createSecretBox(undefined, settings.webhookSecretKeyPrevious), settings);
    await makeKey(engine, file);
  }
  const own = file !== undefined && existsSync(file) ? readKey(file) : undefined;
  return createSecretBox(settings.webhookSecretKey ?? own, settings.webhookSecretKeyPrevious, own);
}

/** The names of the keys that stored secrets are sealed with: the setting or the file, or that it isn't here. */
export async function namesOfKeys(engine: Engine, settings: Settings): Promise<string[]> {
  const file = keyFileOf(settings);
  const keys: Record<string, string | undefined> = {
    WEBHOOK_SECRET_KEY: settings.webhookSecretKey,
    WEBHOOK_SECRET_KEY_PREVIOUS: settings.webhookSecretKeyPrevious,
    ...(file !== undefined && holdsKey(file) ? { [file]: readKey(file) } : {}),
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

/** The file beside a SQLite database that holds the key of its signing secrets where no setting does. */
export function keyFileOf({ databaseUrl }: Pick<Settings, 'databaseUrl'>): string | undefined {
  return databaseUrl.startsWith('sqlite:') ? `${databaseUrl.slice('sqlite:'.length)}-secret-key` : undefined;
}

/** Makes the file whole or not at all, and once: another process that starts now waits for the database's lock. */
async function makeKey(engine: Engine, file: string): Promise<void> {
  await engine.transaction(async () => {
    if (existsSync(file)) return;
    const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
    const handle = openSync(unfinished, 'wx', 0o600);
    writeSync(handle, `${randomBytes(32).toString('base64')}\n`);
    // A power cut must not leave sealed secrets without their key.
    fsyncSync(handle);
    closeSync(handle);
    renameSync(unfinished, file);
    const folder = openSync(dirname(file), 'r');
    fsyncSync(folder);
    closeSync(folder);
  });
}

function readKey(file: string): string {
  const text = readFileSync(file, 'utf8').trim();
  if (!isKey(text))
    throw new UsageError(`${file} must hold a key of 32 bytes in base64. Put it back from a backup.`);
  return text;
}

function isKey(text: string): boolean {
  return Buffer.from(text, 'base64').length === 32;
}

/** @throws UsageError when there is something else than a key where one is to be read or replaced. */
export function refuseOtherThanKey(file: string): void {
  if (!existsSync(file) || holdsKey(file)) return;
  throw new UsageError(`${file} isn't a key of signing secrets, so nothing is done.`);
}

function holdsKey(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size < 100 && isKey(readFileSync(file, 'utf8').trim());
}

async function refuseMissingKeys(engine: Engine, box: SecretBox, settings: Settings): Promise<void> {
  const used = await usedFingerprints(engine);
  const missing = used.filter((fingerprint) => !box.fingerprints.includes(fingerprint));
  if (missing.length === 0) return;
  const file = keyFileOf(settings);
  const other = file === undefined ? '' : `, or put ${file} back from a backup`;
  throw new UsageError(
    `Signing secrets of webhooks are encrypted with a key that is not here, the one with the fingerprint ${missing.join(' and the one with ')}. Set it as WEBHOOK_SECRET_KEY or WEBHOOK_SECRET_KEY_PREVIOUS${other}. Where it is lost, delete the webhooks and register them anew.`,
  );
}

const SECRETS_AT_ONCE = 500;

/**
 * Stores secrets anew, sealed with the key that is configured now: after a key was configured or replaced.
 * @param isMeant says which stored texts to seal: all, unless given.
 * @returns how many there are, and a sentence for each that can't be opened; those stay as they are.
 */
export async function sealSecrets(
  engine: Engine,
  box: SecretBox,
  isMeant: (stored: string) => boolean = () => true,
): Promise<{ sealedCount: number; problems: string[] }> {
  const problems: string[] = [];
  let sealedCount = 0;
  let last = { company: '', id: '' };
  for (;;) {
    const page = await listStoredSecrets(engine, last, SECRETS_AT_ONCE);
    for (const stored of page.filter(({ secret }) => isMeant(secret))) {
      const secret = openedOr(problems, () => box.open(stored.secret, stored));
      if (secret === undefined) continue;
      await replaceStoredSecret(engine, stored, box.seal(secret, stored));
      sealedCount += 1;
    }
    const end = page.at(-1);
    if (!end) return { sealedCount, problems };
    last = end;
  }
}

function openedOr(problems: string[], open: () => string): string | undefined {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.push(error.message);
    return undefined;
  }
}
