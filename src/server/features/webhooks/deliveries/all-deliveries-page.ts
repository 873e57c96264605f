import { subscribableKinds } from '../../../../contract/events.ts';
import { textField, withQuery } from '../../../views/form.ts';
import { html } from '../../../views/html.ts';
import { pagination } from '../../../views/table.ts';
import { page, type PortalPage } from '../../../views/visit.ts';
import { listWebhooks } from '../registration.ts';
import { visibleKinds } from '../webhook-access.ts';
import { listAllDeliveries } from './all-deliveries-list.ts';
import { chosenOf, deliveryTable, filters } from './deliveries-page.ts';

const PATH = '/portal/deliveries';
const PAGE_DELIVERIES = 50;
const ANY = { events: [...subscribableKinds], pastEvents: [] };

/** Shows the deliveries of all webhooks, newest first, also those about one record. */
export const showAllDeliveries: PortalPage = async (visit, { engine }) => {
  const { company, query, administrator } = visit;
  const chosen = chosenOf(visit, ANY);
  const record = query.get('record')?.trim().slice(0, 100) ?? '';
  const given = { ...chosen.given, record };
  const before = query.get('before')?.slice(0, 100);
  const webhooks = (await listWebhooks(engine, company.id)).map((one) => ({ ...one, webhook: one.id }));
  const filter = { ...chosen, record: record || undefined };
  const found = await listAllDeliveries(engine.db, webhooks, filter, { before, countMax: PAGE_DELIVERIES });
  const recordField = textField({
    ...{ name: 'record', label: 'Record id', value: record, type: 'search', isRequired: false },
    lengthMax: 100,
  });
  return page(
    'Deliveries',
    html`<p>
        The deliveries of the last 30 days to <a href="/portal/webhooks">all webhooks</a>.
        ${chosen.isPartial && 'Deliveries of events whose data you can’t see are left out.'}
      </p>
      ${filters(PATH, visibleKinds(administrator, ANY), { ...chosen, given }, recordField)}
      ${deliveryTable(visit, found.rows, { ...found, hasTicks: false, isOfAll: true })}
      ${pagination((next?: string) => withQuery(PATH, { ...given, before: next }), {
        place: before,
        next: found.before,
      })}`,
    { section: 'webhooks', isRefused: Object.keys(chosen.problems).length > 0 },
  );
};
