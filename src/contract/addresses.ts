/** An address as the caller gives it, with the town and postcode either in fields of their own or in the lines. */
export interface GivenAddress {
  addressLines?: readonly string[] | undefined;
  town?: string | undefined;
  region?: string | undefined;
  postcode?: string | null | undefined;
}

type Place = Pick<GivenAddress, 'town' | 'region' | 'postcode'>;

/** Matches Eircodes (S.I. 300 of 2015: a routing key, such as D6W, and a unique identifier) and UK postcodes (BS 7666). */
const POSTCODE =
  /(?:^|[\s,]+)((?:[AC-FHKNPRTV-Y]\d\d|D6W)\s?[0-9AC-FHKNPRTV-Y]{4}|[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2})$/;
const COUNTY = /^(?:co\.?|county)\s/i;

/**
 * Returns the town, county and postcode of an address: the given fields, or else those read from its last lines. The lines
 * are read only if they end in an Eircode or a British postcode; otherwise, nothing shows which line is the town.
 */
export function townOf({ addressLines = [], town, region, postcode }: GivenAddress): Place {
  if (town !== undefined || postcode) return { town, region, postcode };
  const found = placeIn(addressLines.map((line) => line.trim()));
  return { ...found, region: region ?? found.region };
}

function placeIn(lines: string[]): Place {
  const last = lines.pop() ?? '';
  const [end = '', postcode] = POSTCODE.exec(last) ?? [];
  if (postcode === undefined) return {};
  if (end !== last) lines.push(last.slice(0, -end.length));
  const region = COUNTY.test(lines.at(-1) ?? '') ? lines.pop() : undefined;
  return { town: lines.pop(), region, postcode };
}

/** Returns the lines of an address without those that repeat its town, county or postcode. */
export function linesBeside({ addressLines = [], town, region, postcode }: GivenAddress): string[] {
  const lines = addressLines.map((line) => line.replace(/\s+/g, ' ').trim()).filter((line) => line !== '');
  // Without a town, the lines are the whole address.
  if (town === undefined) return lines;
  for (const part of [postcode, region, town]) {
    const last = lines.at(-1);
    if (!part || last?.endsWith(part) !== true) continue;
    const rest = last.slice(0, -part.length);
    // 'Upper Galway' isn't in Galway, but 'Galway H91 E2V8' is.
    if (!(part === postcode ? /^$|[\s,]$/ : /^$|,\s*$/).test(rest)) continue;
    const kept = rest.replace(/[\s,]+$/, '');
    lines.splice(-1, 1, ...(kept === '' ? [] : [kept]));
  }
  return lines;
}

/** Returns the lines of an address as printed on paper, with its town, county and postcode appearing only once. */
export function writtenLines(address: GivenAddress): string[] {
  const { addressLines = [], town, region, postcode } = address;
  if (linesBeside(address).length < addressLines.length) return [...addressLines];
  return [...addressLines, town, region, postcode].filter((line) => typeof line === 'string');
}
