import { companyInstant, companyLocal } from '../../../../contract/company-time.ts';
import { HISTORY_MS, MINUTE_MS } from '../../../../contract/durations.ts';
import { type EventKind, subscribableKinds } from '../../../../contract/events.ts';
import {
  countUnsent,
  type DeliveryFilter,
  listDeliveryRows,
  type ListedPage,
  type StateGroup,
} from './deliveries-list.ts';
import type { Connection } from '../../../store/dialects/dialect.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { statusClasses } from '../../../store/statuses.ts';
import type { DeliveryRecord } from './delivery-details.ts';
import { listWebhookRows, type Webhook, webhookName } from '../stored-webhooks.ts';
import { whyNotTouch } from '../registration.ts';
import { END_BEFORE_START, filterForm, filterReader } from '../../../views/filter.ts';
import { button, select, textField, withQuery } from '../../../views/form.ts';
import { attemptSummary, deliveryBadge, withheldText } from './delivery-texts.ts';
import { boundedCountText, time } from '../../../views/formats.ts';
import { type Html, html } from '../../../views/html.ts';
import { amount, pagination, table } from '../../../views/table.ts';
import type { Problems } from '../../../views/page-error.ts';
import { page, type PageReply, type PortalPage, type Visit } from '../../../views/visit.ts';
import { getOwnWebhook, unlessRefused, visibleKinds } from '../webhook-access.ts';

const NOT_A_TIME = 'Enter a date and time, such as 2026-11-20T14:30.';
const PAGE_DELIVERIES = 50;
/** The number at which counting failed, or newer, deliveries stops. */
const FAILED_MAX = 1_000;
const NEWER_MAX = 100;
/** The events of all webhooks together. */
const ANY = { events: [...subscribableKinds], pastEvents: [] };

const stateNames: Record<StateGroup, string> = {
  waiting: 'Waiting or sending',
  retrying: 'Retrying',
  delivered: 'Delivered',
  unsent: 'Failed or held',
};

// The compiler checks that the keys are exactly the state groups.
const stateGroups = Object.keys(stateNames) as StateGroup[];
const responses = [...statusClasses, '0xx'];

/** Shows the deliveries of a webhook, newest first. The filters are part of the URL. */
export const showDeliveries: PortalPage = async (visit, { engine }) => {
  const webhook = await getOwnWebhook(engine, visit);
  const chosen = chosenOf(visit, `/portal/webhooks/${webhook.id}/deliveries`, webhook);
  return listPage(visit, engine, chosen, {
    webhooks: [webhook],
    title: `Deliveries to ${webhookName(webhook)}`,
    to: html`<a href="/portal/webhooks/${webhook.id}">${webhook.url}</a>`,
    ofOne: {
      tabs: await tabs(engine, webhook, chosen),
      recovery: chosen.state === 'unsent' && recoverPart(visit, webhook, chosen.given),
    },
  });
};

/** Shows the deliveries of all webhooks, newest first. */
export const showAllDeliveries: PortalPage = async (visit, { engine }) =>
  listPage(visit, engine, chosenOf(visit, '/portal/deliveries', ANY), {
    webhooks: await listWebhookRows(engine, visit.company.id),
    title: 'Deliveries',
    to: html`<a href="/portal/webhooks">all webhooks</a>`,
  });

/** The webhooks whose deliveries a page lists, in words, and what only the page of one webhook has. */
interface Listed {
  webhooks: readonly Webhook[];
  title: string;
  to: Html;
  ofOne?: { tabs: Html; recovery: Html | false };
}

async function listPage(
  { company, query, now }: Visit,
  { db }: Engine,
  chosen: Chosen,
  { webhooks, title, to, ofOne }: Listed,
): Promise<PageReply> {
  const { path, given, isPartial } = chosen;
  const before = query.get('before')?.slice(0, 100);
  const isRefused = Object.keys(chosen.problems).length > 0;
  const listed = isRefused ? [] : webhooks;
  const found = await listDeliveryRows(db, listed, chosen, { before, countMax: PAGE_DELIVERIES });
  const made = before === undefined ? now.toJSON() : (query.get('made') ?? '');
  const newerCount = await countSince(db, listed, chosen, { before, madeAt: new Date(made) });
  const names = ofOne ? undefined : new Map(webhooks.map((webhook) => [webhook.id, linkTo(webhook)]));
  const recovery = found.deliveries.length > 0 && ofOne?.recovery;
  return page(
    title,
    html`<p>
        The deliveries of the last 30 days to ${to}.
        ${isPartial && 'Deliveries of events whose data you can’t see are left out.'}
      </p>
      ${ofOne?.tabs} ${filters(chosen)} ${recovery}
      ${newerCount > 0 && html`<p><a href="${withQuery(path, given)}">${boundedCountText(newerCount, NEWER_MAX)} newer</a></p>`}
      ${deliveryTable({ company }, found, names, !isPartial && !!recovery)}
      ${pagination(
        (next?: string) => withQuery(path, { ...given, ...(next !== undefined && { before: next, made }) }),
        { place: before, next: found.before },
      )}`,
    { section: 'webhooks', isRefused },
  );
}

const linkTo = (webhook: Webhook) =>
  html`<a href="/portal/webhooks/${webhook.id}">${webhookName(webhook)}</a>`;

/** Counts deliveries that match the filter and are newer than the first page, up to `NEWER_MAX`. */
async function countSince(
  db: Connection,
  webhooks: readonly Webhook[],
  chosen: Chosen,
  { before, madeAt }: { before: string | undefined; madeAt: Date },
): Promise<number> {
  // Nothing is newer than the first page.
  if (before === undefined || Number.isNaN(madeAt.getTime())) return 0;
  const from = new Date(Math.max(madeAt.getTime(), chosen.from?.getTime() ?? 0));
  return (await listDeliveryRows(db, webhooks, { ...chosen, from }, { countMax: NEWER_MAX })).deliveries
    .length;
}

async function tabs({ db }: Engine, { company, id: webhook }: Webhook, chosen: Chosen): Promise<Html> {
  const tab = (name: string, state?: StateGroup) =>
    html`<a href="${withQuery(chosen.path, { state })}" ${state === chosen.state && html`aria-current="page"`}
      >${name}</a
    >`;
  const all = { from: new Date(0) };
  const failedCount = await countUnsent(db, { company, webhook }, all, { countMax: FAILED_MAX });
  // No number is shown to an administrator who can't see all failed deliveries.
  const count = chosen.isPartial ? '' : ` (${boundedCountText(failedCount, FAILED_MAX)})`;
  return html`<nav class="pages" aria-label="Deliveries">
    ${tab('All deliveries')} ${tab(`${stateNames.unsent}${count}`, 'unsent')}
  </nav>`;
}

interface Chosen extends DeliveryFilter {
  /** The path of the list. */
  path: string;
  /** Whether some of the events are hidden from the administrator. */
  isPartial: boolean;
  visible: readonly EventKind[];
  given: Record<'record' | 'event' | 'state' | 'response' | 'from' | 'until', string | undefined>;
  problems: Problems;
}

function chosenOf(
  { company, administrator, query }: Visit,
  path: string,
  webhook: Pick<Webhook, 'events' | 'pastEvents'>,
): Chosen {
  const text = (name: string) => (query.get(name) ?? '').trim().slice(0, 100);
  const visible = visibleKinds(administrator, webhook);
  const [from, until] = ['from', 'until'].map((name) => companyInstant(company.timeZone, text(name)));
  const { problems, choiceOf } = filterReader(query);
  if (!from && text('from') !== '') problems.from = NOT_A_TIME;
  if (!until && text('until') !== '') problems.until = NOT_A_TIME;
  if (from && until && until <= from) problems.until = END_BEFORE_START;
  const event = choiceOf('event', visible);
  const state = choiceOf('state', stateGroups);
  const response = choiceOf('response', responses);
  const isPartial = whyNotTouch(webhook, administrator) !== undefined;
  return {
    ...{ path, isPartial, visible, state, response, from, until, problems },
    record: text('record') || undefined,
    kinds: event ? [event] : isPartial ? visible : undefined,
    given: { record: text('record'), event, state, response, from: text('from'), until: text('until') },
  };
}

function filters({ path, visible, given, problems }: Chosen): Html {
  const timeField = (name: 'from' | 'until', label: string) =>
    textField({
      ...{ name, label, value: given[name], type: 'datetime-local', isRequired: false },
      problem: problems[name],
    });
  return filterForm(
    path,
    html`${textField({ name: 'record', label: 'Id of a record or delivery', value: given.record, type: 'search', isRequired: false, lengthMax: 100 })}
    ${select({ name: 'event', label: 'Event', all: 'Every event', choices: visible.map((kind) => [kind, kind]), chosen: given.event, problem: problems.event })}
    ${select({ name: 'state', label: 'State', all: 'Every state', choices: Object.entries(stateNames), chosen: given.state, problem: problems.state })}
    ${select({ name: 'response', label: 'Last attempt', all: 'Any', choices: responses.map((name) => [name, name === '0xx' ? 'No response' : name]), chosen: given.response, problem: problems.response })}
    ${timeField('from', 'From')} ${timeField('until', 'Before')}`,
  );
}

/** Renders deliveries. @param names the names of their webhooks by id, if there are several. */
function deliveryTable(
  visit: Pick<Visit, 'company'>,
  { deliveries, isCutShort }: ListedPage,
  names: ReadonlyMap<string, Html> | undefined,
  hasTicks: boolean,
): Html {
  const list = table({
    caption: 'Deliveries',
    columns: [
      'Event',
      ...(names ? ['Webhook'] : []),
      'Happened',
      'State',
      'Last attempt',
      amount('Attempts'),
    ],
    rows: deliveries.map((delivery) => [
      html`${hasTicks && tick(delivery)}<a
          class="id"
          href="/portal/webhooks/${delivery.webhook}/deliveries/${delivery.id}"
          >${delivery.event}<span class="hidden"> ${delivery.id}</span></a
        >`,
      ...(names ? [names.get(delivery.webhook)] : []),
      time(visit, delivery.createdAt),
      deliveryBadge(delivery),
      lastResult(delivery),
      delivery.attemptCount,
    ]),
    empty: isCutShort
      ? ['No matches here', 'Look at older ones, or choose a shorter period.']
      : [
          'No deliveries',
          'If you chose a filter, try without it. Otherwise nothing was sent in the last 30 days.',
        ],
  });
  return html`${list}
  ${isCutShort && html`<p class="hint">The search stopped after a few thousand deliveries. Older ones may match too.</p>`}`;
}

function lastResult({ attempts, attemptCount, withheldFor }: DeliveryRecord): string | undefined {
  const last = attempts.find(({ number }) => number === attemptCount);
  const texts = [withheldFor === null ? '' : withheldText(withheldFor), last ? attemptSummary(last) : ''];
  return texts.join(' ').trim() || undefined;
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
      !(given.event || given.record || given.response) &&
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
