import type { Random } from './random.ts';

export type Country = 'IE' | 'GB';

export interface PersonName {
  given: string;
  family: string;
}

const givenNames = {
  IE: [
    'Aoife',
    'Ciarán',
    'Niamh',
    'Seán',
    'Siobhán',
    'Pádraig',
    'Gráinne',
    'Conor',
    'Róisín',
    'Declan',
    'Orla',
    'Eoin',
    'Sinéad',
    'Cormac',
    'Caoimhe',
    'Fergal',
    'Deirdre',
    'Liam',
    'Muireann',
    'Darragh',
    'Bríd',
    'Tadhg',
    'Clodagh',
    'Oisín',
    'Nuala',
    'Ruairí',
    'Fionnuala',
    'Brendan',
    'Maeve',
    'Cathal',
    'Una',
    'Donal',
    'Agnieszka',
    'Tomasz',
    'Chidi',
    'Ana',
    'Mihai',
    'Priya',
  ],
  GB: [
    'Oliver',
    'Amelia',
    'Harriet',
    'George',
    'Poppy',
    'Alfie',
    'Gareth',
    'Megan',
    'Rhys',
    'Isla',
    'Callum',
    'Eilidh',
    'Hamish',
    'Fiona',
    'Imogen',
    'Jack',
    'Charlotte',
    'Thomas',
    'Zara',
    'Mohammed',
    'Aisha',
    'Kwame',
    'Grace',
    'Owen',
    'Bethan',
    'Stuart',
    'Heather',
    'Nigel',
    'Ruth',
    'Simon',
    'Leanne',
    'Craig',
    'Sunita',
    'Piotr',
    'Dawn',
    'Elliot',
  ],
} as const satisfies Record<Country, readonly [string, ...string[]]>;

const familyNames = {
  IE: [
    'Murphy',
    'Kelly',
    'O’Sullivan',
    'Walsh',
    'Byrne',
    'Ryan',
    'O’Connor',
    'Doyle',
    'McCarthy',
    'Gallagher',
    'Doherty',
    'Kennedy',
    'Lynch',
    'Quinn',
    'McLoughlin',
    'O’Carroll',
    'Connolly',
    'Daly',
    'O’Connell',
    'Wilson',
    'Brennan',
    'Burke',
    'Collins',
    'Clarke',
    'Hughes',
    'Farrell',
    'Fitzgerald',
    'Nolan',
    'Ó Briain',
    'Ní Dhomhnaill',
    'Keane',
    'Power',
    'Mac Aodha',
    'Hennessy',
    'Tierney',
    'Mulligan',
    'Kowalski',
    'Popescu',
    'Okafor',
    'Silva',
  ],
  GB: [
    'Smith',
    'Jones',
    'Taylor',
    'Davies',
    'Evans',
    'Thomas',
    'Roberts',
    'Walker',
    'Wright',
    'Robinson',
    'Thompson',
    'Hughes',
    'Edwards',
    'Green',
    'Hall',
    'Wood',
    'Harris',
    'Clarke',
    'Patel',
    'Jackson',
    'Turner',
    'Hill',
    'Campbell',
    'MacDonald',
    'Stewart',
    'Fraser',
    'Murray',
    'Llewellyn',
    'Pritchard',
    'Khan',
    'Ahmed',
    'Singh',
    'Ashworth',
    'Fairclough',
    'Bamford',
    'Hargreaves',
    'Osei',
    'Nowak',
  ],
} as const satisfies Record<Country, readonly [string, ...string[]]>;

export function personName(random: Random, country: Country): PersonName {
  return {
    given: random.pick<string>(givenNames[country]),
    family: random.pick<string>(familyNames[country]),
  };
}

export function fullName({ given, family }: PersonName): string {
  return `${given} ${family}`;
}

/** Under .example, which RFC 2606 keeps from ever being anyone's. `tag` tells namesakes apart. */
export function emailAddress({ given, family }: PersonName, domain: string, tag = ''): string {
  return `${asciiName(given)}.${asciiName(family)}${tag}@${domain}`;
}

/** The letters and digits of a name without their accents, in lower case: `Ó Briain` is `obriain`. */
export function asciiName(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase();
}

/** Numbers that Ofcom and ComReg reserve for films. */
export function phoneNumber(random: Random, country: Country): string {
  const line = String(random.integer(0, 999)).padStart(3, '0');
  if (country === 'IE') return `+353 20 91${random.integer(0, 9)} ${random.integer(1, 9)}${line}`;
  return random.pick([`+44 7700 900${line}`, `+44 20 7946 0${line}`, `+44 1632 960${line}`]);
}
