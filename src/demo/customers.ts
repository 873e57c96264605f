import type { ChangeContent } from '../contract/feed.ts';
import type { Customer } from '../contract/records.ts';
import { address } from './addresses.ts';
import type { Address, Region } from './addresses.ts';
import { workingMoment } from './calendar.ts';
import { asciiName, emailAddress, fullName, personName, phoneNumber } from './people-names.ts';
import type { Country, PersonName } from './people-names.ts';
import type { Random } from './random.ts';
import type { Strand } from './strands.ts';
import { britishVatNumber, irishVatNumber } from './vat-numbers.ts';
import { mintId, type World } from './world.ts';

/** The facts that decide how a customer is invoiced and how VAT is charged. */
export type Segment =
  | 'home'
  | 'business'
  /** An Irish principal contractor: accounts for the VAT on construction itself. */
  | 'principalContractor'
  /** A British company with a building in Ireland: Irish VAT, in sterling. */
  | 'britishOwner'
  | 'britishBusiness'
  | 'northernIrishBusiness';

/** The facts that a deal with a customer needs. */
export interface DemoCustomer {
  id: string;
  segment: Segment;
  currency: string;
  siteIds: readonly string[];
  /** From then on it gets no new work. */
  isArchived: boolean;
}

const segments = [
  [48, 'home'],
  [30, 'business'],
  [9, 'principalContractor'],
  [5, 'britishOwner'],
  [4, 'britishBusiness'],
  [4, 'northernIrishBusiness'],
] as const;

// prettier-ignore
const trades = [
  'Hotels', 'Foods', 'Properties', 'Logistics', 'Pharmacy Group', 'Medical Centre', 'Motors', 'Engineering', 'Housing',
  'Crèche & Montessori', 'Dairies', 'Retail', 'Leisure', 'Printers', 'Nursing Home', 'Software',
] as const;
const building = ['Construction', 'Developments', 'Contracts', 'Builders', 'Civil Engineering'] as const;
const siteLabels = ['Head office', 'Warehouse', 'Shop', 'Plant room', 'Block B', 'Annex', 'Depot'] as const;
const contactRoles = [
  'Facilities manager',
  'Caretaker',
  'Site manager',
  'Office manager',
  'Director',
] as const;

/** Adds a customer, and sometimes changes or archives it. The first customers take the segments in turn. */
export function* customer(world: World, createdAtMs: number, foundingPlace?: number): Strand {
  const { random, census, customers } = world;
  if (!census.admit('customers')) return;
  const segment =
    foundingPlace === undefined
      ? random.weighted(segments)
      : (segments[foundingPlace % segments.length] ?? segments[0])[1];
  const saved = customerMembers(world, createdAtMs, segment);
  const { id, currency } = saved;
  const siteIds = saved.sites.map((site) => site.id);
  const known: DemoCustomer = { id, segment, currency, siteIds, isArchived: false };
  yield { change: 'customer.save', with: saved };
  customers.add(known);
  if (random.chance(0.2)) {
    yield workingMoment(createdAtMs, random.integer(1, 90), random);
    const added = furtherContact(random, saved.countryCode, 'post.example', 'Out of hours');
    yield { change: 'customer.save', with: { ...saved, contacts: [...saved.contacts, added] } };
  }
  if (foundingPlace !== undefined || !random.chance(0.08)) return;
  yield workingMoment(createdAtMs, random.integer(60, 400), random);
  known.isArchived = true;
  yield { change: 'customer.archive', with: { id } };
}

function customerMembers(world: World, createdAtMs: number, segment: Segment) {
  const { random } = world;
  const region = seatRegion(segment);
  const country: Country = region === 'IE' ? 'IE' : 'GB';
  const owner = personName(random, country);
  const seat = address(random, region, segment === 'home' ? 'home' : 'business');
  const party = segment === 'home' ? household(random, owner) : company(random, owner, country, segment);
  return {
    id: mintId(world, 'cus', createdAtMs),
    name: party.name,
    legalName: party.legalName,
    addressLines: [...seat.lines, seat.postcode],
    countryCode: country,
    vatId: party.vatId,
    email: emailAddress(owner, party.domain),
    contactName: fullName(owner),
    currency: country === 'GB' ? 'GBP' : 'EUR',
    paymentTermsDays: segment === 'home' ? random.pick([7, 14]) : random.pick([14, 30, 30, 45]),
    contacts: contacts(random, owner, country, party.domain, segment),
    sites: sites(world, createdAtMs, seat, segment),
  } satisfies ChangeContent<'customer.save'>;
}

function seatRegion(segment: Segment): Region {
  if (segment === 'northernIrishBusiness') return 'XI';
  return segment === 'britishBusiness' || segment === 'britishOwner' ? 'GB' : 'IE';
}

interface Party {
  name: string;
  legalName: string | null;
  vatId: string | null;
  domain: string;
}

function household(random: Random, owner: PersonName): Party {
  const name = random.chance(0.2) ? `The ${owner.family} family` : fullName(owner);
  return { name, legalName: null, vatId: null, domain: 'post.example' };
}

function company(random: Random, owner: PersonName, country: Country, segment: Segment): Party {
  const isContractor = segment === 'principalContractor';
  const name = `${owner.family} ${isContractor ? random.pick(building) : random.pick(trades)}`;
  const form =
    country === 'IE' ? random.pick(['Limited', 'DAC', 'Teoranta']) : random.pick(['Ltd', 'LLP', 'PLC']);
  const isRegistered = segment !== 'business' || random.chance(0.8);
  // Goods go to Northern Ireland as to a member state, for which its businesses have numbers with the prefix XI.
  const prefix = segment === 'northernIrishBusiness' ? 'XI' : 'GB';
  const vatId = country === 'IE' ? irishVatNumber(random) : britishVatNumber(random, prefix);
  return {
    name,
    legalName: `${name} ${form}`,
    vatId: isRegistered ? vatId : null,
    domain: `${asciiName(name)}.example`,
  };
}

function contacts(
  random: Random,
  owner: PersonName,
  country: Country,
  domain: string,
  segment: Segment,
): Customer['contacts'] {
  const first = {
    name: fullName(owner),
    email: emailAddress(owner, domain),
    phone: phoneNumber(random, country),
    role: segment === 'home' ? 'Owner' : 'Accounts',
    isBilling: true,
  };
  if (segment === 'home' && random.chance(0.8)) return [first];
  const role = segment === 'home' ? 'Tenant' : random.pick(contactRoles);
  return [first, furtherContact(random, country, domain, role)];
}

function furtherContact(
  random: Random,
  country: Country,
  domain: string,
  role: string,
): Customer['contacts'][number] {
  const name = personName(random, country);
  return {
    name: fullName(name),
    email: random.chance(0.8) ? emailAddress(name, domain) : null,
    phone: random.chance(0.9) ? phoneNumber(random, country) : null,
    role,
    isBilling: false,
  };
}

function sites(world: World, createdAtMs: number, seat: Address, segment: Segment): Customer['sites'] {
  const { random } = world;
  const count = segment === 'home' ? 1 : random.integer(1, 3);
  const isInIreland = segment === 'britishOwner';
  const stem = mintId(world, 'sit', createdAtMs);
  const places: Customer['sites'] = [];
  for (let place = 1; place <= count; place += 1) {
    const isSeat = place === 1 && !isInIreland;
    const where = isSeat ? seat : address(random, isInIreland ? 'IE' : seatRegion(segment), 'business');
    places.push({
      id: `${stem}.${place}`,
      label: segment === 'home' ? 'Home' : `${random.pick(siteLabels)}, ${where.town}`,
      addressLines: where.lines,
      countryCode: where.countryCode,
      postcode: where.postcode,
      geo: random.chance(0.95) ? where.geo : null,
    });
  }
  return places;
}

/** The customers that the company still deals with: a bounded number, of whom a new one displaces any other. */
export interface CustomerBook {
  add(customer: DemoCustomer): void;
  /** One that is not archived. */
  pick(): DemoCustomer | undefined;
}

export function createCustomerBook(random: Random, countMax: number): CustomerBook {
  const book: DemoCustomer[] = [];
  return {
    add(added) {
      if (book.length < countMax) book.push(added);
      else book[random.integer(0, countMax - 1)] = added;
    },
    pick() {
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const found = book[random.integer(0, book.length - 1)];
        if (found && !found.isArchived) return found;
      }
      return undefined;
    },
  };
}
