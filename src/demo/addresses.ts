import type { Country } from './people-names.ts';
import type { Random } from './random.ts';

export interface Address {
  /** Street, town and, in Ireland, county: all but the postcode. */
  lines: string[];
  postcode: string;
  countryCode: Country;
  town: string;
  geo: { lat: number; lng: number };
}

interface Town {
  name: string;
  /** Its line of an address: `Naas, Co. Kildare`. */
  line: string;
  /** An Eircode routing key, or a British outward code without its number. */
  code: string;
  /** The first and last district of a British outward code; an Eircode routing key stands alone. */
  districts: readonly [number, number];
  lat: number;
  lng: number;
}

const town = (
  line: string,
  code: string,
  districts: readonly [number, number],
  lat: number,
  lng: number,
): Town => ({
  name: line.split(',')[0] ?? line,
  line,
  code,
  districts,
  lat,
  lng,
});

const alone = [0, 0] as const;

const irishTowns: [Town, ...Town[]] = [
  town('Dublin 2', 'D02', alone, 53.338, -6.252),
  town('Dublin 6W', 'D6W', alone, 53.308, -6.302),
  town('Dublin 8', 'D08', alone, 53.337, -6.287),
  town('Dublin 12', 'D12', alone, 53.322, -6.315),
  town('Dublin 15', 'D15', alone, 53.39, -6.39),
  town('Swords, Co. Dublin', 'K67', alone, 53.459, -6.218),
  town('Bray, Co. Wicklow', 'A98', alone, 53.203, -6.098),
  town('Naas, Co. Kildare', 'W91', alone, 53.216, -6.667),
  town('Newbridge, Co. Kildare', 'W12', alone, 53.181, -6.797),
  town('Navan, Co. Meath', 'C15', alone, 53.654, -6.685),
  town('Drogheda, Co. Louth', 'A92', alone, 53.718, -6.352),
  town('Dundalk, Co. Louth', 'A91', alone, 54.001, -6.403),
  town('Portlaoise, Co. Laois', 'R32', alone, 53.033, -7.298),
  town('Carlow, Co. Carlow', 'R93', alone, 52.841, -6.926),
  town('Kilkenny, Co. Kilkenny', 'R95', alone, 52.654, -7.245),
  town('Wexford, Co. Wexford', 'Y35', alone, 52.336, -6.463),
  town('Waterford, Co. Waterford', 'X91', alone, 52.259, -7.11),
  town('Cork, Co. Cork', 'T12', alone, 51.892, -8.486),
  town('Mallow, Co. Cork', 'P51', alone, 52.139, -8.654),
  town('Killarney, Co. Kerry', 'V93', alone, 52.059, -9.504),
  town('Limerick, Co. Limerick', 'V94', alone, 52.664, -8.623),
  town('Ennis, Co. Clare', 'V95', alone, 52.844, -8.981),
  town('Galway, Co. Galway', 'H91', alone, 53.274, -9.049),
  town('Athlone, Co. Westmeath', 'N37', alone, 53.423, -7.94),
  town('Mullingar, Co. Westmeath', 'N91', alone, 53.525, -7.338),
  town('Castlebar, Co. Mayo', 'F23', alone, 53.855, -9.288),
  town('Sligo, Co. Sligo', 'F91', alone, 54.277, -8.476),
  town('Letterkenny, Co. Donegal', 'F92', alone, 54.95, -7.734),
];

const northernIrishTowns: [Town, ...Town[]] = [
  town('Belfast', 'BT', [1, 17], 54.597, -5.93),
  town('Newry', 'BT', [34, 35], 54.175, -6.34),
  town('Derry', 'BT', [47, 48], 54.997, -7.309),
];

const britishTowns: [Town, ...Town[]] = [
  town('Manchester', 'M', [1, 35], 53.481, -2.242),
  town('Liverpool', 'L', [1, 38], 53.408, -2.992),
  town('Leeds', 'LS', [1, 29], 53.801, -1.549),
  town('Birmingham', 'B', [1, 48], 52.486, -1.89),
  town('Bristol', 'BS', [1, 16], 51.455, -2.588),
  town('Cardiff', 'CF', [1, 24], 51.481, -3.179),
  town('Swansea', 'SA', [1, 9], 51.621, -3.943),
  town('Glasgow', 'G', [1, 46], 55.864, -4.252),
  town('Edinburgh', 'EH', [1, 17], 55.953, -3.188),
  town('Chester', 'CH', [1, 8], 53.193, -2.893),
  town('Carlisle', 'CA', [1, 8], 54.893, -2.933),
  town('London', 'SE', [1, 28], 51.485, -0.06),
  town('London', 'N', [1, 22], 51.58, -0.12),
];

export type Region = 'IE' | 'XI' | 'GB';

const towns: Record<Region, [Town, ...Town[]]> = {
  IE: irishTowns,
  XI: northernIrishTowns,
  GB: britishTowns,
};

const streetNames = {
  IE: [
    'Main Street',
    'Church Road',
    'Chapel Lane',
    'Canal Road',
    'Harbour View',
    'Station Road',
    'Mill Street',
    'Parnell Street',
    'Emmet Road',
    'St Brigid’s Terrace',
    'Castle Street',
    'The Orchard',
    'Bóthar na Trá',
    'Grange Park',
    'Abbey Street',
    'Riverside Drive',
  ],
  GB: [
    'High Street',
    'Victoria Road',
    'Station Road',
    'Mill Lane',
    'Queen’s Avenue',
    'Albert Street',
    'Green Lane',
    'Church Street',
    'Park Road',
    'Kingsway',
    'The Crescent',
    'Manor Drive',
    'Springfield Road',
    'Chapel Street',
  ],
} as const satisfies Record<Country, readonly [string, ...string[]]>;

const businessParks = [
  'Business Park',
  'Industrial Estate',
  'Enterprise Centre',
  'Retail Park',
  'Trade Park',
] as const;

const eircodeCharacters = '0123456789ACDEFHKNPRTVWXY';
/** The last two letters of a British postcode are none of C, I, K, M, O and V. */
const postcodeLetters = 'ABDEFGHJLNPQRSTUWXYZ';

export function address(random: Random, region: Region, premises: 'home' | 'business'): Address {
  const country = region === 'IE' ? 'IE' : 'GB';
  const place = random.pick(towns[region]);
  const road = random.pick<string>(streetNames[country]);
  const street =
    premises === 'business' && random.chance(0.4)
      ? [`Unit ${random.integer(1, 48)}`, `${road} ${random.pick(businessParks)}`]
      : [`${random.integer(1, 180)} ${road}`];
  return {
    lines: [...street, place.line],
    postcode: country === 'IE' ? eircode(random, place.code) : britishPostcode(random, place),
    countryCode: country,
    town: place.name,
    geo: { lat: nearby(random, place.lat), lng: nearby(random, place.lng) },
  };
}

function eircode(random: Random, routingKey: string): string {
  const character = () => random.character(eircodeCharacters);
  return `${routingKey} ${character()}${character()}${character()}${character()}`;
}

function britishPostcode(random: Random, { code, districts }: Town): string {
  const letters = random.character(postcodeLetters) + random.character(postcodeLetters);
  return `${code}${random.integer(...districts)} ${random.integer(1, 9)}${letters}`;
}

/** Within some two kilometres, to five digits: about a metre. */
function nearby(random: Random, degrees: number): number {
  return Math.round((degrees + random.integer(-2_000, 2_000) / 100_000) * 100_000) / 100_000;
}
