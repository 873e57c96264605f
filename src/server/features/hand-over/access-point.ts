import { extname, join } from 'node:path';

import { Tinypool } from 'tinypool';

import { UsageError } from '../../../errors.ts';
import { TOLERATE_MISSING_PROC } from '../../process/memory-usage.ts';
import { keptAnswer } from '../../sending/answer-text.ts';
import type { Sender } from '../../sending/sender.ts';
import { canonicalWebhookUrl } from '../../sending/webhook-urls.ts';
import type { Drop } from './folder-drop.ts';

/** A document being handed over. */
export interface DocumentToHandOver {
  company: string;
  id: string;
  number: string;
  /** The document's UBL, the same at every attempt. */
  text: string;
  /** The number of this attempt, from 1. */
  attempt: number;
}

/** The result of an attempt; without a `problem`, the access point took the document. */
export interface Taking {
  problem?: string | undefined;
  answer?: string | undefined;
  /** The wait that the access point asks for in `Retry-After`. */
  retryAfterSeconds?: number | undefined;
}

/** The operator's access point, which forwards documents. */
export interface AccessPoint extends AsyncDisposable {
  /** Maximum number of documents handed over at once. */
  atOnce: number;
  /** Makes one attempt, which takes about ten seconds at most. It never rejects. */
  take: (document: DocumentToHandOver) => Promise<Taking>;
}

export interface AccessPointSettings {
  folder?: string | undefined;
  url?: string | undefined;
  token?: string | undefined;
  serviceName: string;
  /** For tests: the time limit for putting a document into a folder. */
  dropMsMax?: number;
}

/**
 * Creates the access point of the settings; undefined if they name none.
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
        // A structured-field string (RFC 8941 section 3.3.3), which the draft of this header asks for.
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
    // Webhooks use the sender too, so it isn't disposed of here.
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Time limit for a document, as for an attempt of a webhook. */
const DROP_MS_MAX = 10_000;
/** Idle time after which the process ends, because it takes about 40 MB. */
const IDLE_MS_MAX = 60_000;

/**
 * Creates an access point that takes files from a folder. A separate process puts documents there, one at a time. A folder
 * that doesn't respond, such as one on a network, blocks that process for ever, so that it has to be killed.
 */
function folderOf(folder: string, dropMsMax: number): AccessPoint {
  const processes = new Tinypool({
    filename: join(import.meta.dirname, `folder-drop${extname(import.meta.url)}`),
    name: 'dropInto',
    runtime: 'child_process',
    // The process needs no settings, and must not see any secrets.
    env: {},
    execArgv: TOLERATE_MISSING_PROC,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS_MAX,
  });
  // A process that ends while idle is no error: the next document starts another.
  processes.on('error', () => undefined);
  return {
    atOnce: 1,
    async take({ company, id, number, text, attempt }) {
      const signal = AbortSignal.timeout(dropMsMax);
      const drop: Drop = { folder, name: fileNameOf([company, number, id]), text, attempt };
      try {
        return { problem: (await processes.run(drop, { signal })) as string | undefined };
      } catch (error) {
        // An error without a code comes from tinypool: something else ended its process.
        const { code = 'interrupted' } = error as NodeJS.ErrnoException;
        return { problem: signal.aborted ? 'timeout' : code };
      }
    },
    async [Symbol.asyncDispose]() {
      // By default tinypool doesn't keep this process running until its own processes have ended.
      for (const worker of processes.threads) worker.ref?.();
      await processes.destroy();
    },
  };
}

const PART_CHARACTERS_MAX = 64;

/** Builds a name that is safe in every file system, shell and program. The id makes it unique to a document. */
function fileNameOf(parts: readonly string[]): string {
  const plain = parts.map((part) => part.replace(/[^0-9A-Za-z]+/g, '-').slice(0, PART_CHARACTERS_MAX));
  return `${plain.join('_')}.xml`;
}
