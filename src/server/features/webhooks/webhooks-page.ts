import { subscribableKinds } from '../../../contract/events.ts';
import { maySeeEvent } from '../../../contract/withholding.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { readWebhookHealth, type WebhookHealth } from './webhook-health.ts';
import { findWebhookRow, type Webhook, webhookHost } from './stored-webhooks.ts';
import { validateEvents, createWebhook, listWebhooks, WEBHOOKS_MAX } from './registration.ts';
import { canonicalWebhookUrl } from '../../sending/webhook-urls.ts';
import { stoppedWarning } from '../../views/availability.ts';
import { action } from '../../views/action.ts';
import { checkAll, notFound, type Problems } from '../../views/page-error.ts';
import { button, checkboxes, form, textField } from '../../views/form.ts';
import { type Html, html } from '../../views/html.ts';
import { emptyState } from '../../views/notice.ts';
import { named, table } from '../../views/table.ts';
import { healthSpans, needsLook, lastDayText, lastFailure, lastSuccess, healthBadge } from './health-view.ts';
import { page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';
import { eventChoice, eventDetails } from './events-page.ts';

export const showWebhooks: PortalPage = async (visit, { engine }) => {
  const { company, now } = visit;
  const webhooks = await listWebhooks(engine, company.id);
  const { spans } = healthSpans(company.timeZone, now);
  const ids = webhooks.map(({ id }) => id);
  const health = await readWebhookHealth(engine, company.id, ids, spans);
  return page(
    'Webhooks',
    html`<p>
        A webhook tells one of your systems at once what happens in ${company.name}. Every delivery is signed,
        and retried for most of a day if the receiver doesn’t accept it.
      </p>
      ${stoppedWarning(visit)} ${webhookTable(visit, webhooks, health)}
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

/** Renders one row for each webhook, those that need attention first. */
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
        webhook.events.length === subscribableKinds.length ? 'All events' : webhook.events.join(', '),
        lastDayText(own),
        lastSuccess(visit, own),
        lastFailure(visit, own),
      ]),
    empty: [
      'There are no webhooks',
      'Register the https address of a system that needs to know of changes. You choose the events, and a test button shows whether the system answers.',
    ],
  });
}

export const showNewWebhook: PortalPage = async (visit, { engine }, problems) => {
  const like = await likeIn(visit, engine);
  const present = await listWebhooks(engine, visit.company.id);
  return page(
    'Register a webhook',
    html`<p><a href="/portal/webhooks">All webhooks</a></p>
      <p>
        <a href="/portal/events">All events</a> on one page. The <a href="/">reference</a> has code in seven
        languages that checks a signature.
      </p>
      ${
        present.length >= WEBHOOKS_MAX && !problems
          ? emptyState(
              `There are ${WEBHOOKS_MAX} webhooks already`,
              'A company can’t have more. Delete one that you no longer need, and come back.',
            )
          : registrationForm(visit, like, problems)
      }`,
    { section: 'webhooks' },
  );
};

function registrationForm(visit: Visit, like: Webhook | undefined, problems: Problems = {}): Html {
  const { form: filled } = visit;
  return form(
    visit,
    { action: '/portal/webhooks', problem: problems.form },
    html`${textField({
      name: 'url',
      label: 'Address',
      hint: 'An https address on a public host name, without a port. We call it from the internet, so we can’t reach one inside your own network.',
      type: 'url',
      value: like?.url ?? filled.get('url')?.trim(),
      problem: problems.url,
      lengthMax: 2_000,
    })}
    ${checkboxes({
      name: 'events',
      label: 'Events',
      hint: 'The events that the receiver gets. They can’t be changed later: register another webhook and delete this one instead.',
      problem: problems.events,
      choices: subscribableKinds.map((kind) => ({
        value: kind,
        label: kind,
        ...eventChoice(kind, visit),
        more: eventDetails(kind),
      })),
      chosen: like?.events ?? filled.getAll('events'),
    })}
    ${button('Register')}`,
  );
}

/** Finds the webhook that `?like=` names, whose address and visible events the form copies to rotate its secret. */
async function likeIn(
  { company, administrator, query }: Visit,
  engine: Engine,
): Promise<Webhook | undefined> {
  const like = query.get('like');
  if (like === null) return undefined;
  const webhook = await findWebhookRow(engine.db, company.id, like);
  if (!webhook) throw notFound();
  return { ...webhook, events: webhook.events.filter((kind) => maySeeEvent(administrator.scopes, kind)) };
}

/** Registers a webhook. The next page shows its secret once. */
export const registerWebhook = action(showNewWebhook, async (visit, { engine, secrets }) => {
  const { administrator, act, form: filled } = visit;
  const url = (filled.get('url') ?? '').trim();
  const events = filled.getAll('events');
  checkAll(
    () => canonicalWebhookUrl(url),
    () => validateEvents(events, administrator.scopes),
  );
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
});
