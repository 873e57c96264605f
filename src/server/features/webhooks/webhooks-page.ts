import { subscribableKinds } from '../../../contract/events.ts';
import { NAME_CHARACTERS_MAX } from '../../access/checked-input.ts';
import { readWebhookHealth, type WebhookHealth } from './webhook-health.ts';
import { type Webhook, webhookName } from './stored-webhooks.ts';
import {
  changeWebhook,
  checkedDescription,
  validateEvents,
  createWebhook,
  listWebhooks,
  WEBHOOKS_MAX,
} from './registration.ts';
import { canonicalWebhookUrl } from '../../sending/webhook-urls.ts';
import { stoppedWarning } from '../../views/availability.ts';
import { action } from '../../views/action.ts';
import { checkAll, type Problems } from '../../views/page-error.ts';
import { button, checkboxes, form, isTicked, textField, tickButtons } from '../../views/form.ts';
import { type Html, html } from '../../views/html.ts';
import { emptyState } from '../../views/notice.ts';
import { named, table } from '../../views/table.ts';
import { healthSpans, needsLook, lastDayText, lastFailure, lastSuccess, healthBadge } from './health-view.ts';
import { page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';
import { eventChoice, eventDetails } from './events-page.ts';
import { getOwnWebhook, unlessRefused } from './webhook-access.ts';

export const showWebhooks: PortalPage = async (visit, { engine }) => {
  const { company, now } = visit;
  const webhooks = await listWebhooks(engine, company.id);
  const { spans } = healthSpans(company.timeZone, now);
  const ids = webhooks.map(({ id }) => id);
  const health = await readWebhookHealth(engine, company.id, ids, spans);
  return page(
    'Webhooks',
    html`<p>
        A webhook tells one of your systems straight away what happens in ${company.name}. Every delivery is
        signed, and retried for most of a day if the receiver doesn’t accept it.
      </p>
      ${stoppedWarning(visit)} ${webhookTable(visit, webhooks, health)}
      ${webhooks.length > 0 && html`<p><a href="/portal/deliveries">Deliveries of all webhooks</a></p>`}
      ${
        webhooks.length >= WEBHOOKS_MAX
          ? html`<p>A company can have up to ${WEBHOOKS_MAX} webhooks. Delete one to register another.</p>`
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
        html`<a href="/portal/webhooks/${webhook.id}">${webhookName(webhook)}</a><br /><span class="hint"
            >${webhook.description === '' ? webhook.url.replace(/^https:\/\/[^/]*/, '') : webhook.url}</span
          >`,
        healthBadge(webhook, own),
        webhook.events.length === subscribableKinds.length ? 'All events' : webhook.events.join(', '),
        lastDayText(own),
        lastSuccess(visit, own),
        lastFailure(visit, own),
      ]),
    empty: [
      'No webhooks',
      'Register the https address of a system that needs to know about changes. You choose the events, and can send a test.',
    ],
  });
}

export const showNewWebhook: PortalPage = async (visit, { engine }, problems) => {
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
              `You have ${WEBHOOKS_MAX} webhooks`,
              'A company can’t have more. Delete one to register another.',
            )
          : registrationForm(visit, problems)
      }`,
    { section: 'webhooks' },
  );
};

function registrationForm(visit: Visit, problems: Problems = {}): Html {
  const { form: filled } = visit;
  return form(
    visit,
    { action: '/portal/webhooks', problem: problems.form },
    html`${textField({
      name: 'url',
      label: 'Address',
      hint: 'An https address on a public host name, without a port. We call it from the internet, so we can’t reach one inside your own network.',
      type: 'url',
      value: filled.get('url')?.trim(),
      problem: problems.url,
      lengthMax: 2_000,
    })}
    ${webhookFields(visit, '/portal/webhooks', problems)} ${button('Register')}`,
  );
}

/** Registers a webhook. The next page shows its secret once. */
export const registerWebhook = action(showNewWebhook, async (visit, services) => {
  if (isTicked(visit.form, 'events', subscribableKinds)) return showNewWebhook(visit, services);
  const url = (visit.form.get('url') ?? '').trim();
  const given = { ...visit.act, url, ...fieldsIn(visit, () => canonicalWebhookUrl(url)) };
  const { secret, record } = await createWebhook(services.engine, services.secrets, given);
  const text = 'The webhook is registered. Give its signing secret to the receiver, then send a test below.';
  return redirect(`/portal/webhooks/${record.id}`, text, [secretOnce(secret)]);
});

/** Shows the form that changes a webhook's description and events. */
export const showChange: PortalPage = async (visit, { engine }, problems = {}) => {
  const webhook = await getOwnWebhook(engine, visit);
  const action = `/portal/webhooks/${webhook.id}/change`;
  return page(
    `Change ${webhookName(webhook)}`,
    html`<p><a href="/portal/webhooks/${webhook.id}">Back to the webhook</a></p>
      <p class="address"><code>${webhook.url}</code></p>
      <p>Deliveries already waiting will still be sent, even for events that you untick.</p>
      ${unlessRefused(
        webhook,
        visit,
        form(
          visit,
          { action, problem: problems.form },
          html`${webhookFields(visit, action, problems, webhook)} ${button('Save')}
            <a href="/portal/webhooks/${webhook.id}">Cancel</a>`,
        ),
      )}`,
    { section: 'webhooks' },
  );
};

export const saveWebhook = action(showChange, async (visit, services) => {
  if (isTicked(visit.form, 'events', subscribableKinds)) return showChange(visit, services);
  const { id } = await getOwnWebhook(services.engine, visit);
  await changeWebhook(services.engine, { ...visit.act, id, ...fieldsIn(visit) });
  return redirect(`/portal/webhooks/${id}`, 'The webhook is changed.');
});

/** Returns a signing secret for the notice that shows it once. */
export function secretOnce(value: string) {
  const hint =
    'Keep it in a secret store: we can’t show it again. The receiver uses it to check that a delivery comes from us.';
  return { label: 'Signing secret', value, hint };
}

/** Renders the fields of a webhook that can be changed, with what was filled in or else what is given. */
function webhookFields(visit: Visit, action: string, problems: Problems, given?: Webhook): Html {
  const { form: filled } = visit;
  const isFilled = filled.size > 0;
  return html`${textField({
    name: 'description',
    label: 'Description',
    hint: 'A few words to tell it from other webhooks, such as “Stock system”. Optional.',
    value: isFilled ? filled.get('description') : given?.description,
    problem: problems.description,
    isRequired: false,
    lengthMax: NAME_CHARACTERS_MAX,
  })}
  ${checkboxes({
    name: 'events',
    label: 'Events',
    hint: 'The events that the receiver gets. You can change them later.',
    problem: problems.events,
    tools: tickButtons(action, 'events'),
    choices: subscribableKinds.map((kind) => ({
      value: kind,
      label: kind,
      ...eventChoice(kind, visit),
      more: eventDetails(kind),
    })),
    chosen: isFilled ? filled.getAll('events') : (given?.events ?? []),
  })}`;
}

/** Reads what was filled into `webhookFields`. @throws FieldsRefusedError of these fields and of other checks. */
function fieldsIn({ administrator, form: filled }: Visit, ...others: (() => unknown)[]) {
  const description = filled.get('description') ?? '';
  const events = filled.getAll('events');
  checkAll(
    ...others,
    () => checkedDescription(description),
    () => validateEvents(events, administrator.scopes),
  );
  return { description, events };
}
