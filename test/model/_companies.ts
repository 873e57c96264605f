/** The companies of a random sequence, opened in the service and in the model. */
import { createCompany } from '../../src/server/backoffice/companies.ts';
import { setNumbering } from '../../src/server/backoffice/numbering.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { iso, type ModelCompany, openModelCompany } from './_model.ts';
import { moveEvents } from '../server/backoffice/_backoffice.ts';
import {
  britishProfile,
  irishProfile,
  northernIrishProfile,
  unregisteredProfile,
} from '../server/backoffice/_parties.ts';
import { sealedSecret } from '../_command.ts';

type Given = Parameters<typeof openModelCompany>[0];
type Template = Omit<Given, 'id'>;

export const irish: Template = { timeZone: 'Europe/Dublin', currency: 'EUR', profile: irishProfile };
export const british: Template = {
  ...{ timeZone: 'Europe/London', currency: 'GBP', profile: britishProfile },
  formats: { invoice: '{year}/{number}', pro_forma: 'P{number:6}' },
};
export const northernIrish: Template = {
  ...{ timeZone: 'Pacific/Auckland', currency: 'GBP', profile: northernIrishProfile },
  formats: { credit_note: 'C-{number:3}' },
  series: { 'C-{number:3}': 999_999_998 },
};
export const unregistered: Template = {
  ...{ timeZone: 'America/St_Johns', currency: 'EUR', profile: unregisteredProfile },
  formats: { quote: 'Q{number}' },
  series: { 'Q{number}': 999_999_997 },
};
const frenchProfile = { ...irishProfile, countryCode: 'FR', vatId: 'FR11123456782' };
export const french: Template = { timeZone: 'Europe/Paris', currency: 'EUR', profile: frenchProfile };

/** Webhooks hear of everything, and of a few kinds. */
export const listeners = {
  whk_all: moveEvents,
  whk_few: moveEvents.filter((kind) => /paid|accepted|completed|credit/.test(kind)),
};

export async function openCompany(engine: Engine, given: Given, nowMs: number): Promise<ModelCompany> {
  const { id, timeZone, currency, profile, formats = {}, series = {} } = given;
  const now = new Date(nowMs);
  await createCompany(engine, id, { timeZone, currency, profile }, now);
  for (const [kind, format] of Object.entries(formats)) {
    const last = series[format];
    await setNumbering(engine, id, { kind, format, now, ...(last === undefined ? {} : { last }) });
  }
  const rows = Object.entries(listeners).map(([webhook, kinds]) => ({
    company: id,
    id: webhook,
    url: 'https://hooks.customer.example',
    secret: sealedSecret(id, webhook),
    events: JSON.stringify(kinds),
    created_at: iso(nowMs),
  }));
  await engine.transaction((transaction) => transaction.insertInto('webhooks').values(rows).execute());
  return openModelCompany(given);
}
