import t from 'tap';

import { problemOfVatNumber } from '../../src/contract/vat-numbers.ts';

const isVatNumber = (vatId: string) => problemOfVatNumber(vatId) === undefined;

/** Numbers with right check digits, in every form that their countries give out. */
const valid: Record<string, string[]> = {
  AT: ['ATU13585627'],
  BE: ['BE0428759497', 'BE0403019261', 'BE1000022785'],
  // Of companies; those of persons follow below.
  BG: ['BG175074752', 'BG831919536'],
  CY: ['CY10259033P'],
  CZ: ['CZ25123891', 'CZ46505334', 'CZ7103192745', 'CZ640903926'],
  DE: ['DE136695976'],
  DK: ['DK13585628'],
  EE: ['EE100931558'],
  EL: ['EL094259216'],
  ES: ['ESB58378431', 'ES54362315K', 'ESX5253868R', 'ESJ99216582'],
  FI: ['FI20774740'],
  FR: ['FR40303265045', 'FR83404833048', 'FRK7399859412', 'FR11123456782'],
  // Nine digits of both series, with a branch, a government department, a health authority.
  GB: ['GB980780684', 'GB220430231', 'GB123456782', 'GB123456727', 'GB980780684001', 'GBGD001', 'GBHA500'],
  HR: ['HR33392005961'],
  HU: ['HU12892312'],
  // From before 2013, since then, of individuals, and the oldest ones.
  IE: ['IE6388047V', 'IE6433435F', 'IE6433435OA', 'IE3668997OH', 'IE3519084GH', 'IE8D79739I', 'IE1234567T'],
  IT: ['IT00743110157'],
  LT: ['LT119511515', 'LT100001919017'],
  LU: ['LU15027442', 'LU26375245'],
  LV: ['LV40003521600'],
  MT: ['MT11679112'],
  NL: ['NL004495445B01', 'NL000099998B57', 'NL123456789B13'],
  PL: ['PL8567346215'],
  PT: ['PT501964843'],
  RO: ['RO18547290'],
  SE: ['SE123456789701', 'SE556012579001'],
  SI: ['SI50223054'],
  SK: ['SK2022749619'],
  XI: ['XI980780684', 'XI123456782', 'XI123456727', 'XIGD001'],
};

for (const [prefix, numbers] of Object.entries(valid)) {
  t.test(`VAT numbers of ${prefix}`, async (t) => {
    for (const vatId of numbers) {
      t.ok(isVatNumber(vatId), vatId);
      const number = vatId.slice(2);
      const spaced = `${number.slice(0, 3)} ${number.slice(3)}`;
      const wrong = ['', '0', '00', `${number}00`, ` ${number}`, vatId, spaced];
      // Departments, health authorities and branches have no check digit.
      const isChecked = !/GD|HA|GB\d{12}/.test(vatId);
      if (isChecked)
        wrong.push(number.replace(/\d(?=B\d\d$|\D*$)/, (digit) => String((Number(digit) + 1) % 10)));
      for (const other of wrong) t.notOk(isVatNumber(prefix + other), prefix + other);
    }
  });
}

const words = (text: string) => text.trim().split(/\s+/);

t.test('IE00 and BG1234567890 are no VAT numbers', async (t) => {
  const wrong = words(`
    IE00 IE6388047W IE1111111A IE6388047v GB123456789 GBGD500 GBHA499
    BG1234567890 BG8001011237 BG7523169262 BG8032056030 BG7111042922 BG4503120006
  `);
  for (const vatId of wrong) t.notOk(isVatNumber(vatId), vatId);
});

t.test(
  'a Bulgarian has a VAT number, whether born in 1875, 1880, 1945, 1980 or 2075, and so has a foreigner',
  async (t) => {
    const born = words('BG7523169263 BG8032056031 BG4503120005 BG8001011236 BG7542011030');
    for (const vatId of [...born, 'BG7111042925', 'BG4503120009']) t.ok(isVatNumber(vatId), vatId);
  },
);

t.test('the numbers of other countries are taken as they are', async (t) => {
  for (const vatId of ['CHE123456788MWST', 'NO00', 'US']) t.ok(isVatNumber(vatId), vatId);
});

t.test('GR00 and UK980780684 are refused with the prefix that belongs there', async (t) => {
  for (const vatId of ['GR00', 'GR094259216']) {
    t.equal(problemOfVatNumber(vatId), 'must begin with EL instead of GR', vatId);
  }
  t.equal(problemOfVatNumber('UK980780684'), 'must begin with GB instead of UK');
  t.equal(problemOfVatNumber('IM003284123'), 'must begin with GB instead of IM');
  t.equal(problemOfVatNumber('MC00'), 'must begin with FR instead of MC');
});

t.test('a prefix that no country has is refused', async (t) => {
  for (const vatId of ['XX12', 'EU372000041', 'gb980780684', '9807', '']) {
    t.equal(problemOfVatNumber(vatId), "doesn't begin with the code of a country", vatId);
  }
});
