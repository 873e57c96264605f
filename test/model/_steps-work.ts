/** Random moves of people, customers, forms, submissions and jobs. */
import type { ChangeContent } from '../../src/contract/feed.ts';
import type { Customer } from '../../src/contract/records.ts';
import { iso, type ModelCompany, type ModelledName, without } from './_model.ts';
import { dayNear, type Draw, idOf, onlyId, someOf } from './_chance.ts';

/** Draws what a change says; undefined when the company has nothing to make it with. */
export type Drawers = { [Name in ModelledName]: (draw: Draw) => ChangeContent<Name> | undefined };

const people = ({ tables }: ModelCompany) => tables.people;
const customers = ({ tables }: ModelCompany) => tables.customers;
const forms = ({ tables }: ModelCompany) => tables.forms;
const jobs = ({ tables }: ModelCompany) => tables.jobs;
const submissions = ({ tables }: ModelCompany) => tables.submissions;

export const workDrawers = {
  'job.create': (draw) => {
    const customerId = idOf(draw, customers);
    const createdBy = idOf(draw, people);
    if (customerId === undefined || createdBy === undefined) return undefined;
    return {
      id: newOrKnown(draw, jobs, 'job'),
      customerId,
      createdBy,
      ...jobMade(draw),
      ...jobMembers(draw),
    };
  },
  'job.update': (draw) => {
    const id = idOf(draw, jobs);
    if (id === undefined) return undefined;
    const job = draw.company.tables.jobs.get(id);
    // Values that the job has already change nothing.
    if (job && draw.happens(0.2)) return { id, ...someOf(draw, 0.5, { title: job.title, notes: job.notes }) };
    // A person who was assigned may stay, though no longer active.
    const kept = draw.happens(0.3) ? { assignedTo: [...(job?.assignedTo ?? [])].reverse() } : {};
    return { id, ...someOf(draw, 0.3, { customerId: idOf(draw, customers) }), ...jobMembers(draw), ...kept };
  },
  'job.complete': (draw) => {
    const job = onlyId(jobs, ({ completed }) => !completed)(draw);
    return job && { ...job, ...someOf(draw, 0.4, { statusLabelId: 'label_done' }) };
  },
  'job.reopen': (draw) => {
    const job = onlyId(jobs, ({ completed }) => completed)(draw);
    return job && { ...job, ...someOf(draw, 0.4, { statusLabelId: 'label_open' }) };
  },
  'person.save': (draw) => ({
    id: knownOrNew(draw, people, 'per', 0.3),
    displayName: draw.oneOf('Aoife Byrne', 'Brian Kelly', 'Ciarán Ó Sé', '李雷'),
    email: draw.oneOf('aoife@brennan.example', 'brian@brennan.example'),
    roleId: 'role_1',
    roleName: 'Engineer',
    ...someOf(draw, 0.4, { jobTitle: 'Fitter', teamId: draw.oneOf('team_1', null) }),
  }),
  'person.deactivate': onlyId(people),
  'customer.save': (draw) => drawCustomer(draw),
  'customer.archive': onlyId(customers, ({ archived }) => !archived),
  'customer.restore': onlyId(customers, ({ archived }) => archived),
  'form.save': (draw) => {
    const ids = ['fld_1', 'fld_2', 'fld_3'].slice(0, draw.below(4));
    if (draw.happens(0.05)) ids.push(...ids.slice(0, 1));
    return {
      id: knownOrNew(draw, forms, 'frm', 0.6),
      title: draw.oneOf('Safety check', 'Handover'),
      fields: ids.map((id) => ({
        id,
        type: draw.oneOf('yesno', 'photo', 'multiselect', 'text'),
        label: draw.oneOf('Is it?', 'Where?'),
      })),
      ...someOf(draw, 0.3, { description: draw.oneOf('', 'Before leaving.') }),
    };
  },
  'form.publish': onlyId(forms, ({ published }) => !published),
  'form.submit': (draw) => {
    const formId = idOf(draw, forms, ({ published }) => published);
    const submittedBy = idOf(draw, people);
    if (formId === undefined || submittedBy === undefined) return undefined;
    return {
      id: newOrKnown(draw, submissions, 'sub'),
      formId,
      submittedBy,
      ...someOf(draw, 0.4, {
        jobId: idOf(draw, jobs),
        submittedAt: draw.oneOf('2026-01-20T12:00:00.5+01:00', iso(draw.world.nowMs + draw.below(400_000))),
        ...drawFilling(draw, forms(draw.company).get(formId)?.fields ?? []),
      }),
    };
  },
} satisfies Partial<Drawers>;

type Filling = Pick<ChangeContent<'form.submit'>, 'answers' | 'files'>;

/** Draws answers and files, mostly as the form's fields take them. */
function drawFilling(draw: Draw, fields: readonly { id: string; type: string }[]): Required<Filling> {
  const answers: Filling['answers'] = {};
  const files: Filling['files'] = {};
  for (const { id, type: own } of fields) {
    const type = draw.happens(0.97) ? own : draw.oneOf('yesno', 'photo', 'multiselect', 'text');
    const at = draw.happens(0.98) ? id : 'fld_none';
    if (draw.happens(0.2)) continue;
    if (type === 'photo') files[at] = [{ name: 'flue.jpg', contentType: 'image/jpeg' }];
    else if (type === 'multiselect') answers[at] = ['a', 'b'];
    else answers[at] = type === 'yesno' ? draw.happens(0.5) : 'no';
  }
  return { answers, files };
}

/** The members with which a job is created. */
export function jobMade({ oneOf }: Draw) {
  return {
    title: oneOf('Service the boiler', 'Fit a heat pump', 'Find the leak'),
    statusLabelId: oneOf('label_open', 'label_waiting'),
    jobTypeId: 'type_1',
    jobTypeVersion: oneOf(1, 2, 2_147_483_647),
  };
}

export function jobMembers(draw: Draw) {
  return someOf(draw, 0.3, {
    title: draw.oneOf('Replace the pump', '“Quoted” & <tagged>'),
    dates: [dayNear(draw, 3, 0), dayNear(draw, -1, 9)],
    assignedTo: [...new Set([idOf(draw, people), idOf(draw, people)])].filter((id) => id !== undefined),
    teamId: draw.oneOf('team_1', null),
    customFields: { Pressure: draw.oneOf<number | string | null>(1.5, 'low', null) },
    notes: draw.oneOf('', 'Ring twice.'),
  });
}

function drawCustomer(draw: Draw): ChangeContent<'customer.save'> {
  const id = knownOrNew(draw, customers, 'cus', 0.4);
  const before = draw.company.tables.customers.get(id);
  if (before && draw.happens(0.15)) return savedOf(before);
  const countryCode = (draw.happens(0.95) ? before?.countryCode : undefined) ?? drawCountry(draw);
  const sites = [1, 2].slice(0, draw.below(3)).map((number) => ({
    id: `site_${number}`,
    label: draw.oneOf('Home', 'Yard'),
    addressLines: ['4 Mill Lane'],
    countryCode: draw.happens(0.85) ? countryCode : drawCountry(draw),
    postcode: draw.oneOf('D02 X285', null),
    geo: draw.oneOf({ lat: 53.34, lng: -6.26 }, null),
  }));
  return {
    id,
    name: draw.happens(0.97)
      ? draw.oneOf('Harbour View Hotel', 'M. Doyle', 'Castlemore Homes')
      : draw.oneOf(' ', '\u200b', 'தம'),
    addressLines: draw.happens(0.96) ? ['1 Quay Street', 'Galway'] : [],
    countryCode,
    currency: draw.happens(0.8)
      ? draw.company.currency
      : draw.oneOf('EUR', 'GBP', 'USD', 'JPY', 'KWD', 'HUF', 'ABC'),
    paymentTermsDays: draw.oneOf(0, 14, 30, 60),
    sites: draw.happens(0.03) ? [...sites, ...sites.slice(0, 1)] : sites,
    vatId: draw.happens(0.85) ? vatIdOf(draw, countryCode) : draw.happens(0.1) ? 'IE00' : null,
    ...someOf(draw, 0.4, {
      legalName: draw.oneOf('Harbour View Hotel Limited', null),
      email: draw.oneOf('office@harbour.example', null),
      contactName: 'Gráinne',
      contacts: [{ name: 'Declan', email: null, phone: '+353 20 910 0147', role: 'Owner', isBilling: true }],
    }),
  };
}

/** A customer as it could be saved again, without any change. */
const savedOf = (customer: Customer): ChangeContent<'customer.save'> =>
  without(customer, 'archived', 'createdAt', 'updatedAt');

function drawCountry({ oneOf, happens, company }: Draw): string {
  const own = company.profile.countryCode ?? 'IE';
  return happens(0.6) ? own : oneOf('IE', 'GB', 'FR', 'DE', 'GR', 'US');
}

function vatIdOf({ oneOf }: Draw, countryCode: string): string | null {
  if (countryCode === 'GB') return oneOf('GB123456782', 'XI123456782');
  if (countryCode === 'IE') return 'IE1234567T';
  const others: Record<string, string> = { FR: 'FR11123456782', DE: 'DE136695976', GR: 'EL094259216' };
  return others[countryCode] ?? null;
}

type TableOf = (company: ModelCompany) => ReadonlyMap<string, { id: string }>;

/** A new id, sometimes one that another company has, rarely one that is taken. */
export function newOrKnown(draw: Draw, tableOf: TableOf, prefix: string): string {
  if (draw.happens(0.04)) return draw.pick([...tableOf(draw.company).keys()]) ?? draw.newId(prefix);
  if (draw.happens(0.04)) return elsewhere(draw, tableOf) ?? draw.newId(prefix);
  return draw.newId(prefix);
}

/** The id of a record that is replaced that often, or else of a new one. */
function knownOrNew(draw: Draw, tableOf: TableOf, prefix: string, share: number): string {
  const known = draw.happens(share) ? draw.pick([...tableOf(draw.company).keys()]) : undefined;
  return known ?? newOrKnown(draw, tableOf, prefix);
}

/** An id of a record of another company. Two companies may use one id, each for its own. */
export function elsewhere(draw: Draw, tableOf: TableOf): string | undefined {
  const others = [...draw.world.companies.values()].filter((other) => other !== draw.company);
  return draw.pick(others.flatMap((other) => [...tableOf(other).keys()]));
}
