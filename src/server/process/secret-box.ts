import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

import { quote, UsageError } from '../../errors.ts';

const KEY_BYTES = 32;

/** The owner of a secret: a webhook or an administrator. A secret sealed for one owner can't be opened for another. */
export interface SecretOwner {
  company: string;
  id: string;
}

/** Encrypts and decrypts the secrets in the database: those that sign webhooks, and second factors. */
export interface SecretBox {
  /**
   * Returns a secret encrypted, as text to store.
   * @throws UsageError naming the setting when there is no key to seal with.
   */
  seal(secret: string, owner: SecretOwner): string;
  /** Returns the secret in a stored text. @throws UsageError naming the setting when its key isn't configured. */
  open(stored: string, owner: SecretOwner): string;
  /** Fingerprints of the box's keys, as they appear in sealed texts. */
  fingerprints: readonly string[];
}

/**
 * Returns a secret box with the given keys.
 * @param key 32 bytes in base64; without it nothing can be sealed.
 * @param previousKeys keys for opening secrets that were sealed before the key was replaced.
 */
export function createSecretBox(
  key: string | undefined,
  ...previousKeys: readonly (string | undefined)[]
): SecretBox {
  const current = key === undefined ? undefined : sealingKeyOf(key);
  const keys = [key, ...previousKeys].flatMap((text) => (text === undefined ? [] : sealingKeyOf(text)));
  return {
    fingerprints: keys.map(({ fingerprint }) => fingerprint),
    seal(secret, owner) {
      if (!current) throw new UsageError(WITHOUT_KEY);
      return `sealed1.${current.fingerprint}.${seal(secret, current.key, contextOf(owner))}`;
    },
    open(stored, owner) {
      const [, fingerprint, sealed] = SEALED.exec(stored) ?? [];
      const fitting = keys.find((candidate) => candidate.fingerprint === fingerprint);
      const secret = fitting && sealed ? openSealed(sealed, fitting.key, contextOf(owner)) : undefined;
      if (secret === undefined) throw new UsageError(unopened(owner, fingerprint, fitting));
      return secret;
    },
  };
}

const WITHOUT_KEY =
  'Signing secrets of webhooks and second factors are kept encrypted, and there is no key for that: the operator sets WEBHOOK_SECRET_KEY, the same for every server and worker, to what `openssl rand -base64 32` prints.';

interface SealingKey {
  /** Text that identifies the key without revealing it: keys are random, so the hash can't be reversed. */
  fingerprint: string;
  key: KeyObject;
}

/** Matches a sealed text: version, key fingerprint, and nonce, tag and ciphertext together. */
const SEALED = /^sealed1\.([0-9a-f]{8})\.([\w-]+)$/;

function sealingKeyOf(text: string): SealingKey {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES) throw new UsageError(`A key for secrets must have ${KEY_BYTES} bytes.`);
  return { fingerprint: hash('sha256', bytes, 'hex').slice(0, 8), key: createSecretKey(bytes) };
}

/** Returns the text that binds a secret to its owner. No id has a line break, so owners' texts never coincide. */
function contextOf({ company, id }: SecretOwner): string {
  return `${company}\n${id}`;
}

function unopened(
  owner: SecretOwner,
  fingerprint: string | undefined,
  fitting: SealingKey | undefined,
): string {
  const whose = `The secret of ${quote(owner.id)} of the company ${quote(owner.company)} can't be opened`;
  if (fingerprint === undefined || fitting) return `${whose}: what is stored was damaged or is another's.`;
  return `${whose}: it was sealed with another WEBHOOK_SECRET_KEY, the one with the fingerprint ${fingerprint}; set that as WEBHOOK_SECRET_KEY or as WEBHOOK_SECRET_KEY_PREVIOUS.`;
}

/** Bytes of the random nonce, which is safe for 2^32 texts under one key (NIST SP 800-38D section 8.2.2). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Returns a text encrypted with AES-256-GCM.
 * @param context the owner of the text; it can be opened only with the same context.
 * @returns nonce, tag and ciphertext together, in base64url.
 */
export function seal(text: string, key: KeyObject, context = ''): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Returns the text encrypted by `seal`; undefined if the key or context differs, or the sealed text was changed. */
export function openSealed(text: string, key: KeyObject, context = ''): string | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), options);
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  } catch {
    // The authentication tag doesn't match.
    return undefined;
  }
}
