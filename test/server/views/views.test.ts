import fc from 'fast-check';
import t from 'tap';

import { html } from '../../../src/server/views/html.ts';
import { browserName, emailText } from '../../../src/server/views/formats.ts';
import { anyCharacter } from '../../_characters.ts';

t.test('a value that is put into a page is text, wherever it stands', async (t) => {
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

t.test('no text ever leaves the place where it was put', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const page = html`<p title="${text}">${text}</p>`.toString();
        return /^<p title="[^<>"]*">(?:<bdi>)?[^<>]*(?:<\/bdi>)?<\/p>$/.test(page);
      }),
    ),
  );
});

t.test('a text that turns the direction of writing does not reverse the page around it', async (t) => {
  for (const turn of '\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u202c') {
    t.equal(html`<p>By ${`Eve${turn}`} today</p>`.toString(), '<p>By Eve today</p>');
    t.equal(html`<p>${`Eve${turn} is invited.`}</p>`.toString(), '<p>Eve is invited.</p>', 'in a sentence');
    t.equal(html`<title>${`Eve${turn}`} · A</title>`.toString(), '<title>Eve · A</title>');
    const field = html`<input value="${`Eve${turn}`}" />`.toString();
    t.equal(field, `<input value="Eve${turn}" />`, 'a field gives back what it was given');
  }
  t.equal(html`<p>By ${'אבג'} 12</p>`.toString(), '<p>By <bdi>אבג</bdi> 12</p>');
  t.equal(html`<option>${'אבג'}</option>`.toString(), '<option>אבג</option>');
});

t.test('a browser has the name that its user knows', async (t) => {
  const names: [client: string, name: string][] = [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      'Safari on Mac',
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['', 'A program that doesn’t give its name'],
  ];
  for (const [client, name] of names) t.equal(browserName(client), name);
});

t.test('an email address breaks at its @', async (t) => {
  t.equal(emailText('a&b@example.com').toString(), 'a&amp;b<wbr />@example.com');
});
