import { setTimeout as pause } from 'node:timers/promises';

import { UsageError } from '../../errors.ts';
import { keptAnswer } from '../webhooks/answer-text.ts';
import type { Sender } from '../webhooks/sender.ts';
import { canonicalWebhookUrl } from '../webhooks/webhook-urls.ts';
import { dropInto } from './folder-drop.ts';

/** A document on its way. */
export interface Handed {
  company: string;
  id: string;
  number: string;
  /** Its UBL, the same at every attempt. */
  text: string;
  /** Which attempt of it this is. */
  attempt: number;
}

/** The result of an attempt: a document that has no `problem` was taken. */
export interface Taking {
  problem?: string | undefined;
  answer?: string | undefined;
  /** The wait that the access point asks for in `Retry-After`. */
  retryAfterSeconds?: number | undefined;
}

/** The operator's access point, which sends documents on. */
export interface AccessPoint {
  /** Documents that are handed over at once. */
  atOnce: number;
  /** Makes one attempt, which takes some ten seconds at the longest. It never rejects. */
  take: (document: Handed) => Promise<Taking>;
}

export interface AccessPointSettings {
  folder?: string | undefined;
  url?: string | undefined;
  token?: string | undefined;
  serviceName: string;
}

/**
 * The access point of the settings; undefined where there is none.
 * @throws UsageError when its address isn't one that may be called; see webhook-urls.ts.
 */
export function createAccessPoint(
  { folder, url, token, serviceName }: AccessPointSettings,
  sender: Sender,
): AccessPoint | undefined {
  if (folder !== undefined) return folderOf(folder);
  return url === undefined ? undefined : serviceAt(checkedUrl(url), { token, serviceName }, sender);
}

function checkedUrl(url: string): string {
  try {
    return canonicalWebhookUrl(url);
  } catch (error) {
    throw new UsageError(`ACCESS_POINT_URL is refused. ${(error as Error).message}`);
  }
}

const SERVICE_AT_ONCE = 4;

function serviceAt(
  url: string,
  { token, serviceName }: Pick<AccessPointSettings, 'token' | 'serviceName'>,
  sender: Sender,
): AccessPoint {
  return {
    atOnce: SERVICE_AT_ONCE,
    async take({ company, id, text }) {
      const headers = {
        'Content-Type': 'application/xml',
        'User-Agent': `${serviceName}-Documents/1`,
        // A string as structured fields write it (RFC 8941 section 3.3.3), which the draft of this header asks for.
        'Idempotency-Key': `"${company}.${id}"`,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      };
      const { status, error, answerText, retryAfterSeconds } = await sender.send({
        url,
        headers,
        body: text,
      });
      if (status !== null && status >= 200 && status < 300) return {};
      const answer = answerText === undefined ? undefined : keptAnswer(answerText, token ?? '');
      return { problem: error ?? String(status), answer, retryAfterSeconds };
    },
  };
}

/** As for an attempt of a webhook. */
const DROP_MS_MAX = 10_000;

/**
 * A folder from which the access point takes files. Documents go there one at a time, and none while the folder doesn't answer,
 * as one of a network may not: each would keep one of Node's four threads for the file system.
 */
function folderOf(folder: string): AccessPoint {
  let underWay: Promise<Taking> | undefined;
  return {
    atOnce: 1,
    async take({ company, id, number, text, attempt }) {
      if (underWay) return { problem: 'timeout' };
      const name = fileNameOf([company, number, id]);
      const dropped = dropInto(folder, { name, text, attempt })
        .then((problem): Taking => ({ problem }))
        .catch((error: unknown): Taking => ({ problem: (error as NodeJS.ErrnoException).code ?? 'internal' }))
        .finally(() => (underWay = undefined));
      underWay = dropped;
      const late = new AbortController();
      const tooLate = pause(DROP_MS_MAX, { problem: 'timeout' }, { signal: late.signal, ref: false });
      const taking = await Promise.race([dropped, tooLate]);
      late.abort();
      await tooLate.catch(() => undefined);
      return taking;
    },
  };
}

const PART_CHARACTERS_MAX = 64;

/** A name that no file system, shell or program trips over. The id makes it a document's own. */
function fileNameOf(parts: readonly string[]): string {
  const plain = parts.map((part) => part.replace(/[^0-9A-Za-z]+/g, '-').slice(0, PART_CHARACTERS_MAX));
  return `${plain.join('_')}.xml`;
}
