// Long: a browser loads the whole reference.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import t, { type Test } from 'tap';

import { sampleLanguages } from '../../src/server/reference/samples.ts';
import { referenceFile } from '../_reference.ts';
import { axe, openBrowser } from './_browser.ts';
import {
  BASE_URL,
  type Described,
  find,
  goTo,
  insist,
  open,
  search,
  serve,
  SOON,
} from './_reference-page.ts';

const root = join(import.meta.dirname, '..', '..');

const contract = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8')) as {
  paths: Record<string, { get: Described }>;
  webhooks: Record<string, { post: Described }>;
  components: { schemas: { ErrorCode: { enum: string[] } } };
};
const operations = Object.values(contract.paths).map((item) => item.get);
const listJobs = operations.find(({ operationId }) => operationId === 'listJobs') as Described;
// A receiver knows an event by its name.
const events = Object.entries(contract.webhooks).map(([kind, { post }]) => ({ ...post, summary: kind }));
const errorCodes = contract.components.schemas.ErrorCode.enum;

/** Code that a list's sample has in this language and in no other. */
const beginnings = {
  curl: 'curl --fail-with-body',
  TypeScript: 'for await (const record of client.listJobs(',
  Python: 'from urllib.request import Request, urlopen',
  PHP: 'curl_setopt_array($request, [',
  'C#': 'using System.Net.Http.Headers;',
  Go: 'func main() {',
};

const file = referenceFile();

t.test('the published reference', async (t) => {
  const browser = await openBrowser(t);
  const address = pathToFileURL(file).href;
  /** One page for the tests that only look, because it takes seconds to be drawn. */
  const fromDisk = open(t, browser, address);
  const openJobs = async (t: Test) => {
    const { page } = await open(t, browser, address);
    await goTo(page, listJobs);
    return page;
  };

  for (const path of ['/reference', '/feed-reference'])
    t.test(`asks for nothing but itself over http at ${path}, under a strict policy`, async (t) => {
      const { url, asked } = await serve(t, path);
      const { page, requests, complaints } = await open(t, browser, url);
      if (path === '/feed-reference') {
        await goTo(page, { summary: 'Apply changes', operationId: 'applyChanges', tags: ['Feed'] });
        // A change is known by its name.
        await page.locator('main', { hasText: 'company.save' }).waitFor();
      }
      t.strictSame(asked, [`GET ${path}`]);
      t.strictSame(requests, [url]);
      t.strictSame(complaints, []);
    });

  t.test(
    'asks for nothing but itself from a disk, and shows every operation, sample and event',
    async (t) => {
      const { page, requests, complaints } = await fromDisk;
      for (const described of [...operations, ...events]) {
        await goTo(page, described);
        const [curl] = described['x-codeSamples'] ?? [];
        const [, request = ''] = /(https:[^"?\s]+)/.exec(curl?.source ?? '') ?? [];
        // It may be drawn after the heading.
        await page.locator('main', { hasText: request }).waitFor();
      }
      t.strictSame(requests, [address]);
      t.strictSame(complaints, []);
    },
  );

  t.test('a chapter of the guide is found first; its code is whole, copied, and has languages', async (t) => {
    const { url } = await serve(t);
    const { page } = await open(t, browser, url);
    await goTo(page, listJobs);
    await insist(async () => {
      await search(page, 'rate limit');
      const first = page.locator('.found-chapters a').first();
      t.equal(await first.textContent(SOON), 'Rate limit');
      await first.click(SOON);
    });
    await page.waitForURL('**#/section/rate-limit');

    for (const [words, chapter] of [
      ['pagination', 'Paging'],
      ['sandbox', 'Getting started'],
      ['idempotency', 'Errors and retries'],
      ['timeouts', 'Errors and retries'],
      ['SDK', 'Clients and tools'],
      ['delete', 'Requests and answers'],
      ['retry', 'Errors and retries'],
      ['errors', 'Errors and retries'],
      ['IP address', 'Authentication'],
    ] as const)
      await insist(async () => {
        await search(page, words);
        await page.locator('.found-chapters a', { hasText: chapter }).first().waitFor(SOON);
        t.notMatch(await page.locator('.found-chapters').textContent(SOON), /Extensions of this document/);
        t.equal(await page.getByTestId('search-message').isVisible(), false, words);
      });
    await page.goto(`${url}#/section/staying-in-sync`);
    const code = page.locator('main pre', { hasText: 'async function sync' });
    await code.waitFor();
    const isWhole = `[...document.querySelectorAll('main pre')].every((pre) => pre.scrollWidth <= pre.clientWidth)`;
    t.equal(await page.evaluate(isWhole), true);
    t.equal(await code.getAttribute('tabindex'), '0', 'the keyboard reaches it');

    await page.locator('a[href="#/webhooks"]').first().click();
    const languages = page.locator('.code-languages button');
    await languages.first().waitFor();
    t.strictSame((await languages.allTextContents()).slice(0, 5), ['Python', 'PHP', 'Ruby', 'Go', 'C#']);
    const shown = page.locator('.code-languages ~ div:visible pre[data-language]');
    t.equal(await shown.first().getAttribute('data-language'), 'python');
    await languages.getByText('Go').click();
    t.equal(await shown.first().getAttribute('data-language'), 'go');
    t.equal(await languages.getByText('Go').getAttribute('aria-pressed'), 'true');
    const copy = page.locator('.code-languages ~ div:visible .copy-code').first();
    await copy.click();
    t.equal(await copy.textContent(), 'Copied');
    t.equal(await page.evaluate('String(getSelection())'), (await shown.first().textContent())?.trimEnd());
  });

  t.test('works as a site of its own: menu, search, copying and anchors', async (t) => {
    const { url } = await serve(t);
    const { page, complaints } = await open(t, browser, url);
    t.equal(await page.evaluate('self.origin'), 'null', 'the portal beside it is another site');
    t.notMatch(await page.evaluate('document.cookie'), 'seen', 'whose cookies it cannot read');
    await goTo(page, listJobs);
    t.match(page.url(), /#\/jobs\/listjobs$/);
    // As text, because it is the browser's: the names in it aren't Node's.
    await page.evaluate(`{
      globalThis.copied = [];
      addEventListener('copy', () => copied.push(String(getSelection())), true);
    }`);
    const buttons = page.getByTestId('copy-button').locator('visible=true');
    await buttons.nth(0).click();
    await buttons.nth(1).click();
    const [address, sample] = await page.evaluate<string[]>('copied');
    t.equal(address, BASE_URL, 'the buttons copy the address of the server');
    t.match(sample, `${BASE_URL}/api/v1/`, 'and a sample');
    await find(page, 'creditBalanceMinor');
    await page.keyboard.press('Escape');
    await page.goto(`${url}#/invoices/getinvoice`);
    await page.reload();
    await page.getByRole('heading', { name: 'Get an invoice' }).waitFor();
    t.strictSame(complaints, []);
    const folder = process.env['PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, 'reference.png') });
  });

  t.test('has a place for each error code that can be linked to', async (t) => {
    const { page, complaints } = await fromDisk;
    t.equal(errorCodes.length, 14);
    for (const code of errorCodes) {
      await page.goto(`${address}#/section/errors-and-retries/${code}`);
      await page.locator(`[id="section/errors-and-retries/${code}"]`).waitFor();
    }
    await page.goto(`${address}#/section/errors-and-retries`);
    await page.locator('main table').getByRole('link', { name: 'rate_limited' }).click();
    await page.waitForURL(/#\/section\/errors-and-retries\/rate_limited$/);
    t.strictSame(complaints, []);
  });

  t.test('shows an operation in the language that is chosen', async (t) => {
    const page = await openJobs(t);
    t.strictSame(sampleLanguages, Object.keys(beginnings));
    let chosen = 'curl';
    for (const [language, beginning] of Object.entries(beginnings)) {
      await insist(async () => {
        const option = page.getByTitle(language, { exact: true });
        if (!(await option.isVisible()))
          await page.getByRole('button', { name: chosen, exact: true }).click(SOON);
        await option.click(SOON);
      });
      await page.locator('main', { hasText: beginning }).waitFor();
      chosen = language;
    }
  });

  t.test(
    'breaks no code in the middle of a word on a phone, and shows headers behind the body',
    async (t) => {
      const page = await openJobs(t);
      const isLast = await page.evaluate(`(() => {
        const { parentElement } = document.querySelector('[id*="/response&"][id$="/headers"]');
        const top = (part) => part.getBoundingClientRect().top;
        return [...parentElement.parentElement.children].every((part) => top(part) <= top(parentElement));
      })()`);
      t.equal(isLast, true);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${address}#/section/errors-and-retries`);
      await page.locator('main table').getByText('rate_limited').waitFor();
      const broken = await page.evaluate(`[...document.querySelectorAll('main td code')]
      .filter((code) => code.getClientRects().length > 1).map((code) => code.textContent)`);
      t.strictSame(broken, []);
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing sticks out');
    },
  );

  t.test('can be read by everyone', async (t) => {
    const page = await openJobs(t);
    await page.evaluate(axe);
    const serious = await page.evaluate<string[]>(`axe.run({ resultTypes: ['violations'] }).then((found) =>
      found.violations.filter(({ id, impact }) => id === 'region' || impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
    // These two are Redoc's own, in its attributes, which no style sheet can repair.
    const known = ['label-content-name-mismatch', 'scrollable-region-focusable'];
    t.strictSame(
      serious.filter((found) => !known.some((id) => found.startsWith(id))),
      [],
    );
  });

  t.test(
    'has links that can be read, in light and dark, and a title that breaks between words',
    async (t) => {
      const { page } = await open(t, browser, address);
      const contrasts = `[...document.querySelectorAll('main a')].map((link) => {
      const light = (color) => color.match(/[\\d.]+/g).slice(0, 3)
        .map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0.05);
      let ground = link;
      while (ground && /, 0\\)$/.test(getComputedStyle(ground).backgroundColor)) ground = ground.parentElement;
      const both = [light(getComputedStyle(link).color), light(getComputedStyle(ground ?? document.body).backgroundColor)];
      return Math.max(...both) / Math.min(...both);
    })`;
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.reload();
        await page.locator(`html.${colorScheme} main h1`).waitFor();
        const found = await page.evaluate<number[]>(contrasts);
        t.ok(found.length > 0 && Math.min(...found) >= 4.5, `${colorScheme}: ${Math.min(...found)}`);
      }
      await page.setViewportSize({ width: 320, height: 900 });
      const title = await page.evaluate(`(() => {
      const { firstChild } = document.querySelector('main h1');
      const word = new Range();
      word.setStart(firstChild, 0);
      word.setEnd(firstChild, firstChild.data.indexOf(' '));
      const { bottom } = document.querySelector('main h1').getBoundingClientRect();
        const copy = document.querySelector('[data-testid="page-actions"]').getBoundingClientRect();
        return { lines: word.getClientRects().length, isBelow: copy.top >= bottom };
      })()`);
      t.strictSame(title, { lines: 1, isBelow: true }, 'and covers no button');
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    },
  );

  t.test('finds a field by its name, however deep it lies', async (t) => {
    const { page } = await fromDisk;
    for (const field of ['updatedSince', 'creditBalanceMinor', 'taxableMinor', 'invalid_cursor']) {
      await find(page, field);
      t.equal(await page.getByText('No results').count(), 0, field);
      await page.keyboard.press('Escape');
    }
  });

  t.test('could not send anything anywhere if it tried', async (t) => {
    const { url, asked } = await serve(t);
    for (const from of [url, address]) {
      const { page } = await open(t, browser, from);
      asked.length = 0;
      const outcome = await page.evaluate(`{
        const target = ${JSON.stringify(url)};
        navigator.sendBeacon(target, 'seen');
        new Image().src = target;
        document.head.append(Object.assign(document.createElement('script'), { src: target }));
        document.body.append(Object.assign(document.createElement('iframe'), { src: target }));
        fetch(target).then(() => 'sent', () => 'refused');
      }`);
      t.equal(outcome, 'refused', from);
      t.strictSame(asked, [], from);
    }
  });
});
