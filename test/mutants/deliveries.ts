import type { Mutant } from './_mutant.ts';

const loop = ['test/server/features/webhooks/deliveries/delivery-loop.test.ts'];
const addresses = ['test/server/sending/public-addresses.test.ts'];
const handOver = ['test/server/features/hand-over/handing-over.test.ts'];
const mailing = ['test/server/features/notices/mailing.test.ts'];

/** Webhooks, the hand-over of documents, and mails: what is sent where, when, and how often. */
export const deliveries: readonly Mutant[] = [
  {
    fault: 'an answer of 300 to a webhook counts as delivered',
    file: 'src/server/features/webhooks/deliveries/attempt.ts',
    from: 'answer.status >= 200 && answer.status < 300',
    to: 'answer.status >= 200 && answer.status <= 300',
    tests: ['test/server/features/webhooks/deliveries/deliveries.test.ts', ...loop],
  },
  {
    fault: 'an answer of 300 from the access point counts as handed over',
    file: 'src/server/features/hand-over/access-point.ts',
    from: 'status >= 200 && status < 300',
    to: 'status >= 200 && status <= 300',
    tests: handOver,
  },
  {
    fault: 'chance makes a retry earlier than its schedule',
    file: 'src/server/sending/schedule.ts',
    from: 'delayMs * (1 + JITTER * random())',
    to: 'delayMs * (1 - JITTER * random())',
    tests: ['test/server/features/webhooks/deliveries/schedule.test.ts'],
  },
  {
    fault: 'a worker whose lease has run out settles a delivery that another one sends',
    file: 'src/server/features/webhooks/deliveries/results.ts',
    from: ' AND deliveries.lease = ${chosenText(3)}',
    to: '',
    tests: ['test/server/features/webhooks/deliveries/lease.test.ts', ...loop],
  },
  {
    fault: 'quotes are sent though invoicing is switched off',
    file: 'src/contract/withholding.ts',
    from: 'return invoicingModules.includes(module) && !company',
    to: "return module === 'invoices' && !company",
    tests: ['test/server/api/authorisation.test.ts'],
  },
  {
    fault: 'the time of a signature is rounded up',
    file: 'src/contract/delivery-request.ts',
    from: 'Math.floor(at.getTime() / 1000)',
    to: 'Math.ceil(at.getTime() / 1000)',
    tests: ['test/server/features/webhooks/deliveries/signature.test.ts'],
  },
  {
    fault: 'a signature that is old is believed',
    file: 'src/client/verify-webhook.ts',
    from: 'Math.abs(now.getTime() / 1000 - Number(t))',
    to: 'Number(t) - now.getTime() / 1000',
    tests: ['test/client/verify-webhook.test.ts'],
  },
  {
    fault: 'half of a private network is called',
    file: 'src/server/sending/public-addresses.ts',
    from: "'172.16.0.0/12'",
    to: "'172.16.0.0/13'",
    tests: addresses,
  },
  {
    fault: "a webhook calls back into the service at its machine's own public address",
    file: 'src/server/sending/public-addresses.ts',
    from: '!own.has(canonical) && !isOneOf(interfaces(), canonical)',
    to: '!own.has(canonical)',
    tests: addresses,
  },
  {
    fault: 'a part of a signing secret that a receiver repeats is shown',
    file: 'src/server/features/webhooks/deliveries/attempt.ts',
    from: 'keptAnswer(answerText, secret)',
    to: "keptAnswer(answerText, '')",
    tests: ['test/server/sending/answer-text.test.ts'],
  },
  {
    fault: 'a document is handed over before the access point wants it',
    file: 'src/server/features/hand-over/handing-over.ts',
    from: 'Math.max(next.getTime(), askedMs)',
    to: 'Math.min(next.getTime(), askedMs)',
    tests: handOver,
  },
  {
    fault: 'a worker that was too slow overwrites what another one came to',
    file: 'src/server/store/outbox.ts',
    from: ' AND lease = ${lease}`',
    to: '`',
    tests: handOver,
  },
  {
    fault: 'somebody who stopped mails of failing webhooks is told that they work again',
    file: 'src/server/features/notices/mailing.ts',
    from: "mutedNotices?.includes(choiceOf(kind) ?? '')",
    to: 'mutedNotices?.includes(kind)',
    tests: mailing,
  },
  {
    fault: 'somebody is told of a webhook whose events they may not see',
    file: 'src/server/store/accounts/notice-rows.ts',
    from: '(!events || events.some((event) => maySeeEvent(scopes, event)))',
    to: 'true',
    tests: [
      'test/server/features/webhooks/outages.test.ts',
      'test/server/features/notices/notices-page.test.ts',
    ],
  },
  {
    fault: 'a link for a new password is mailed days after it was asked for',
    file: 'src/server/features/people/mailed-links.ts',
    from: "  if (kind === 'reset.asked' && askedMs > MAILED_RESET_HOURS * HOUR_MS) return undefined;\n",
    to: '',
    tests: ['test/server/features/people/spent-authority.test.ts'],
  },
  {
    fault: 'a webhook that fails is shown as working, because most attempts of the day arrived',
    file: 'src/server/features/webhooks/health-view.ts',
    from: "  if (webhook.isFailing) return badge('bad', 'Failing');\n",
    to: '',
    tests: ['test/server/features/overview/overview-page.test.ts'],
  },
  {
    fault: 'a webhook that was delivered to before it failed is not counted as failing',
    file: 'src/server/features/webhooks/stored-webhooks.ts',
    from: 'h.last_delivered_at > w.failing_since',
    to: "h.last_delivered_at > ''",
    tests: [
      'test/server/features/companies/status-command.test.ts',
      'test/server/features/overview/overview-page.test.ts',
    ],
  },
];
