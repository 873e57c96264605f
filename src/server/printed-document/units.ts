/** Names of units whose plural is the singular, by UN/ECE Recommendation 20 code (or 21, for packages). */
const invariable = `
  4K mA, A97 hPa, BAR bar, CEL °C, CLT cl, CMK cm², CMQ cm³, CMT cm, DMT dm, DZN dozen, EA each, FTK sq ft,
  FTQ cu ft, GRM g, GRO gross, HLT hl, JOU J, KGM kg, KMH km/h, KMK km², KMT km, KTM km, KVA kVA, KWH kWh,
  KWT kW, LBR lb, MAW MW, MGM mg, MLT ml, MMK mm², MMQ mm³, MMT mm, MTK m², MTQ m³, MTS m/s, MWH MWh,
  ONZ oz, P1 per cent, WTT W, YDK sq yd`;

/** Names of units with a plural in -s, by code. */
const regular = `
  2N decibel, AMP ampere, ANN year, AS assortment, BLL barrel, C62 unit, DAY day, E48 service,
  E49 working day, E50 accounting unit, E51 job, E54 trip, E55 use, GLI gallon, GLL US gallon, H87 piece,
  HAR hectare, HUR hour, LH labour hour, LM linear metre, LO lot, LS lump sum, LTR litre, MIN minute,
  MON month, MTR metre, NAR article, NPR pair, PA packet, PK pack, PR pair, PTI pint, QAN quarter,
  QTI quart, RO roll, SEC second, SET set, SMI mile, ST sheet, STN US ton, TNE tonne, VLT volt, WEE week,
  XBG bag, XCT carton, XPK package, XPX pallet, XRL reel, XRO roll, YRD yard`;

/** Names of units with an irregular plural, by code. */
const irregular: [code: string, one: string, other: string][] = [
  ['BX', 'box', 'boxes'],
  ['FOT', 'foot', 'feet'],
  ['INH', 'inch', 'inches'],
  ['XBX', 'box', 'boxes'],
];

const words = new Map([
  ...pairsIn(invariable).map(([code, word]) => [code, [word, word]] as const),
  ...pairsIn(regular).map(([code, word]) => [code, [word, `${word}s`]] as const),
  ...irregular.map(([code, ...both]) => [code, both] as const),
]);

/** Parses a list of codes and names. */
function pairsIn(list: string): [code: string, word: string][] {
  return Array.from(list.matchAll(/(\w+) ([^,\n]+)/g), ([, code = '', word = '']) => [code, word]);
}

/** Returns the name of a unit, singular or plural to match the quantity; an unknown code is returned unchanged. */
export function unitText(unitCode: string, quantity: string): string {
  const [one, other] = words.get(unitCode) ?? [unitCode, unitCode];
  return /^-?1(?:\.0+)?$/.test(quantity) ? one : other;
}
