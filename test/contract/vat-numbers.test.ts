import t from 'tap';

import { isVatNumber } from '../../src/contract/vat-numbers.ts';

/** Numbers with right check digits, in every form that their countries give out. */
const valid: Record<string, string[]> = {
  AT: ['ATU13585627'],
  BE: ['BE0428759497', 'BE0403019261', 'BE1000022785'],
  BG: ['BG175074752'],
  CY: ['CY10259033P'],
  CZ: ['CZ25123891', 'CZ46505334', 'CZ7103192745'],
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

t.test('IE00 is no VAT number', async (t) => {
  for (const vatId of [
    'IE00',
    'IE6388047W',
    'IE1111111A',
    'IE6388047v',
    'GB123456789',
    'GBGD500',
    'GBHA499',
  ]) {
    t.notOk(isVatNumber(vatId), vatId);
  }
});

t.test('the numbers of other countries are taken as they are', async (t) => {
  for (const vatId of ['CHE123456788MWST', 'NO00', 'US', '', 'GR094259216']) t.ok(isVatNumber(vatId), vatId);
});
