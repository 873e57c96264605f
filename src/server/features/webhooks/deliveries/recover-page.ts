import { HISTORY_MS } from '../../../../contract/durations.ts';
import { companyInstant } from '../../../../contract/company-time.ts';
import { UsageError } from '../../../../errors.ts';
import type { UnsentChoice } from './deliveries-list.ts';
import type { Webhook } from '../stored-webhooks.ts';
import { countRecoverable, recover, RECOVERABLE_MAX } from './deliveries.ts';
import { whyNotTouch } from '../registration.ts';
import { action } from '../../../views/action.ts';
import { refusalOf } from '../../../views/page-error.ts';
import { button, form } from '../../../views/form.ts';
import { counted } from '../../../views/formats.ts';
import { type Html, html } from '../../../views/html.ts';
import { emptyState, warning } from '../../../views/notice.ts';
import { page, type PortalPage, redirect, type Visit } from '../../../views/visit.ts';
import { getOwnWebhook } from '../webhook-access.ts';

/** Shows how many of the chosen deliveries would be sent again, before anything is sent. */
export const showRecover: PortalPage = async (visit, { engine }, problems) => {
  const webhook = await getOwnWebhook(engine, visit);
  const given = problems ? visit.form : visit.query;
  const list = `/portal/webhooks/${webhook.id}/deliveries?state=unsent`;
  const reason = whyNotTouch(webhook, visit.administrator);
  const of = { company: webhook.company, webhook: webhook.id };
  let content: Html;
  let isRefused = false;
  try {
    if (reason !== undefined) throw new UsageError(reason);
    const count = await countRecoverable(engine.db, of, choiceIn(visit, given), visit.now);
    content = question(visit, webhook, { given, count, problem: problems?.form });
  } catch (error) {
    content = warning(refusalOf(error));
    isRefused = true;
  }
  return page(
    'Send deliveries again',
    html`<p>
        <a href="${list}">Failed deliveries</a> to
        <a href="/portal/webhooks/${webhook.id}">${webhook.url}</a>
      </p>
      ${content}`,
    { section: 'webhooks', isRefused },
  );
};

/** Sends the chosen deliveries again, unless their number has changed since it was shown. */
export const recoverChosen = action(showRecover, async (visit, { engine }) => {
  const { act, form: filled, now } = visit;
  const webhook = await getOwnWebhook(engine, visit);
  const of = { company: act.company, webhook: webhook.id };
  const seen = { by: act.by, count: Number(filled.get('count')) };
  const sent = await recover(engine, of, choiceIn(visit, filled), now, seen);
  const text = `${counted(sent, 'delivery is', 'deliveries are')} being sent again.`;
  return redirect(`/portal/webhooks/${webhook.id}/deliveries?state=unsent`, text);
});

/** Reads the choice of deliveries, by ids or by period. @throws UsageError when neither is given. */
function choiceIn({ company, now }: Visit, given: URLSearchParams): UnsentChoice {
  const ids = given.getAll('delivery');
  if (ids.length > 0) return { ids: [...new Set(ids)] };
  const text = (name: string) => (given.get(name) ?? '').trim();
  const from = companyInstant(company.timeZone, text('from'));
  const until = companyInstant(company.timeZone, text('until'));
  if (!from || (!until && text('until') !== ''))
    throw new UsageError('Tick deliveries in the list first, or choose a time.');
  // The list's default start, a minute inside the history, may have fallen out of it since the list was shown.
  const oldest = new Date(now.getTime() - HISTORY_MS);
  return { from: from < oldest ? oldest : from, until };
}

function question(
  visit: Visit,
  { id }: Webhook,
  { given, count, problem }: { given: URLSearchParams; count: number; problem: string | undefined },
): Html {
  if (count === 0) return emptyState('Nothing to send again', 'None of these failed or was held.');
  const deliveries = counted(count, 'delivery', 'deliveries', RECOVERABLE_MAX);
  const chosen = [...given].filter(([name]) => ['delivery', 'from', 'until'].includes(name));
  const hidden = [...chosen, ['count', count] as const].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<p>
      <strong>${deliveries}</strong> that failed or ${count === 1 ? 'was' : 'were'} held will be sent again, a
      few at a time, with the same ids and bodies.
    </p>
    ${form(
      visit,
      { action: `/portal/webhooks/${id}/recover`, problem },
      html`${hidden} ${button(`Send ${deliveries} again`)}`,
    )}`;
}
