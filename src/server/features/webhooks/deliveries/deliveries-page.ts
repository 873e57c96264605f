import { companyInstant, companyLocal } from '../../../../contract/company-time.ts';
import { HISTORY_MS, MINUTE_MS } from '../../../../contract/durations.ts';
import type { EventKind } from '../../../../contract/events.ts';
import { countUnsent, listDeliveryRows, type ListedWebhook, type StateGroup } from './deliveries-list.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import type { DeliveryRecord } from './delivery-details.ts';
import { type Webhook, webhookName } from '../stored-webhooks.ts';
import { whyNotTouch } from '../registration.ts';
import { button, filterForm, select, textField, withQuery } from '../../../views/form.ts';
import { attemptSummary, deliveryBadge, withheldText } from './delivery-texts.ts';
import { boundedCountText, time } from '../../../views/formats.ts';
import { type Html, html } from '../../../views/html.ts';
import { amount, pagination, table } from '../../../views/table.ts';
import type { Problems } from '../../../views/page-error.ts';
import { page, type PortalPage, type Visit } from '../../../views/visit.ts';
import { getOwnWebhook, hiddenKinds, unlessRefused, visibleKinds } from '../webhook-access.ts';

const NOT_A_TIME = 'Enter a date and time, such as 2026-11-20T14:30.';
const PAGE_DELIVERIES = 50;
/** The number at which counting failed, or newer, deliveries stops. */
const FAILED_MAX = 1_000;
const NEWER_MAX = 100;

const stateNames: Record<StateGroup, string> = {
  waiting: 'Waiting or sending',
  retrying: 'Retrying',
  delivered: 'Delivered',
  unsent: 'Failed or held',
};

// The compiler checks that the keys are exactly the state groups.
const stateGroups = Object.keys(stateNames) as StateGroup[];

/** Shows the deliveries of a webhook, newest first. The filters are part of the URL. */
export const showDeliveries: PortalPage = async (visit, { engine }) => {
  const { company, query, now } = visit;
  const webhook = await getOwnWebhook(engine, visit);
  const chosen = chosenOf(visit, webhook);
  const path = `/portal/webhooks/${webhook.id}/deliveries`;
  const of = { ...webhook, company: company.id, webhook: webhook.id };
  const before = query.get('before')?.slice(0, 100);
  const found = await listDeliveryRows(engine.db, of, chosen, { before, countMax: PAGE_DELIVERIES });
  const made = before === undefined ? now.toJSON() : (query.get('made') ?? '');
  const rows = found.deliveries.map((delivery) => [webhook, delivery] as const);
  const hasTicks = chosen.state === 'unsent' && whyNotTouch(webhook, visit.administrator) === undefined;
  const newerCount = await countSince(engine, of, chosen, new Date(made));
  return page(
    `Deliveries to ${webhookName(webhook)}`,
    html`<p>
        The deliveries of the last 30 days to <a href="/portal/webhooks/${webhook.id}">${webhook.url}</a>.
        ${chosen.isPartial && 'Deliveries of events whose data you can’t see are left out.'}
      </p>
      ${await tabs(engine, of, chosen)} ${filters(path, visibleKinds(visit.administrator, webhook), chosen)}
      ${chosen.state === 'unsent' && found.deliveries.length > 0 && recoverPart(visit, webhook, chosen.given)}
      ${newerCount > 0 && html`<p><a href="${withQuery(path, chosen.given)}">${boundedCountText(newerCount, NEWER_MAX)} newer</a></p>`}
      ${deliveryTable(visit, rows, { isCutShort: found.isCutShort, hasTicks, isOfAll: false })}
      ${pagination(
        (next?: string) =>
          withQuery(path, { ...chosen.given, ...(next !== undefined && { before: next, made }) }),
        { place: before, next: found.before },
      )}`,
    { section: 'webhooks', isRefused: Object.keys(chosen.problems).length > 0 },
  );
};

/** Counts deliveries that match the filter and are newer than the first page, up to `NEWER_MAX`. */
async function countSince(engine: Engine, of: ListedWebhook, chosen: Chosen, madeAt: Date): Promise<number> {
  if (Number.isNaN(madeAt.getTime())) return 0;
  const from = new Date(Math.max(madeAt.getTime(), chosen.from?.getTime() ?? 0));
  return (await listDeliveryRows(engine.db, of, { ...chosen, from }, { countMax: NEWER_MAX })).deliveries
    .length;
}

async function tabs(engine: Engine, of: ListedWebhook, { state, isPartial }: Chosen): Promise<Html> {
  const tab = (name: string, group?: StateGroup) =>
    html`<a
      href="${withQuery(`/portal/webhooks/${of.webhook}/deliveries`, { state: group })}"
      ${state === group && html`aria-current="page"`}
      >${name}</a
    >`;
  const failedCount = await countUnsent(engine.db, of, { from: new Date(0) }, { countMax: FAILED_MAX });
  // No number is shown to an administrator who can't see all failed deliveries.
  const count = isPartial ? '' : ` (${boundedCountText(failedCount, FAILED_MAX)})`;
  return html`<nav class="pages" aria-label="Deliveries">
    ${tab('All deliveries')} ${tab(`${stateNames.unsent}${count}`, 'unsent')}
  </nav>`;
}

interface Chosen {
  /** Whether some of the webhook's events are hidden from the administrator. */
  isPartial: boolean;
  kinds: readonly EventKind[] | undefined;
  state: StateGroup | undefined;
  from: Date | undefined;
  until: Date | undefined;
  given: Record<'event' | 'state' | 'from' | 'until', string>;
  problems: Problems;
}

export function chosenOf(
  { company, administrator, query }: Visit,
  webhook: Pick<Webhook, 'events' | 'pastEvents'>,
): Chosen {
  const text = (name: string) => (query.get(name) ?? '').trim().slice(0, 50);
  const kinds = visibleKinds(administrator, webhook);
  const event = kinds.find((kind) => kind === text('event'));
  const state = stateGroups.find((group) => group === text('state'));
  // A browser's field for times wouldn't take anything else.
  const [from, until] = ['from', 'until'].map((name) => companyInstant(company.timeZone, text(name)));
  const problems = {
    ...(!from && text('from') !== '' && { from: NOT_A_TIME }),
    ...(!until && text('until') !== '' && { until: NOT_A_TIME }),
  };
  const isPartial = hiddenKinds(administrator, webhook).length > 0;
  return {
    ...{ isPartial, state, from, until, problems },
    kinds: event ? [event] : isPartial ? kinds : undefined,
    given: {
      event: event ?? '',
      state: state ?? '',
      from: from ? text('from') : '',
      until: until ? text('until') : '',
    },
  };
}

export function filters(
  path: string,
  kinds: readonly EventKind[],
  { given, problems }: Chosen,
  more?: Html,
): Html {
  const timeField = (name: 'from' | 'until', label: string) =>
    textField({
      ...{ name, label, value: given[name], type: 'datetime-local', isRequired: false },
      problem: problems[name],
    });
  return filterForm(
    path,
    html`${more}
    ${select({
      name: 'event',
      label: 'Event',
      all: 'Every event',
      choices: kinds.map((kind) => [kind, kind]),
      chosen: given.event,
    })}
    ${select({
      name: 'state',
      label: 'State',
      all: 'Every state',
      choices: Object.entries(stateNames),
      chosen: given.state,
    })}
    ${timeField('from', 'From')} ${timeField('until', 'Before')}`,
  );
}

/** Renders deliveries, each beside its webhook, which `isOfAll` names. */
export function deliveryTable(
  visit: Visit,
  rows: readonly (readonly [Webhook, DeliveryRecord])[],
  { isCutShort, hasTicks, isOfAll }: Record<'isCutShort' | 'hasTicks' | 'isOfAll', boolean>,
): Html {
  const ofAll = (cell: string) => (isOfAll ? [cell] : []);
  const list = table({
    caption: 'Deliveries',
    columns: ['Event', ...ofAll('Webhook'), 'Happened', 'State', 'Last attempt', amount('Attempts')],
    rows: rows.map(([webhook, delivery]) => [
      html`${hasTicks && tick(delivery)}<a
          class="id"
          href="/portal/webhooks/${webhook.id}/deliveries/${delivery.id}"
          >${delivery.event}<span class="hidden"> ${delivery.id}</span></a
        >`,
      ...ofAll(webhookName(webhook)),
      time(visit, delivery.createdAt),
      deliveryBadge(delivery),
      delivery.state === 'withheld' && delivery.withheldFor !== null
        ? withheldText(delivery.withheldFor)
        : lastResult(delivery),
      delivery.attemptCount,
    ]),
    empty: isCutShort
      ? ['No matches here', 'Look at older ones, or choose a shorter period.']
      : ['No deliveries', 'If you chose a filter, try without it. Otherwise there has been no event yet.'],
  });
  return html`${list}
  ${isCutShort && html`<p class="hint">The search stopped after a few thousand deliveries. Older ones may match too.</p>`}`;
}

function lastResult({ attempts, attemptCount }: DeliveryRecord): string | undefined {
  const last = attempts.find(({ number }) => number === attemptCount);
  return last && attemptSummary(last);
}

/** Renders forms to send the ticked deliveries or a whole period again. The list's tick boxes belong to the first form. */
function recoverPart(visit: Visit, webhook: Webhook, given: Chosen['given']): Html {
  const { company, now } = visit;
  const action = `/portal/webhooks/${webhook.id}/recover`;
  const first = companyLocal(company.timeZone, new Date(now.getTime() - HISTORY_MS + MINUTE_MS));
  const forms = html`<div class="filters">
    <form method="get" id="ticked" action="${action}">
      ${button('Send ticked deliveries again…', 'quiet')}
    </form>
    ${
      given.event === '' &&
      html`<form method="get" action="${action}">
        <input type="hidden" name="from" value="${given.from || first}" />
        <input type="hidden" name="until" value="${given.until}" />
        ${button(given.from || given.until ? 'Send all in this period again…' : 'Send all again…', 'quiet')}
      </form>`
    }
  </div>`;
  return unlessRefused(webhook, visit, forms);
}

function tick({ id, event }: DeliveryRecord): Html {
  return html`<input
    type="checkbox"
    form="ticked"
    name="delivery"
    value="${id}"
    aria-label="${event} ${id}"
  />`;
}
