import { failedSince, handOverAgain } from './again.ts';
import { QUEUE_DAYS } from '../../store/outbox.ts';
import type { Engine } from '../../store/engines/engine.ts';
import {
  findHandOver,
  type HandOver,
  type HandOverState,
  listFailedHandOvers,
} from '../../store/records/hand-overs.ts';
import type { HandOverAttempt } from '../../store/tables/documents.ts';
import { outcomeText } from '../../sending/attempt-errors.ts';
import { button, form } from '../../views/form.ts';
import { counted, exactTime, msText, time, withIds, kindNames } from '../../views/formats.ts';
import { type Content, type Html, html } from '../../views/html.ts';
import { badge, emptyState } from '../../views/notice.ts';
import { amount, facts, named, table } from '../../views/table.ts';
import { page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';
import { refuseWithoutDocuments } from '../../views/availability.ts';

const LISTED_MAX = 100;
const PATH = '/portal/hand-overs';

const states: Record<HandOverState, Parameters<typeof badge>> = {
  waiting: ['plain', 'Waiting'],
  sending: ['plain', 'Sending'],
  handed_over: ['good', 'Handed over'],
  failed: ['bad', 'Failed'],
  withheld: ['warn', 'Held'],
};

const reasons: Readonly<Record<string, string>> = {
  hand_over_off: 'Hand-over was off.',
  no_e_invoice: 'The document can’t be an e-invoice. Send it another way.',
  waited: `It waited ${QUEUE_DAYS.hand_overs} days without being handed over.`,
  taken: 'The access point’s folder has another file of that name.',
};

/** Explains in a sentence why a document wasn't taken. */
function problemText(problem: string): string {
  // Codes of the operating system, such as ENOSPC.
  if (/^E[A-Z\d]+$/.test(problem)) return `We couldn’t write to the access point’s folder (${problem}).`;
  return reasons[problem] ?? outcomeText(problem);
}

/** Lists recent documents that were not handed over and need attention. */
export const showHandOvers: PortalPage = async (visit, { engine }) => {
  refuseWithoutDocuments(visit);
  const { company, now } = visit;
  const failed = await listFailedHandOvers(engine.db, company.id, {
    ...{ since: failedSince(now), countMax: LISTED_MAX },
  });
  return page(
    'Documents that were not handed over',
    failed.length === 0
      ? emptyState('Nothing has failed', 'Documents that your access point doesn’t accept are listed here.')
      : html`<p>
            ${counted(failed.length, 'document', 'documents', LISTED_MAX)} of the last 30 days: the access
            point didn’t accept them within about 20 hours, they waited ${QUEUE_DAYS.hand_overs} days, or they
            can’t be e-invoices.
          </p>
          ${form(visit, { action: `${PATH}/again` }, button('Hand all over again', 'quiet'))}
          ${table({
            caption: 'Documents',
            columns: ['Number', 'Kind', 'Last attempt', 'Result'],
            rows: failed.map((one) => [
              html`<span class="id"><a href="/portal/documents/${one.id}">${one.document.number}</a></span>`,
              kindNames[one.document.kind],
              time(visit, one.attempts.at(-1)?.at ?? null),
              resultOf(one.attempts.at(-1) ?? { problem: one.problem }),
            ]),
          })}`,
    { section: 'documents' },
  );
};

export const handAllOver: PortalPage = async (visit, { engine }) => {
  refuseWithoutDocuments(visit);
  const count = await handOverAgain(engine, visit.act);
  return redirect(PATH, `${counted(count, 'document is', 'documents are')} being handed over again.`);
};

/** Renders the hand-over section of a document's page; undefined for a document that isn't handed over. */
export async function handOverPart(
  visit: Visit,
  engine: Engine,
  { id, problem: refusal }: { id: string; problem: string | undefined },
): Promise<Html | undefined> {
  const found = await findHandOver(engine.db, visit.company.id, id);
  if (!found) return undefined;
  const { attempts } = found;
  return html`<h2>Hand-over to the access point</h2>
    ${facts(factsOf(visit, found))}
    ${
      (isAgain(found) || refusal !== undefined) &&
      form(
        visit,
        { action: `/portal/documents/${id}/hand-over`, problem: refusal },
        button('Hand it over again', 'quiet'),
      )
    }
    ${attempts.length > 0 && attemptTable(visit, attempts)}`;
}

function factsOf(visit: Visit, { state, problem, attempts, dueAt }: HandOver): [string, Content][] {
  const isStopped = state === 'failed' || state === 'withheld';
  return [
    ['State', badge(...states[state])],
    ['Handed over', state === 'handed_over' ? exactTime(visit, dueAt) : undefined],
    ['Because', isStopped ? problemText(problem ?? '') : undefined],
    ['Next attempt', state === 'waiting' && attempts.length > 0 ? exactTime(visit, dueAt) : undefined],
  ];
}

/** Whether the button is shown: the document failed, was withheld, or waits for another attempt. */
function isAgain({ state, attempts, problem }: HandOver): boolean {
  if (state === 'failed') return problem !== 'no_e_invoice';
  return state === 'withheld' || (state === 'waiting' && attempts.length > 0);
}

function attemptTable(visit: Visit, attempts: readonly HandOverAttempt[]): Html {
  return table({
    caption: 'Attempts to hand it over',
    columns: ['Time', 'Result', amount('Total'), named('Next')],
    rows: attempts.map((attempt) => [
      exactTime(visit, attempt.at),
      resultOf(attempt),
      msText(attempt.ms),
      exactTime(visit, attempt.nextAt),
    ]),
  });
}

function resultOf({ problem, answer }: Pick<HandOverAttempt, 'problem' | 'answer'>): Content {
  if (problem === null) return 'Accepted.';
  return html`${problemText(problem)} ${answer !== undefined && html`<q>${withIds(answer)}</q>`}`;
}
