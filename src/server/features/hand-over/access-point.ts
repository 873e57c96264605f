import { extname, join } from 'node:path';

import { Tinypool } from 'tinypool';

import { UsageError } from '../../../errors.ts';
import { TOLERATE_MISSING_PROC } from '../../process/memory-usage.ts';
import { keptAnswer } from '../../sending/answer-text.ts';
import type { Sender } from '../../sending/sender.ts';
import { canonicalWebhookUrl } from '../../sending/webhook-urls.ts';
import type { Drop } from './folder-drop.ts';

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
export interface AccessPoint extends AsyncDisposable {
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
  /** For tests: the time that a folder has for a document. */
  dropMsMax?: number;
}

/**
 * The access point of the settings; undefined where there is none.
 * @throws UsageError when its address isn't one that may be called; see webhook-urls.ts.
 */
export function createAccessPoint(
  { folder, url, token, serviceName, dropMsMax = DROP_MS_MAX }: AccessPointSettings,
  sender: Sender,
): AccessPoint | undefined {
  if (folder !== undefined) return folderOf(folder, dropMsMax);
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
    // The sender is the webhooks' too.
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** As for an attempt of a webhook. */
const DROP_MS_MAX = 10_000;
/** The process takes some 40 MB. */
const IDLE_MS_MAX = 60_000;

/**
 * A folder from which the access point takes files. Documents go there one at a time, from a process of its own: a folder that
 * doesn't answer, as one of a network may not, keeps a thread for ever, and with it a process from ending. That one is ended.
 */
function folderOf(folder: string, dropMsMax: number): AccessPoint {
  const processes = new Tinypool({
    filename: join(import.meta.dirname, `folder-drop${extname(import.meta.url)}`),
    name: 'dropInto',
    runtime: 'child_process',
    // No setting is for it, and none of the secrets.
    env: {},
    execArgv: TOLERATE_MISSING_PROC,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS_MAX,
  });
  // A process that ends while idle is no fault: the next document starts another.
  processes.on('error', () => undefined);
  return {
    atOnce: 1,
    async take({ company, id, number, text, attempt }) {
      const signal = AbortSignal.timeout(dropMsMax);
      const drop: Drop = { folder, name: fileNameOf([company, number, id]), text, attempt };
      try {
        return { problem: (await processes.run(drop, { signal })) as string | undefined };
      } catch (error) {
        // Without a code it is tinypool's, whose process was ended by somebody else.
        const { code = 'interrupted' } = error as NodeJS.ErrnoException;
        return { problem: signal.aborted ? 'timeout' : code };
      }
    },
    async [Symbol.asyncDispose]() {
      // tinypool lets this process end before it.
      for (const worker of processes.threads) worker.ref?.();
      await processes.destroy();
    },
  };
}

const PART_CHARACTERS_MAX = 64;

/** A name that no file system, shell or program trips over. The id makes it a document's own. */
function fileNameOf(parts: readonly string[]): string {
  const plain = parts.map((part) => part.replace(/[^0-9A-Za-z]+/g, '-').slice(0, PART_CHARACTERS_MAX));
  return `${plain.join('_')}.xml`;
}
