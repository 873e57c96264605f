import { ACTIVE_KEYS_MAX } from '../../access/keys.ts';
import { type Module, modules } from '../../../contract/scopes.ts';
import { maySee } from '../../../contract/withholding.ts';
import { listAdministratorRows } from '../../store/accounts/administrator-rows.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { listActiveKeys } from '../../store/keys/keys.ts';
import { readHealth } from '../../store/deliveries/webhook-health.ts';
import { listWebhookRows } from '../../store/deliveries/webhooks.ts';
import { WEBHOOKS_MAX } from '../../webhooks/registration.ts';
import { stoppedWarning, whyNot } from '../availability.ts';
import { type Html, html } from '../views/html.ts';
import { badge } from '../views/notice.ts';
import { facts, table } from '../views/table.ts';
import { healthSpans, stateBadge } from '../views/health.ts';
import { page, type Page, type Visit } from '../visit.ts';

export const showOverview: Page = async (visit, { engine }) => {
  const { company, administrator } = visit;
  return page(
    'Overview',
    html`${stoppedWarning(company)}
      <h2>At a glance</h2>
      ${await glance(engine, visit)}
      <h2>Data in the API</h2>
      ${table({
        caption: 'Data in the API',
        columns: ['Data', 'State', 'Reason', { name: 'Your access', kind: 'named' }],
        rows: modules.map((module) => {
          const reason = whyNot(company, module);
          return [
            nameOf(module),
            reason === undefined ? badge('good', 'On') : badge('bad', 'Off'),
            reason ?? 'Your plan includes it.',
            maySee(administrator.scopes, module) ? 'Yes' : 'No: another administrator can give it',
          ];
        }),
      })}
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

async function glance(engine: Engine, { company, now }: Visit): Promise<Html> {
  const keys = await listActiveKeys(engine, company.id);
  const webhooks = await listWebhookRows(engine, company.id);
  const { spans } = healthSpans(company.timeZone, now);
  const ids = webhooks.map(({ id }) => id);
  const health = await readHealth(engine, company.id, ids, spans.slice(-1));
  const people = await listAdministratorRows(engine.db, company.id);
  const active = people.filter(({ disabledAt }) => disabledAt === null).length;
  return facts([
    ['API keys', html`<a href="/portal/keys">${keys.length} of ${ACTIVE_KEYS_MAX}</a>`],
    ['Webhooks', html`<a href="/portal/webhooks">${webhooks.length} of ${WEBHOOKS_MAX}</a>`],
    ...webhooks.map((webhook) => {
      const own = health.get(webhook.id);
      const name = html`<a href="/portal/webhooks/${webhook.id}">${new URL(webhook.url).hostname}</a>`;
      return ['Webhook', html`${name} ${own && stateBadge(webhook, own)}`] as const;
    }),
    ['Administrators', html`<a href="/portal/people">${active}</a>`],
  ]);
}

function nameOf(module: Module): string {
  return module.charAt(0).toUpperCase() + module.slice(1);
}
