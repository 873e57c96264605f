import fc from 'fast-check';
import t from 'tap';

import { html } from '../../../src/portal/views/html.ts';

t.test('what is put into a page is text, wherever it stands', async (t) => {
  const evil = `<script>"'&`;
  t.equal(
    html`<p title="${evil}">${evil}</p>`.toString(),
    ['<p title="&lt;script&gt;&quot;&#39;&amp;">', '&lt;script&gt;&quot;&#39;&amp;</p>'].join(''),
  );
});

t.test('pieces are put in as they are, in lists too, and what is not there leaves nothing', async (t) => {
  const list = ['<a>', html`<b>b</b>`, 3, [html`<i>${'<'}</i>`]];
  t.equal(html`[${list}]${false}${null}${undefined}${0}${''}`.toString(), '[&lt;a&gt;<b>b</b>3<i>&lt;</i>]0');
});

t.test('nothing that looks like a piece is taken for one', async (t) => {
  const pretender = { toString: () => '<script>' } as unknown as string;
  const list = Object.assign(['<script>'], { toString: () => '<script>' });
  t.notMatch(html`${list}`.toString(), /<script>/);
  t.throws(() => html`${pretender}`.toString());
});

t.test('no text ever leaves the place where it was put', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const page = html`<p title="${text}">${text}</p>`.toString();
      return /^<p title="[^<>"]*">[^<>]*<\/p>$/.test(page);
    }),
  );
});
