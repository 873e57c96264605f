import { moveEventKinds } from '../../../contract/events.ts';
import { maySeeEvent } from '../../../contract/withholding.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { readHealth, type WebhookHealth } from './webhook-health.ts';
import { findWebhookRow, type Webhook, webhookHost } from './stored-webhooks.ts';
import { checkedEvents, createWebhook, listWebhooks, WEBHOOKS_MAX } from './registration.ts';
import { canonicalWebhookUrl } from '../../sending/webhook-urls.ts';
import { stoppedWarning } from '../../views/availability.ts';
import { notFound, type Problems, problemsIn, problemsOf } from '../../views/page-error.ts';
import { button, checkboxes, form, textField } from '../../views/form.ts';
import { type Html, html } from '../../views/html.ts';
import { emptyState } from '../../views/notice.ts';
import { named, table } from '../../views/table.ts';
import { healthSpans, needsLook, lastDayText, lastFailure, lastSuccess, healthBadge } from './health-view.ts';
import { page, type PortalPage, type PageReply, redirect, type Visit } from '../../views/visit.ts';
import { eventChoice, eventDetails } from './events-page.ts';

export const showWebhooks: PortalPage = async (visit, { engine }) => {
  const { company, now } = visit;
  const webhooks = await listWebhooks(engine, company.id);
  const { spans } = healthSpans(company.timeZone, now);
  const ids = webhooks.map(({ id }) => id);
  const health = await readHealth(engine, company.id, ids, spans);
  return page(
    'Webhooks',
    html`<p>
        A webhook tells one of your systems at once what happens in ${company.name}. Every delivery is signed,
        and retried for most of a day if the receiver doesn’t accept it.
      </p>
      ${stoppedWarning(visit)}
      ${
        webhooks.length === 0
          ? emptyState(
              'There are no webhooks',
              'Register the https address of a system that needs to know of changes. You choose the events, and a test button shows whether the system answers.',
            )
          : webhookTable(visit, webhooks, health)
      }
      ${
        webhooks.length >= WEBHOOKS_MAX
          ? html`<p>A company can have ${WEBHOOKS_MAX} webhooks. Delete one to register another.</p>`
          : html`<p>
              <a class="button" href="/portal/webhooks/new">Register a webhook</a>
              <span class="hint">${webhooks.length} of ${WEBHOOKS_MAX} are in use.</span>
            </p>`
      }`,
    { section: 'webhooks' },
  );
};

/** One row for each webhook, those first that fail. */
function webhookTable(
  visit: Visit,
  webhooks: readonly Webhook[],
  health: ReadonlyMap<string, WebhookHealth>,
): Html {
  const rows = webhooks.flatMap((webhook) => {
    const own = health.get(webhook.id);
    return own ? [{ webhook, own }] : [];
  });
  return table({
    caption: 'Webhooks',
    columns: ['Address', 'State', 'Events', 'Last 24 hours', named('Last success'), named('Last failure')],
    rows: rows
      .toSorted(
        (one, other) => Number(needsLook(other.webhook, other.own)) - Number(needsLook(one.webhook, one.own)),
      )
      .map(({ webhook, own }) => [
        html`<a href="/portal/webhooks/${webhook.id}">${webhookHost(webhook)}</a><br /><span class="hint"
            >${webhook.url.replace(/^https:\/\/[^/]*/, '')}</span
          >`,
        healthBadge(webhook, own),
        webhook.events.length === moveEventKinds.length ? 'All events' : webhook.events.join(', '),
        lastDayText(own),
        lastSuccess(visit, own),
        lastFailure(visit, own),
      ]),
  });
}

/** The form for a new webhook. For the rotation of a secret, `?like=` fills in the address and events of another one. */
export const showNewWebhook: PortalPage = async (visit, { engine }) => {
  const { company, administrator, query } = visit;
  const like = query.get('like');
  if (like === null) return newPage(engine, visit, { url: '', events: [] });
  const webhook = await findWebhookRow(engine.db, company.id, like);
  if (!webhook) throw notFound();
  const events = webhook.events.filter((kind) => maySeeEvent(administrator.scopes, kind));
  return newPage(engine, visit, { url: webhook.url, events });
};

/** Registers a webhook. The next page shows its secret once. */
export const registerWebhook: PortalPage = async (visit, { engine, secrets }) => {
  const { administrator, act, form: filled } = visit;
  const url = (filled.get('url') ?? '').trim();
  const events = filled.getAll('events');
  const problems = problemsIn(
    () => canonicalWebhookUrl(url),
    () => checkedEvents(events, administrator.scopes),
  );
  if (Object.keys(problems).length > 0) return newPage(engine, visit, { url, events, problems });
  try {
    const { secret, record } = await createWebhook(engine, secrets, { ...act, url, events });
    const text =
      'The webhook is registered. Give its signing secret to the receiver, then press “Send a ping” below.';
    return redirect(`/portal/webhooks/${record.id}`, text, [
      {
        label: 'Signing secret',
        value: secret,
        hint: 'It is shown only now. Keep it in a secret store. The receiver verifies with it that a delivery comes from us.',
      },
    ]);
  } catch (error) {
    return newPage(engine, visit, { url, events, problems: problemsOf(error) });
  }
};

interface Filled {
  url: string;
  events: readonly string[];
  problems?: Problems;
}

async function newPage(engine: Engine, visit: Visit, filled: Filled): Promise<PageReply> {
  const { company } = visit;
  const { url, events, problems } = filled;
  const present = await listWebhooks(engine, company.id);
  const isFull = present.length >= WEBHOOKS_MAX;
  const isRefused = problems !== undefined;
  return page(
    'Register a webhook',
    html`<p><a href="/portal/webhooks">All webhooks</a></p>
      <p>
        <a href="/portal/events">All events</a> on one page. The <a href="/">reference</a> has code in seven
        languages that checks a signature.
      </p>
      ${isFull && !isRefused && emptyState(`There are ${WEBHOOKS_MAX} webhooks already`, 'A company can’t have more. Delete one that you no longer need, and come back.')}
      ${
        (!isFull || isRefused) &&
        form(
          visit,
          { action: '/portal/webhooks', problem: problems?.form },
          html`${textField({
            name: 'url',
            label: 'Address',
            hint: 'An https address on a public host name, without a port. We call it from the internet, so we can’t reach one inside your own network.',
            type: 'url',
            value: url,
            problem: problems?.url,
            lengthMax: 2_000,
          })}
          ${checkboxes({
            name: 'events',
            label: 'Events',
            hint: 'The events that the receiver gets. They can’t be changed later: register another webhook and delete this one instead.',
            problem: problems?.events,
            choices: moveEventKinds.map((kind) => ({
              value: kind,
              label: kind,
              ...eventChoice(kind, visit),
              more: eventDetails(kind),
            })),
            chosen: events,
          })}
          ${button('Register')}`,
        )
      }`,
    { section: 'webhooks', isRefused },
  );
}
