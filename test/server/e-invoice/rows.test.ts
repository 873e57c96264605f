import t from 'tap';

import { groupPerItem, type Rows, groupOf, xmlText } from '../../../src/server/e-invoice/rows.ts';

/** The content of a document of some rows. */
function written(rows: Rows): string {
  const [, content] =
    /^<\?xml version="1.0" encoding="UTF-8"\?>\n<r>(.*)<\/r>\n$/.exec(xmlText('r', {}, rows)) ?? [];
  return content ?? '';
}

t.test('a row is an element for each value, within those of its path', async (t) => {
  t.equal(written([['BT-1', 'a/b', '1 < 2']]), '<a><b>1 &lt; 2</b></a>');
  t.equal(written([['BT-1', 'a/b', ['1', undefined, '']]]), '<a><b>1</b></a><a><b></b></a>');
  t.equal(written([['BT-1', 'a', undefined]]), '');
});

t.test('an element has the attributes that are there', async (t) => {
  t.equal(written([['BT-1', 'a/b', '', { d: '"', e: undefined }]]), '<a><b d="&quot;"></b></a>');
  t.equal(written([['BT-1', 'a', { id: '1', scheme: '0088' }]]), '<a schemeID="0088">1</a>');
  t.equal(written([['BT-1', 'a', { id: '1' }]]), '<a>1</a>');
  const common = (path: string) => (path.endsWith('Amount') ? { in: 'EUR' } : {});
  const rows: Rows = [
    ['BT-1', 'a/Amount', '1'],
    ['BT-2', 'Amount', '2', { in: 'SEK' }],
    ['BT-3', 'b', '3'],
  ];
  const content = '<a><Amount in="EUR">1</Amount></a><Amount in="SEK">2</Amount><b>3</b>';
  t.match(xmlText('r', { xmlns: 'urn:r' }, rows, common), `<r xmlns="urn:r">${content}</r>`);
});

t.test('elements without a term are left out, whatever else is in them', async (t) => {
  const inner = (value?: string) =>
    groupOf('b', [
      ['BT-1', 'c', value],
      ['-', 'd', 'VAT'],
    ]);
  t.equal(written([groupOf('a', [inner('1')])]), '<a><b><c>1</c><d>VAT</d></b></a>');
  t.equal(written([groupOf('a', [inner()]), groupOf('e'), ['BT-2', 'f', '']]), '<f></f>');
  t.equal(written([['BT-2', 'f', ''], { ...groupOf('a', [inner()]), isRequired: true }]), '<f></f><a></a>');
});

t.test('groups stand once for each item', async (t) => {
  const items = groupPerItem('a', ['x', undefined, 'z'], (item, index) => [
    ['BT-1', 'b', item && `${index}${item}`],
  ]);
  t.equal(written([items]), '<a><b>0x</b></a><a><b>2z</b></a>');
});
