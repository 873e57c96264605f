import { maySeeEvent } from '../../../../contract/withholding.ts';
import { type DeliveryDetail, findDelivery } from './delivery-details.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import type { Webhook } from '../stored-webhooks.ts';
import { resend } from './deliveries.ts';
import { traceIdOfDelivery } from '../../../../contract/trace-context.ts';
import { sentRequest, sentSignature } from './sent-request.ts';
import type { Services } from '../../../views/services.ts';
import { action } from '../../../views/action.ts';
import { notFound } from '../../../views/page-error.ts';
import { attemptOutcome, deliveryBadge, withheldText } from './delivery-texts.ts';
import { button, form } from '../../../views/form.ts';
import { exactTime, msText, supportLink } from '../../../views/formats.ts';
import { type Html, html } from '../../../views/html.ts';
import { copyButton } from '../../../views/notice.ts';
import { amount, facts, named, table } from '../../../views/table.ts';
import { page, type PortalPage, redirect, type Visit } from '../../../views/visit.ts';
import { whyUnreadable } from '../secret-key.ts';
import { getOwnWebhook, unlessRefused } from '../webhook-access.ts';

export const showDelivery: PortalPage = async (visit, services, problems = {}) => {
  const webhook = await getOwnWebhook(services.engine, visit);
  const delivery = await getVisible(services.engine, visit, webhook);
  const { id, event, createdAt, withheldFor, nextAttemptAt, attemptCount } = delivery;
  const again = form(
    visit,
    { action: `/portal/webhooks/${webhook.id}/deliveries/${id}/send-again`, problem: problems.form },
    html`<input type="hidden" name="seen" value="${attemptCount}" /> ${button('Send again', 'quiet')}`,
  );
  const isPaused = webhook.pausedAt !== null && ['waiting', 'retrying'].includes(delivery.state);
  return page(
    `Delivery of ${event}`,
    html`<p>
        <a href="/portal/webhooks/${webhook.id}/deliveries">All deliveries</a> to
        <a href="/portal/webhooks/${webhook.id}">${webhook.url}</a>
      </p>
      ${facts([
        ['State', deliveryBadge(delivery)],
        ['Happened', exactTime(visit, createdAt)],
        ['Delivery id', html`<code>${id}</code>`],
        ['Held because', withheldFor && withheldText(withheldFor)],
        ['Next attempt', nextAttemptAt && exactTime(visit, nextAttemptAt)],
        ['Waiting because', isPaused ? 'The webhook is paused.' : undefined],
      ])}
      ${unlessRefused(webhook, visit, again)}
      <h2>Attempts</h2>
      ${attemptTable(visit, delivery)}
      <h2>Request</h2>
      ${requestPart(delivery, services)}`,
    { section: 'webhooks' },
  );
};

/** Sends a delivery again. The form carries the number of attempts shown, so a second click does nothing. */
export const sendAgain = action(showDelivery, async (visit, { engine }) => {
  const { act, form: filled } = visit;
  const webhook = await getOwnWebhook(engine, visit);
  const delivery = await getVisible(engine, visit, webhook);
  const seen = Number(filled.get('seen'));
  const attemptCount = Number.isInteger(seen) ? seen : -1;
  const outcome = await resend(engine, delivery, act.now, { by: act.by, attemptCount });
  const text =
    outcome === 'waiting'
      ? 'We’re sending the delivery again, with the same id and body.'
      : 'Nothing was sent: there has been another attempt since you loaded the page, or the delivery is already waiting.';
  return redirect(`/portal/webhooks/${webhook.id}/deliveries/${delivery.id}`, text);
});

/** Finds the delivery in the URL. @throws PageError 404, also when the administrator isn't allowed to see its data. */
async function getVisible(
  engine: Engine,
  { company, administrator, params }: Visit,
  { id: webhook }: Webhook,
): Promise<DeliveryDetail> {
  const found = await findDelivery(engine.db, { company: company.id, webhook, id: params.delivery ?? '' });
  if (!found || !maySeeEvent(administrator.scopes, found.event)) throw notFound();
  return found;
}

function attemptTable(visit: Visit, { attempts }: DeliveryDetail): Html {
  return table({
    caption: 'Attempts',
    columns: [
      named('Attempt'),
      'Time',
      'Result',
      ...['DNS', 'Connect', 'TLS', 'Response', 'Total'].map(amount),
      named('Next'),
    ],
    rows: attempts.map(({ phases: { dns, connect, tls, firstByte }, totalMs, ...attempt }) => [
      attempt.number,
      exactTime(visit, attempt.attemptedAt),
      html`${attemptOutcome(attempt)}${attempt.answerText !== undefined && html`<br /><q>${attempt.answerText}</q>`}`,
      ...[dns, connect, tls, firstByte, totalMs].map(msText),
      exactTime(visit, attempt.nextAttemptAt),
    ]),
    empty: ['No attempts yet', 'Each attempt is listed here with its result.'],
  });
}

function requestPart(delivery: DeliveryDetail, services: Services): Html {
  const { body, headers } = sentRequest(delivery, services.serviceName);
  const { pathname, search } = new URL(delivery.url);
  return html`<p>
      A POST to <code>${pathname}${search}</code>. It is the same at every attempt, except for the signature
      and the span in <code>traceparent</code>. The trace id is
      <code>${traceIdOfDelivery(delivery.id)}</code>.
    </p>
    <h3>Headers</h3>
    ${facts(headers)}
    <h3>Signatures</h3>
    ${signatures(delivery, services)}
    <h3>Body, as it is sent</h3>
    <p class="hint">The signature covers exactly these bytes. ${copyButton('body', 'the body')}</p>
    <pre id="body">${body}</pre>
    <details>
      <summary>The same, formatted</summary>
      <pre>${JSON.stringify(JSON.parse(body), null, 2)}</pre>
    </details>`;
}

function signatures(delivery: DeliveryDetail, { secrets: box, serviceName, supportUrl }: Services): Html {
  const { attempts } = delivery;
  if (attempts.length === 0) return html`<p>Each attempt gets its own signature when it is sent.</p>`;
  if (whyUnreadable(box, { ...delivery, id: delivery.webhook }) !== undefined)
    return html`<p>
      We can’t show these, because the webhook’s secret can’t be decrypted. Ask
      ${supportLink('your operator', supportUrl)}.
    </p>`;
  return html`<p class="hint">
      The <code>Service-Signature</code> of each attempt. It depends on the secret, the body and the second of
      the attempt.
    </p>
    ${facts(
      attempts.map((attempt) => {
        const signature = sentSignature(delivery, attempt, { box, serviceName });
        return [
          `Attempt ${attempt.number}`,
          signature === undefined
            ? 'Not known: the request never got that far.'
            : html`<code>${signature}</code>`,
        ];
      }),
    )}`;
}
