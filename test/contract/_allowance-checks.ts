import { setTimeout as pause } from 'node:timers/promises';

import { scopes } from '../../src/contract/scopes.ts';
import type { Note } from './_checks.ts';
import { codeOf, conformanceProblems } from './_conformance.ts';
import { type DeclaredOperation, declaredOperation, declaredOperations, knownPath } from './_declared.ts';
import { type Answer, ask, parsed } from './_exchange.ts';
import { type Asker, headersOf, type Party, type ServerName } from './_parties.ts';
import { absentPath } from './_questions.ts';
import { askChecked, operationsFor } from './_reading.ts';

/** The allowance of a key (openapi.yaml, "Rate limit"). */
const PROMISED = { policy: '"default";q=120;w=60', count: 120 };
/** A window that is longer isn't waited for. */
const WINDOW_SECONDS_MAX = 60;

/** Where a key stands, as an answer tells it. */
interface Standing {
  status: number;
  policy: string;
  q: number;
  w: number;
  r: number;
  t: number;
}

/** Uses up an allowance, waits for the next one, and looks at what each answer tells. */
export async function countdown(party: Party, note: Note): Promise<void> {
  const take = taker(party, note, 'short window', 'spender of short windows');
  const first = await take();
  if (first.w > WINDOW_SECONDS_MAX) note(`the window has ${first.w} seconds`);
  const last = await useUp(take, first, note);
  if (last.status !== 429) {
    note(`more requests are answered than ${first.policy} allows`);
    return;
  }
  const colleague = await taker(party, note, 'short window', 'colleague of spenders')();
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

async function fallsWithTime(take: () => Promise<Standing>, first: Standing): Promise<boolean> {
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

/** A slow machine may need another window to use one up. */
const WINDOWS_MAX = 5;

/** Asks until the answer is 429, which may be the first one; gives the last answer. */
async function useUp(take: () => Promise<Standing>, first: Standing, note: Note): Promise<Standing> {
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

/** Gives the means to use up one request of a key, by another operation each time; all of them count together. */
function taker(party: Party, note: Note, server: ServerName, asker: Asker): () => Promise<Standing> {
  let count = 0;
  return async () => {
    const operations = declaredOperations().filter(({ operationId }) => operationId !== 'getInvoicePdf');
    const { operationId } = operations[count % operations.length] ?? declaredOperation('listJobs');
    count += 1;
    const answer = await ask(party.urls[server], {
      target: knownPath(operationId),
      headers: headersOf(party, asker),
    });
    for (const problem of conformanceProblems(operationId, answer)) note(`${operationId}: ${problem}`);
    return standingOf(answer, note);
  };
}

function standingOf({ status, headers }: Answer, note: Note): Standing {
  const policy = headers['ratelimit-policy'] ?? '';
  const left = headers['ratelimit'] ?? '';
  const [, name, q, w] = /^("\w+");q=(\d+);w=(\d+)$/.exec(policy) ?? [];
  const [, named, r, t] = /^("\w+");r=(\d+);t=(\d+)$/.exec(left) ?? [];
  if (name !== named) note(`RateLimit tells of ${named}, RateLimit-Policy of ${name}`);
  const standing = { status, policy, q: Number(q), w: Number(w), r: Number(r), t: Number(t) };
  if (standing.t > standing.w) note(`t is ${t} in a window of ${w} seconds`);
  if (standing.r >= standing.q) note(`r is ${r} in a window of ${q} requests`);
  if (status === 429) {
    const wait = headers['retry-after'];
    if (Number(wait) > standing.w) note(`Retry-After is ${wait} in a window of ${w} seconds`);
    if (wait !== t) note(`Retry-After is ${wait}, t=${t}`);
    if (standing.r !== 0) note(`r is ${r} on a 429`);
  }
  return standing;
}

/** Counts what is really allowed on a server that is to keep the promise. */
export async function promisedAllowance(party: Party, note: Note): Promise<void> {
  const take = taker(party, note, 'busy', 'counting spender');
  const first = await take();
  if (first.policy !== PROMISED.policy) {
    note(`the policy is ${first.policy}, not ${PROMISED.policy}`);
    return;
  }
  let allowed = 0;
  for (let standing = first; standing.status !== 429 && allowed <= PROMISED.count; standing = await take()) {
    allowed += 1;
  }
  if (allowed !== PROMISED.count) note(`${allowed} requests are answered in a window, not ${PROMISED.count}`);
}

/** The askers of a known key who are refused, and the code of it. */
export const toldAskers: readonly {
  asker: Asker;
  of: (operation: DeclaredOperation) => string | undefined;
}[] = [
  { asker: 'reader', of: () => 'invalid_parameter' },
  { asker: 'cut off', of: () => 'api_not_enabled' },
  { asker: 'unpaid', of: () => 'company_unavailable' },
  {
    asker: 'uninvoiced',
    of: ({ responses }) =>
      responses.get(503)?.examples.some(({ name }) => name === 'invoicingNotEnabled')
        ? 'invoicing_not_enabled'
        : undefined,
  },
  ...scopes.map((scope) => ({
    asker: `without ${scope}` as const,
    of: (operation: DeclaredOperation) => (operation.scope === scope ? 'missing_scope' : undefined),
  })),
];

/** Asks for the answers that a known key gets; those of a refusal tell the allowance as well. */
export async function toldAllowance(
  { asker, of }: (typeof toldAskers)[number],
  party: Party,
  note: Note,
): Promise<void> {
  const operations = await operationsFor(asker, party);
  for (const operation of operations) {
    const { operationId } = operation;
    const wanted = of(operation);
    const absent = absentPath(operation);
    const isOfRecord = asker === 'reader' && absent !== operation.path;
    const cases = [
      ...(wanted === undefined ? [] : [{ target: `${absent}?nothing=1`, code: wanted }]),
      ...(isOfRecord ? [{ target: absent, code: 'not_found' }] : []),
    ];
    for (const { target, code } of cases) {
      const answer = await askChecked(party, note, { operationId, target, asker });
      const actual = codeOf(parsed(answer));
      if (actual !== code) note(`${target} for ${asker}: ${actual}, not ${code}`);
      const missing = ['RateLimit', 'RateLimit-Policy'].filter(
        (name) => !(name.toLowerCase() in answer.headers),
      );
      for (const name of missing) note(`${target}: ${answer.status} without ${name}`);
    }
  }
}
