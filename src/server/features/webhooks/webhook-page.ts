import { maySeeEvent } from '../../../contract/withholding.ts';
import type { DeliveryDetail } from './deliveries/delivery-details.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { readWebhookHealth } from './webhook-health.ts';
import { type Webhook, webhookName } from './stored-webhooks.ts';
import { ping, waitForAttempt } from './deliveries/deliveries.ts';
import { deleteWebhook, pauseWebhook, resumeWebhook } from './registration.ts';
import { stoppedWarning } from '../../views/availability.ts';
import { action } from '../../views/action.ts';
import { button, confirmForm, form, select } from '../../views/form.ts';
import { exactTime, time } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { badge, steps, warning } from '../../views/notice.ts';
import { facts } from '../../views/table.ts';
import { attemptPhases, attemptOutcome, deliveryBadge } from './deliveries/delivery-texts.ts';
import {
  attemptChart,
  healthSpans,
  lastDayText,
  lastRefusal,
  lastSuccess,
  healthBadge,
} from './health-view.ts';
import { page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';
import { endReplaced, findSecretChange, replaceSecret } from './secret-change.ts';
import { secretOnce } from './webhooks-page.ts';
import { getOwnWebhook, unlessRefused } from './webhook-access.ts';

export const showWebhook: PortalPage = async (visit, { engine }, problems = {}) => {
  const webhook = await getOwnWebhook(engine, visit);
  const { company, now, query } = visit;
  const { id, url } = webhook;
  const problemOf = (part: string) => (visit.path.includes(`/${part}`) ? problems.form : undefined);
  const spans = healthSpans(company.timeZone, now);
  const health = (await readWebhookHealth(engine, company.id, [id], spans.spans)).get(id);
  const pinged = await findPing(engine, visit, webhook, query.get('ping'));
  return page(
    webhookName(webhook),
    html`<p><a href="/portal/webhooks">All webhooks</a></p>
      <p class="address"><code>${url}</code></p>
      ${stoppedWarning(visit)}
      ${
        health &&
        facts([
          ['State', healthBadge(webhook, health)],
          ['Webhook id', html`<code>${id}</code>`],
          ['Registered', time(visit, webhook.createdAt)],
          ['Last 24 hours', lastDayText(health)],
          ['Last success', lastSuccess(visit, health)],
          ['Paused since', webhook.pausedAt && time(visit, webhook.pausedAt)],
        ])
      }
      <p><a class="button" href="/portal/webhooks/${id}/deliveries">See its deliveries</a></p>
      ${health && lastRefusal(visit, webhook, health)}
      <h2 id="ping">Test</h2>
      ${pingPart(visit, webhook, pinged, problemOf('ping'))}
      <h2>Attempts in the last 30 days</h2>
      ${health && attemptChart(health, spans)}
      <h2>Events</h2>
      ${eventList(visit, webhook)}
      ${unlessRefused(webhook, visit, html`<p><a href="/portal/webhooks/${id}/change">Change events or description</a></p>`)}
      <h2>Pause</h2>
      ${pausePart(visit, webhook)}
      <h2>Replace the secret</h2>
      ${await secretPart(engine, visit, webhook, problemOf('secret'))}
      <h2>Delete</h2>
      <p>Nothing more is sent to this webhook, and its history is removed. This can’t be undone.</p>
      ${deletePart(visit, webhook)}`,
    { section: 'webhooks' },
  );
};

/** Sends a ping or a sample, and waits briefly for the result, so that the page usually shows it at once. */
export const sendPing = action(showWebhook, async (visit, { engine, pingWaitMs = 3_000 }) => {
  const { company, id: webhook } = await getOwnWebhook(engine, visit);
  const event = visit.form.get('event') ?? 'ping';
  const id = await ping(engine, { company, webhook }, { ...visit.act, event });
  await waitForAttempt(engine, { company, webhook, id }, pingWaitMs);
  return redirect(`/portal/webhooks/${webhook}?ping=${id}`);
});

export const pauseAction = changeOf(pauseWebhook, 'paused. Its deliveries wait for up to 30 days.');
export const resume = changeOf(resumeWebhook, 'resumed. Deliveries that waited are being sent.');

function changeOf(change: typeof pauseWebhook, what: string): PortalPage {
  return async (visit, { engine }) => {
    const { id } = await getOwnWebhook(engine, visit);
    await change(engine, visit.company.id, id, visit.now, visit.act.by);
    return redirect(`/portal/webhooks/${id}`, `The webhook is ${what}`);
  };
}

export const remove: PortalPage = async (visit, { engine }) => {
  const { id, url } = await getOwnWebhook(engine, visit);
  await deleteWebhook(engine, visit.company.id, id, visit.now, visit.act.by);
  const text = `The webhook to ${url} is deleted. It sends nothing more.`;
  return redirect('/portal/webhooks', text);
};

/** Registers a second webhook with a new secret. Its page shows the secret once. */
export const beginSecret = action(showWebhook, async (visit, { engine, secrets }) => {
  const { id } = await getOwnWebhook(engine, visit);
  const { secret, record } = await replaceSecret(engine, secrets, { ...visit.act, id });
  const text =
    'This is the new webhook. The old one works until you end it. Give the new signing secret to the receiver.';
  return redirect(`/portal/webhooks/${record.id}`, text, [secretOnce(secret)]);
});

export const endSecret = action(showWebhook, async (visit, { engine }) => {
  const { id } = await getOwnWebhook(engine, visit);
  await endReplaced(engine, { ...visit.act, id });
  const text = 'The old webhook is deleted. You can remove the old secret from the receiver.';
  return redirect(`/portal/webhooks/${id}`, text);
});

/** Finds the test whose id is in the page's URL, if it was sent to this webhook. */
async function findPing(
  engine: Engine,
  { administrator }: Visit,
  { company, id: webhook }: Webhook,
  id: string | null,
): Promise<DeliveryDetail | undefined> {
  if (id === null) return undefined;
  const found = await waitForAttempt(engine, { company, webhook, id }, 0);
  return found?.isTest && maySeeEvent(administrator.scopes, found.event) ? found : undefined;
}

function pingPart(
  visit: Visit,
  webhook: Webhook,
  pinged: DeliveryDetail | undefined,
  problem: string | undefined,
): Html {
  const action = `/portal/webhooks/${webhook.id}/ping`;
  const testForm = form(
    visit,
    { action, problem },
    html`${select({
      name: 'event',
      label: 'Event',
      choices: ['ping', ...webhook.events].map((kind) => [kind, kind]),
      chosen: pinged?.event ?? visit.form.get('event') ?? 'ping',
    })}
    ${button('Send a test')}`,
  );
  return html`<p>
      A ping is a signed delivery without data. A test of an event has the example data on
      <a href="/portal/events">All events</a>, not yours, and looks real to your receiver. You can send 5
      tests a minute.
    </p>
    ${pinged && pingResult(visit, pinged)} ${unlessRefused(webhook, visit, testForm)}`;
}

function pingResult(visit: Visit, pinged: DeliveryDetail): Html {
  const { webhook, id, state } = pinged;
  const attempt = pinged.attempts.at(-1);
  const link = `/portal/webhooks/${webhook}/deliveries/${id}`;
  if (!attempt)
    return html`<div class="notice" role="status">
      <p>
        ${deliveryBadge(pinged)} The test
        ${state === 'withheld' ? 'was not sent.' : 'has not been answered yet.'}
        <a href="/portal/webhooks/${webhook}?ping=${id}">Look again</a>
      </p>
    </div>`;
  return html`<div class="notice ${state === 'delivered' ? 'done' : 'problem'}" role="status">
    <p>
      ${deliveryBadge(pinged)} ${attemptOutcome(attempt)} ${exactTime(visit, attempt.attemptedAt)},
      ${attempt.totalMs} ms${attemptPhases(attempt)}.
      ${pinged.nextAttemptAt !== null && html`We’ll retry at ${exactTime(visit, pinged.nextAttemptAt)}.`}
      <a href="${link}">See this test</a>
    </p>
  </div>`;
}

function eventList({ administrator }: Visit, { events }: Webhook): Html {
  return html`<ul class="details">
    ${events.map(
      (kind) =>
        html`<li>
          <code>${kind}</code>
          ${!maySeeEvent(administrator.scopes, kind) && html`${badge('plain', 'Not yours')} <span class="hint">You don’t see its deliveries, as you have no access to its data.</span>`}
        </li>`,
    )}
  </ul>`;
}

function pausePart(visit: Visit, webhook: Webhook): Html {
  const { id, pausedAt } = webhook;
  const part = (action: string, pressed: Html) =>
    unlessRefused(webhook, visit, form(visit, { action: `/portal/webhooks/${id}/${action}` }, pressed));
  if (pausedAt !== null)
    return html`<p>Deliveries have waited since ${time(visit, pausedAt)}. Resume the webhook to send them.</p>
      ${part('resume', button('Resume'))}`;
  return html`<p>
      While a webhook is paused, its deliveries wait, so that you can work on the receiver. What is still
      waiting 30 days after its event is lost.
    </p>
    ${part('pause', button('Pause', 'quiet'))}`;
}

function deletePart(visit: Visit, webhook: Webhook): Html {
  const { id, url } = webhook;
  const deletion = confirmForm(visit, {
    action: `/portal/webhooks/${id}/delete`,
    open: 'Delete this webhook',
    subject: '',
    question: html`The webhook <strong>${webhookName(webhook)}</strong> to ${url} gets no more deliveries, not
      even those that are waiting or being retried.`,
    confirm: 'Delete the webhook',
  });
  return unlessRefused(webhook, visit, deletion);
}

/** Renders the steps to a new secret, with a button for the next one. */
async function secretPart(
  engine: Engine,
  visit: Visit,
  webhook: Webhook,
  problem: string | undefined,
): Promise<Html> {
  const action = `/portal/webhooks/${webhook.id}/secret`;
  const found = await findSecretChange(engine.db, webhook);
  if (!found)
    return html`<p>
        A second webhook with the same address, events and description gets a new secret. Both get every event
        until you end the old one.
      </p>
      ${unlessRefused(webhook, visit, form(visit, { action, problem }, button('Make a new secret', 'quiet')))}`;
  const { old, added, hasDelivered } = found;
  const link = ({ id }: Webhook, text: string) => html`<a href="/portal/webhooks/${id}">${text}</a>`;
  const end = confirmForm(visit, {
    ...{ action: `${action}/end`, open: 'End the old webhook', subject: '', confirm: 'End the old webhook' },
    question:
      'The old webhook is deleted with its history. It gets no more deliveries, not even those waiting or being retried.',
  });
  const done = steps([
    [hasDelivered, html`Give the secret of ${link(added, 'the new webhook')} to the receiver.`],
    [
      hasDelivered,
      html`Make the receiver accept both secrets. Then wait for the new webhook’s first delivery, or send it a
      test. Until you end the old one, every event arrives twice, with different delivery ids.`,
    ],
    [
      false,
      html`End
      ${link(old, 'the old webhook')}${added.id !== webhook.id && html` on the page of ${link(added, 'the new one')}`}.
      ${added.id === webhook.id && (hasDelivered ? unlessRefused(webhook, visit, end) : 'Its button appears here after the first successful delivery.')}`,
    ],
  ]);
  return html`${problem !== undefined && warning(problem)} ${done}`;
}
