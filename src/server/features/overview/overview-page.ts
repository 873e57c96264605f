import { ENDING_DAYS } from '../keys/key-ends.ts';
import { ACTIVE_KEYS_MAX } from '../keys/keys.ts';
import { failedSince } from '../hand-over/again.ts';
import { NO_E_INVOICE } from '../hand-over/handing-over.ts';
import { DAY_MS, HISTORY_DAYS, HISTORY_MS } from '../../../contract/durations.ts';
import { type Module, modules } from '../../../contract/scopes.ts';
import { maySee } from '../../../contract/withholding.ts';
import { lacksSecondFactor, listAdministratorRows } from '../../store/accounts/administrator-rows.ts';
import { countUnsent } from '../webhooks/deliveries/deliveries-list.ts';
import { findHeld } from '../webhooks/webhook-outages.ts';
import { readWebhookHealth } from '../webhooks/webhook-health.ts';
import { listWebhookRows, type Webhook, webhookName } from '../webhooks/stored-webhooks.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { listKeyHours } from '../usage/key-usage.ts';
import { listActiveKeys, type UsedKey } from '../keys/stored-keys.ts';
import { listFailedHandOvers } from '../../store/records/hand-overs.ts';
import { moneyPart } from './money.ts';
import { outcomeText } from '../../sending/attempt-errors.ts';
import { ATTEMPTS_MAX } from '../webhooks/deliveries/deliveries.ts';
import { WEBHOOKS_MAX, whyNotTouch } from '../webhooks/registration.ts';
import { stoppedWarning, whyNot, whyNotShown } from '../../views/availability.ts';
import { counted, countText, time } from '../../views/formats.ts';
import { healthSpans, needsLook, lastDayText, lastSuccess, healthBadge } from '../webhooks/health-view.ts';
import { type Content, type Html, html } from '../../views/html.ts';
import { badge, steps } from '../../views/notice.ts';
import { facts } from '../../views/table.ts';
import { page, type PortalPage, type Visit } from '../../views/visit.ts';

/** Maximum number of failures counted per webhook, so that ten webhooks cost no more than the rest of the page. */
const FAILED_MAX = 100;
/** Days without any use after which a new key is reported as perhaps forgotten. */
const UNUSED_DAYS = 7;

export const showOverview: PortalPage = async (visit, { engine, baseUrl, passwordsOff }) => {
  const { company } = visit;
  const found = await lookAround(engine, visit);
  const [ofWebhooks, ofDocuments, money] = await Promise.all([
    webhookNeeds(engine, visit, found),
    documentNeeds(engine, visit),
    moneyPart(engine, visit),
  ]);
  const needs = [
    ...ofWebhooks,
    ...ofDocuments,
    ...keyNeeds(visit, found),
    ...(passwordsOff ? [] : factorNeeds(visit, found)),
  ].filter((need) => need !== false);
  const stopped = stoppedWarning(visit);
  const firstSteps = firstStepsOf(visit, found);
  return page(
    'Overview',
    html`${stopped}
      ${
        needs.length > 0
          ? html`<section class="notice problem" aria-labelledby="needs">
              <h2 id="needs">Needs attention</h2>
              <ul>
                ${needs.map((need) => html`<li>${need}</li>`)}
              </ul>
            </section>`
          : !stopped && html`<p class="notice done">Nothing needs attention now.</p>`
      }
      ${money}
      ${
        firstSteps.some(([isDone]) => !isDone) &&
        html`<h2>${money ? 'First steps' : 'What to do first'}</h2>
          ${!money && whyNotShown(visit, 'invoices') === undefined && html`<p>Your documents and what you are owed appear here once your business system sends the first.</p>`}
          ${steps(firstSteps)}`
      }
      <h2>API</h2>
      ${facts([
        ['Address of the API', html`<code>${baseUrl()}/api/v1</code>`],
        ['How it works', html`<a href="/">The reference</a>`],
        ['API keys', html`<a href="/portal/keys">${found.keys.length} of ${ACTIVE_KEYS_MAX}</a>`],
        ['Webhooks', html`<a href="/portal/webhooks">${found.webhooks.length} of ${WEBHOOKS_MAX}</a>`],
        ['Administrators', html`<a href="/portal/people">${found.present.length}</a>`],
      ])}
      <h2>Data in the API</h2>
      ${facts(modules.map((module) => [nameOf(module), stateOf(module, visit)]))}
      <h2>Your company</h2>
      ${facts([
        ['Company id', html`<code>${company.id}</code>`],
        ['API access', company.apiEnabled ? badge('good', 'On') : badge('bad', 'Off')],
        ['Subscription', company.subscriptionActive ? badge('good', 'Active') : badge('bad', 'Not active')],
        ['Invoicing', company.invoicingEnabled ? badge('good', 'On') : badge('warn', 'Off')],
        ['Time zone', company.timeZone],
        ['Currency', company.currency],
      ])}`,
    { section: 'overview' },
  );
};

type Found = Awaited<ReturnType<typeof lookAround>>;

async function lookAround(engine: Engine, { company, now }: Visit) {
  const { spans, whole } = healthSpans(company.timeZone, now);
  const from = new Date(now.getTime() - DAY_MS).toISOString();
  const webhooks = await listWebhookRows(engine, company.id);
  const ids = webhooks.map(({ id }) => id);
  const [health, keys, hours, people] = await Promise.all([
    readWebhookHealth(engine, company.id, ids, [whole, ...spans.slice(-1)]),
    listActiveKeys(engine, company.id, now),
    listKeyHours(engine, company.id, { from, limit: ACTIVE_KEYS_MAX * 48 }),
    listAdministratorRows(engine.db, company.id),
  ]);
  const present = people.filter(({ disabledAt }) => disabledAt === null);
  const left = people.filter((person) => !present.includes(person));
  return { webhooks, health, keys, hours, present, left };
}

/** A sentence about something that needs attention; false when nothing does. */
type Need = Html | false;

/**
 * Reports failing webhooks, deliveries waiting for a paused webhook, and deliveries that failed or were withheld and that the
 * administrator may send again.
 */
async function webhookNeeds(engine: Engine, visit: Visit, { webhooks, health }: Found): Promise<Need[]> {
  const needs = webhooks.map(async (webhook): Promise<Need[]> => {
    const { id, company, pausedAt } = webhook;
    const of = { company, webhook: id };
    const options = { attemptsMax: ATTEMPTS_MAX, countMax: FAILED_MAX };
    const mayTouch = whyNotTouch(webhook, visit.administrator) === undefined;
    const [count, held] = await Promise.all([
      mayTouch ? countUnsent(engine.db, of, { from: new Date(0) }, options) : 0,
      pausedAt === null ? undefined : findHeld(engine.db, of, FAILED_MAX),
    ]);
    const own = health.get(id);
    const name = webhookName(webhook);
    const path = `/portal/webhooks/${id}`;
    return [
      own !== undefined &&
        needsLook(webhook, own) &&
        html`<a href="${path}">The webhook to ${name}</a> ${healthBadge(webhook, own)} ${lastDayText(own)} in
          24 hours. Last success: ${lastSuccess(visit, own)}. ${outcomeText(own.lastFailure?.reason ?? '')}`,
      count > 0 &&
        html`<a href="${path}/deliveries?state=unsent"
            >${counted(count, 'delivery', 'deliveries', FAILED_MAX)} to ${name}</a
          >
          failed or ${count === 1 ? 'was' : 'were'} held, and can be sent again.`,
      held !== undefined && pausedNeed(visit, webhook, held),
    ];
  });
  return (await Promise.all(needs)).flat();
}

/** Reports a paused webhook, and how many deliveries will be lost, and from when on, if it stays so. */
function pausedNeed(
  visit: Visit,
  webhook: Webhook,
  { count, oldestAt }: Awaited<ReturnType<typeof findHeld>>,
): Html {
  const lostAt = oldestAt && new Date(Date.parse(oldestAt) + HISTORY_MS).toISOString();
  return html`<a href="/portal/webhooks/${webhook.id}">The webhook to ${webhookName(webhook)}</a> is
    paused${
      lostAt
        ? html`: ${counted(count, 'delivery waits', 'deliveries wait', FAILED_MAX)} for it. They are lost
          ${HISTORY_DAYS} days after their events, the first at ${time(visit, lostAt)}.`
        : ', so nothing is sent to it.'
    }`;
}

/** Reports keys that recently exceeded the rate limit, end soon, were never used, or were made by somebody who has left. */
function keyNeeds({ now }: Visit, { keys, hours, left }: Found): Need[] {
  const unusedBefore = new Date(now.getTime() - UNUSED_DAYS * DAY_MS).toISOString();
  const endsBefore = new Date(now.getTime() + ENDING_DAYS * DAY_MS).toISOString();
  const limited = hours.filter((hour) => hour.limited > 0 && keys.some(({ id }) => id === hour.keyId));
  const need = (path: string, those: readonly UsedKey[], told: Content): Need =>
    those.length > 0 && html`<a href="${path}">${those.map(({ name }) => name).join(', ')}</a>: ${told}`;
  const refused = limited.reduce((sum, hour) => sum + hour.limited, 0);
  return [
    need(
      '/portal/usage',
      keys.filter(({ id }) => limited.some(({ keyId }) => keyId === id)),
      `${countText(refused)} requests were refused by the rate limit in the last 24 hours.`,
    ),
    need(
      '/portal/keys',
      keys.filter(({ endsAt }) => endsAt !== null && endsAt <= endsBefore),
      `the last day is within ${ENDING_DAYS} days. Set a later day, or replace the key.`,
    ),
    need(
      '/portal/keys?show=never-used',
      keys.filter(({ usedAt, createdAt }) => usedAt === null && createdAt < unusedBefore),
      `not used in the ${UNUSED_DAYS} days or more since creation. Revoke any that nobody needs.`,
    ),
    need(
      '/portal/keys?show=left',
      keys.filter(({ madeBy }) => left.some(({ id }) => id === madeBy)),
      'created by somebody who has left. Replace any they may still have.',
    ),
  ];
}

/**
 * Reports documents that couldn't be handed over, and those that no e-invoice can express, to administrators who may see
 * documents.
 */
async function documentNeeds(engine: Engine, visit: Visit): Promise<Need[]> {
  if (whyNotShown(visit, 'invoices') !== undefined) return [];
  const options = { since: failedSince(visit.now), countMax: FAILED_MAX };
  const listed = await listFailedHandOvers(engine.db, visit.company.id, options);
  const inexpressible = listed.filter(({ problem }) => problem === NO_E_INVOICE).length;
  const link = (count: number) => {
    const countMax = listed.length < FAILED_MAX ? undefined : count;
    return html`<a href="/portal/hand-overs">${counted(count, 'document', 'documents', countMax)}</a>`;
  };
  const failed = listed.length - inexpressible;
  return [
    failed > 0 && html`${link(failed)} couldn’t be handed over to the access point.`,
    inexpressible > 0 && html`${link(inexpressible)} can’t be sent as an e-invoice. Send it another way.`,
  ];
}

/** Reports the administrator's own missing second factor, and those of others if the administrator may invite. */
function factorNeeds({ administrator }: Visit, { present }: Found): Need[] {
  const others = present.filter(
    (person) => person.id !== administrator.id && lacksSecondFactor(person) && administrator.mayInvite,
  );
  return [
    lacksSecondFactor(administrator) &&
      html`<a href="/portal/account/second-factor">Set up your second factor</a>, so that your password alone
        isn’t enough.`,
    others.length > 0 &&
      html`<a href="/portal/people"
          >${counted(others.length, 'other administrator', 'other administrators')}</a
        >
        ${others.length === 1 ? 'has' : 'have'} no second factor.`,
  ];
}

function firstStepsOf(
  { administrator }: Visit,
  { keys, webhooks, health, present }: Found,
): [isDone: boolean, step: Html][] {
  const invite: [boolean, Html] = [
    present.length > 1,
    html`<a href="/portal/people">Invite a colleague</a>, who can help when you are away.`,
  ];
  return [
    ...(administrator.mayInvite ? [invite] : []),
    [keys.length > 0, html`<a href="/portal/keys/new">Create a key</a> for one of your programs.`],
    [keys.some(({ usedAt }) => usedAt !== null), html`Make a first request with the key.`],
    [
      webhooks.length > 0,
      html`<a href="/portal/webhooks/new">Register a webhook</a> to tell your program about changes.`,
    ],
    [
      [...health.values()].some(({ lastDeliveredAt }) => lastDeliveredAt !== null),
      html`Send a test to the webhook.`,
    ],
  ];
}

function stateOf(module: Module, { company, administrator }: Visit): Html {
  const reason = whyNot(company, module);
  return html`${reason === undefined ? badge('good', 'On') : html`${badge('bad', 'Off')} ${reason}`}
  ${!maySee(administrator.scopes, module) && 'You have no access. Ask an administrator who has it.'}`;
}

function nameOf(module: Module): string {
  return module.charAt(0).toUpperCase() + module.slice(1);
}
