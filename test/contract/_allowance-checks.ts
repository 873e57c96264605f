import { setTimeout as pause } from 'node:timers/promises';

import { knownPath, operations } from './_contract.ts';
import { ask, type Exam } from './_exam.ts';
import type { Answer } from './_exchange.ts';
import type { Asker, ServerName } from './_parties.ts';

/** The allowance of a key, as the contract promises it (openapi.yaml, "Rate limit"). */
const PROMISED = { policy: '"default";q=120;w=60', count: 120 };
/** A window that is longer isn't waited for. */
const WINDOW_SECONDS_MAX = 60;
/** A slow machine may need another window to use one up. */
const WINDOWS_MAX = 5;

/** Where a key stands, as an answer tells it. */
interface Standing {
  status: number;
  policy: string;
  q: number;
  w: number;
  r: number;
  t: number;
}
type Take = () => Promise<Standing>;

/** Gives the means to use up one request of a key, by another operation each time; all of them count together. */
function taker(exam: Exam, server: ServerName, asker: Asker): Take {
  let count = 0;
  const ids = operations.map(({ operationId }) => operationId).filter((id) => id !== 'getInvoicePdf');
  return async () => {
    const operationId = ids[count++ % ids.length] ?? '';
    return standingOf(exam, await ask(exam, { operationId, target: knownPath(operationId), server, asker }));
  };
}

function standingOf({ note }: Exam, { status, headers }: Answer): Standing {
  const policy = String(headers['ratelimit-policy']);
  const [, name, q, w] = /^("\w+");q=(\d+);w=(\d+)$/.exec(policy) ?? [];
  const [, named, r, t] = /^("\w+");r=(\d+);t=(\d+)$/.exec(String(headers['ratelimit'])) ?? [];
  const wait = headers['retry-after'];
  if (name !== named) note(`RateLimit tells of ${named}, RateLimit-Policy of ${name}`);
  if (Number(t) > Number(w)) note(`t is ${t} in a window of ${w} seconds`);
  if (Number(r) >= Number(q)) note(`r is ${r} in a window of ${q} requests`);
  if (status === 429) {
    if (Number(wait) > Number(w)) note(`Retry-After is ${wait} in a window of ${w} seconds`);
    if (wait !== t) note(`Retry-After is ${wait}, t=${t}`);
    if (r !== '0') note(`r is ${r} on a 429`);
  }
  return { status, policy, q: Number(q), w: Number(w), r: Number(r), t: Number(t) };
}

/** Uses up an allowance, waits for the next one, and looks at what each answer tells. */
export async function countdown(exam: Exam): Promise<void> {
  const { note } = exam;
  const take = taker(exam, 'short window', 'spender of short windows');
  const first = await take();
  if (first.w > WINDOW_SECONDS_MAX) note(`the window has ${first.w} seconds`);
  const last = await useUp(exam, take, first);
  if (last.status !== 429) {
    note(`more requests are answered than ${first.policy} allows`);
    return;
  }
  const colleague = await taker(exam, 'short window', 'colleague of spenders')();
  if (colleague.status !== 200) note(`another key of the company is answered ${colleague.status}`);
  await pause(last.t * 1000);
  const fresh = await take();
  if (fresh.status !== 200) {
    note(`${fresh.status} after the wait that Retry-After names`);
    return;
  }
  if (fresh.r !== fresh.q - 1) note(`r is ${fresh.r} at the start of a window of ${fresh.q} requests`);
  if (fresh.t !== fresh.w) note(`t is ${fresh.t} at the start of a window of ${fresh.w} seconds`);
  if (!(await fallsWithTime(take, fresh))) note('t did not fall in a second');
}

async function fallsWithTime(take: Take, first: Standing): Promise<boolean> {
  let before = first;
  // On a busy machine a pause may outlast the window, and then says nothing.
  for (let count = 0; count < 3; count++) {
    await pause(1_050);
    const later = await take();
    if (later.t < before.t) return true;
    before = later;
  }
  return false;
}

/** Asks until the answer is 429, which may be the first one; gives the last answer. */
async function useUp({ note }: Exam, take: Take, first: Standing): Promise<Standing> {
  let before = first;
  for (let count = 0; before.status !== 429 && count <= first.q * WINDOWS_MAX; count++) {
    const next = await take();
    const isNewWindow = next.r === next.q - 1;
    if (next.t > before.t && !isNewWindow) note(`t rose from ${before.t} to ${next.t} within a window`);
    if (next.status === 429) {
      if (before.r !== 0) note(`the last one before a 429 has r=${before.r}`);
    } else if (next.r !== before.r - 1 && !isNewWindow) note(`r is ${next.r} after r=${before.r}`);
    before = next;
  }
  return before;
}

/** Counts what is really allowed on a server that is to keep the promise. */
export async function promisedAllowance(exam: Exam): Promise<void> {
  const take = taker(exam, 'busy', 'counting spender');
  const first = await take();
  if (first.policy !== PROMISED.policy) {
    exam.note(`the policy is ${first.policy}, not ${PROMISED.policy}`);
    return;
  }
  let allowed = 0;
  for (let standing = first; standing.status !== 429 && allowed <= PROMISED.count; standing = await take())
    allowed += 1;
  if (allowed !== PROMISED.count)
    exam.note(`${allowed} requests are answered in a window, not ${PROMISED.count}`);
}
