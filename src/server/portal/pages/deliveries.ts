import { DAY_MS } from '../../../contract/durations.ts';
import { companyInstant, companyLocal } from '../../../contract/company-time.ts';
import type { EventKind } from '../../../contract/events.ts';
import { UsageError } from '../../../errors.ts';
import { listDeliveries, type StateGroup } from '../../store/deliveries/deliveries-list.ts';
import type { DeliveryRecord } from '../../store/deliveries/delivery-details.ts';
import type { Engine } from '../../store/engines/engine.ts';
import type { Webhook } from '../../store/deliveries/webhooks.ts';
import { recover } from '../../webhooks/deliveries.ts';
import { whyNotTouch } from '../../webhooks/registration.ts';
import { refusalOf } from '../page-error.ts';
import { button, filterForm, form, select, textField, withQuery } from '../views/form.ts';
import { attemptText, deliveryBadge, withheldText } from '../views/delivery-texts.ts';
import { countText, time } from '../views/formats.ts';
import { type Html, html } from '../views/html.ts';
import { emptyState } from '../views/notice.ts';
import { pagination, table } from '../views/table.ts';
import { page, type Page, type PageReply, redirect, type Visit } from '../visit.ts';
import { getOwnWebhook, hiddenKinds, visibleKinds } from '../webhook-access.ts';

const PAGE_DELIVERIES = 50;

const stateNames: Record<StateGroup, string> = {
  waiting: 'Waiting or being sent',
  retrying: 'Retrying',
  delivered: 'Delivered',
  unsent: 'Failed or withheld',
};

/** The deliveries of a webhook, the newest first. The filters are part of the address. */
export const showDeliveries: Page = async (visit, { engine }) =>
  deliveriesPage(engine, visit, await getOwnWebhook(engine, visit));

/** Sends the deliveries again that failed or were withheld since a time. */
export const recoverSince: Page = async (visit, { engine }) => {
  const { company, signedIn, form: filled, now } = visit;
  const webhook = await getOwnWebhook(engine, visit);
  const since = (filled.get('since') ?? '').trim();
  try {
    const from = companyInstant(company.timeZone, since);
    if (!from) throw new UsageError(NOT_A_TIME);
    const of = { company: company.id, webhook: webhook.id };
    const sent = await recover(engine, of, from, now, { by: signedIn });
    const count = `${countText(sent)} ${sent === 1 ? 'delivery is' : 'deliveries are'}`;
    const text = sent === 0 ? 'Nothing had failed since then.' : `${count} sent again.`;
    return redirect(`/portal/webhooks/${webhook.id}/deliveries`, text);
  } catch (error) {
    return deliveriesPage(engine, visit, webhook, { since, problem: refusalOf(error) });
  }
};

const NOT_A_TIME = 'Give a day and a time of the calendar, such as 2026-11-20T14:30.';

interface Filled {
  since: string;
  problem: string;
}

async function deliveriesPage(
  engine: Engine,
  visit: Visit,
  webhook: Webhook,
  filled?: Filled,
): Promise<PageReply> {
  const { company, query } = visit;
  const chosen = chosenOf(visit, webhook);
  const { problems } = chosen;
  const of = { ...webhook, company: company.id, webhook: webhook.id };
  const before = query.get('before')?.slice(0, 100);
  const found = await listDeliveries(engine.db, of, chosen, { before, countMax: PAGE_DELIVERIES });
  const isRefused = filled !== undefined || Object.keys(problems).length > 0;
  return page(
    'Deliveries',
    html`<p>
        The deliveries of the last 30 days to <a href="/portal/webhooks/${webhook.id}">${webhook.url}</a>.
        ${hiddenKinds(visit.administrator, webhook).length > 0 && 'Deliveries of events whose data you can’t see are left out.'}
      </p>
      ${filters(visit, webhook, chosen)}
      ${found.deliveries.length > 0 ? deliveryTable(visit, webhook, found.deliveries) : nothing(found.isCutShort)}
      ${found.isCutShort && html`<p class="hint">The search stopped after some thousand deliveries; older ones may match too.</p>`}
      ${pagination({
        newest: before === undefined ? undefined : addressOf(webhook, chosen.given),
        older: found.before === undefined ? undefined : addressOf(webhook, chosen.given, found.before),
      })}
      <h2 id="recover">Send failed deliveries again</h2>
      ${recoverForm(visit, webhook, filled)}`,
    { section: 'webhooks', isRefused },
  );
}

interface Chosen {
  kinds: readonly EventKind[] | undefined;
  state: StateGroup | undefined;
  from: Date | undefined;
  until: Date | undefined;
  given: Record<'event' | 'state' | 'from' | 'until', string>;
  problems: Partial<Record<'from' | 'until', string>>;
}

function chosenOf({ company, administrator, query }: Visit, webhook: Webhook): Chosen {
  const text = (name: string) => (query.get(name) ?? '').trim().slice(0, 50);
  const kinds = visibleKinds(administrator, webhook);
  const event = kinds.find((kind) => kind === text('event'));
  const state = (['waiting', 'retrying', 'delivered', 'unsent'] as const).find(
    (group) => group === text('state'),
  );
  const at = (name: string) => companyInstant(company.timeZone, text(name));
  const problemOf = (name: string) => (text(name) !== '' && !at(name) ? NOT_A_TIME : undefined);
  const isAll = hiddenKinds(administrator, webhook).length === 0;
  const [from, until] = [problemOf('from'), problemOf('until')];
  return {
    kinds: event ? [event] : isAll ? undefined : kinds,
    state,
    from: at('from'),
    until: at('until'),
    // A browser's field for times wouldn't take anything else.
    given: {
      event: event ?? '',
      state: state ?? '',
      from: at('from') ? text('from') : '',
      until: at('until') ? text('until') : '',
    },
    problems: { ...(from !== undefined && { from }), ...(until !== undefined && { until }) },
  };
}

function addressOf({ id }: Webhook, given: Chosen['given'], before?: string): string {
  return withQuery(`/portal/webhooks/${id}/deliveries`, { ...given, before });
}

function filters({ administrator }: Visit, webhook: Webhook, { given, problems }: Chosen): Html {
  const every = { value: '', label: 'Every event' };
  const timeField = (name: 'from' | 'until', label: string) =>
    textField({
      ...{ name, label, value: given[name], type: 'datetime-local', isRequired: false },
      problem: problems[name],
    });
  return filterForm(
    `/portal/webhooks/${webhook.id}/deliveries`,
    html`${select({
      name: 'event',
      label: 'Event',
      choices: [every, ...visibleKinds(administrator, webhook).map((kind) => ({ value: kind, label: kind }))],
      chosen: given.event,
    })}
    ${select({
      name: 'state',
      label: 'State',
      choices: [
        { value: '', label: 'Every state' },
        ...Object.entries(stateNames).map(([value, label]) => ({ value, label })),
      ],
      chosen: given.state,
    })}
    ${timeField('from', 'From')} ${timeField('until', 'Before')}`,
  );
}

function deliveryTable(visit: Visit, webhook: Webhook, deliveries: readonly DeliveryRecord[]): Html {
  return table({
    caption: 'Deliveries',
    columns: ['Event', 'Happened', 'State', 'Last attempt', { name: 'Attempts', kind: 'amount' }],
    rows: deliveries.map((delivery) => [
      html`<a class="id" href="/portal/webhooks/${webhook.id}/deliveries/${delivery.id}"
        >${delivery.event}<span class="hidden"> ${delivery.id}</span></a
      >`,
      time(visit, delivery.createdAt),
      deliveryBadge(delivery),
      delivery.state === 'withheld' && delivery.withheldFor !== null
        ? withheldText(delivery.withheldFor)
        : lastResult(visit, delivery),
      delivery.attemptCount,
    ]),
  });
}

function lastResult(visit: Visit, { attempts, attemptCount }: DeliveryRecord): Html | undefined {
  const last = attempts.find(({ number }) => number === attemptCount);
  return last && html`${attemptText(last)} <span class="hint">${time(visit, last.attemptedAt)}</span>`;
}

function nothing(isCutShort: boolean): Html {
  return isCutShort
    ? emptyState('None of these match', 'Look at older ones, or choose a shorter time.')
    : emptyState(
        'There are no deliveries here',
        'If you chose a filter, there may be some without it. Otherwise there was no event for this webhook yet. Pings are listed too.',
      );
}

function recoverForm({ company, now, ...visit }: Visit, webhook: Webhook, filled: Filled | undefined): Html {
  const { id } = webhook;
  const reason = whyNotTouch(webhook, visit.administrator);
  if (reason !== undefined) return html`<p class="hint">${reason}</p>`;
  const yesterday = companyLocal(company.timeZone, new Date(now.getTime() - DAY_MS));
  return html`<p>
      After an outage of the receiver you can send all deliveries again that failed or were withheld since
      then. They keep their ids and bodies.
    </p>
    ${form(
      visit,
      { action: `/portal/webhooks/${id}/recover` },
      html`${textField({
        name: 'since',
        label: 'Failed since',
        hint: 'The time of the event in your company’s time zone, within the last 30 days.',
        type: 'datetime-local',
        value: filled?.since ?? yesterday,
        problem: filled?.problem,
      })}
      ${button('Send them again', 'quiet')}`,
    )}`;
}
