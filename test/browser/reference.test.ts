import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import express from 'express';
import { errors } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import type { Test } from 'tap';
import { createPublication } from '../../src/server/publication/publication.ts';
import { sampleLanguages } from '../../src/server/reference/samples.ts';
import { referenceFile } from '../_reference.ts';
import { NO_LOOK } from '../_server.ts';
import { openBrowser } from './_browser.ts';

const root = join(import.meta.dirname, '..', '..');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const BASE_URL = 'https://api.acme.test';

interface Described {
  summary: string;
  operationId: string;
  tags: string[];
  'x-codeSamples'?: { label?: string; lang: string; source: string }[];
}

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
const beginnings = new Map([
  ['curl', 'curl --fail-with-body'],
  ['TypeScript', 'for await (const record of client.listJobs('],
  ['Python', 'from urllib.request import Request, urlopen'],
  ['PHP', 'curl_setopt_array($request, ['],
  ['C#', 'using System.Net.Http.Headers;'],
  ['Go', 'func main() {'],
]);

const file = referenceFile();

/** Publishes it as the server does, and tells what it was asked for. */
const NOTHING_ELSE = {
  supportUrl: undefined,
  look: NO_LOOK,
  securityContact: undefined,
  now: () => new Date(),
};

async function serve(t: Test, path = '/reference'): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const app = express();
  app.use((req, res, next) => {
    asked.push(`${req.method} ${req.url}`);
    // A cookie that a script could read, as careless software on the same host may leave one.
    res.set('Set-Cookie', 'seen=1; Path=/');
    next();
  });
  app.use(createPublication({ baseUrl: () => BASE_URL, ...NOTHING_ELSE, serviceName: 'Acme' }));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, asked };
}

/** Opens the page and notes everything it asks for, reports or throws. */
async function open(t: Test, browser: Browser, url: string) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
  t.teardown(() => page.close());
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    // A worker's script and a font inside the page are the page itself.
    if (!/^(blob|data):/.test(request.url())) requests.push(request.url());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return { page, requests, complaints };
}

/** Goes to an operation or event the way a reader does: its tag in the menu, then its own line there. */
async function goTo(page: Page, { tags, summary }: Described): Promise<void> {
  // By its address: a chapter of the introduction may have the name of a tag.
  const tag = page.locator(`a:not(main *)[href="#/${(tags[0] ?? '').toLowerCase().replaceAll(' ', '-')}"]`);
  const entry = page.locator('a:not(main *)').getByText(summary, { exact: true });
  if (!(await entry.isVisible())) await tag.click();
  await entry.click();
  await page.getByRole('heading', { name: summary }).waitFor();
}

/** Acts again when it takes too long: a page that is still being drawn closes what a reader has opened, who opens it again. */
async function insist(act: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await act();
      return;
    } catch (error) {
      if (!(error instanceof errors.TimeoutError) || tries === 10) throw error;
    }
  }
}

const SOON = { timeout: 3_000 };

/** Types words into the search. */
async function search(page: Page, words: string): Promise<void> {
  const input = page.getByPlaceholder('Search docs...');
  // Until the page's scripts run, nobody hears the key.
  if (!(await input.isVisible())) await page.keyboard.press('Control+k');
  await input.fill(words, SOON);
}

/** Searches for a field until it is found. */
const find = (page: Page, field: string): Promise<void> =>
  insist(async () => {
    await search(page, field);
    await page.getByText(field).last().waitFor(SOON);
  });

t.test('the published reference', async (t) => {
  const browser = await openBrowser(t);
  const address = pathToFileURL(file).href;
  /** One page for the tests that only look, because it takes seconds to be drawn. */
  const fromDisk = open(t, browser, address);
  const lookAtJobs = async () => {
    const { page } = await fromDisk;
    await page.setViewportSize({ width: 1440, height: 1000 });
    await goTo(page, listJobs);
    return page;
  };

  t.test('asks for nothing but itself over http, under a strict policy', async (t) => {
    const { url, asked } = await serve(t);
    const { requests, complaints } = await open(t, browser, url);
    t.strictSame(asked, ['GET /reference']);
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

  t.test("the feed's reference asks for nothing else either, and shows changes by their names", async (t) => {
    const { url, asked } = await serve(t, '/feed-reference');
    const { page, requests, complaints } = await open(t, browser, url);
    await goTo(page, { summary: 'Apply changes', operationId: 'applyChanges', tags: ['Feed'] });
    await page.locator('main', { hasText: 'company.save' }).waitFor();
    t.strictSame(asked, ['GET /feed-reference']);
    t.strictSame(requests, [url]);
    t.strictSame(complaints, []);
  });

  t.test('a search for a chapter of the guide finds it first, and leads to it', async (t) => {
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
  });

  t.test('code of the guide is whole at 1440 pixels, and is reached by the keyboard', async (t) => {
    const { url } = await serve(t);
    const { page } = await open(t, browser, `${url}#/section/staying-in-sync`);
    const code = page.locator('main pre', { hasText: 'async function sync' });
    await code.waitFor();
    const isWhole = `[...document.querySelectorAll('main pre')].every((pre) => pre.scrollWidth <= pre.clientWidth)`;
    t.equal(await page.evaluate(isWhole), true);
    t.equal(await code.getAttribute('tabindex'), '0');
  });

  t.test('code of the guide can be copied, and is chosen by its language', async (t) => {
    const { url } = await serve(t);
    const { page } = await open(t, browser, url);
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
    const page = await lookAtJobs();
    t.strictSame(sampleLanguages, [...beginnings.keys()]);
    let chosen = 'curl';
    for (const [language, beginning] of beginnings) {
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
      const page = await lookAtJobs();
      // As text, because it is the browser's: the names in it aren't Node's.
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
    const page = await lookAtJobs();
    await page.evaluate(axe);
    const serious = await page.evaluate<string[]>(`axe.run({ resultTypes: ['violations'] }).then((found) =>
      found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
    // These two are Redoc's own, in its attributes, which no style sheet can repair.
    const known = ['label-content-name-mismatch', 'scrollable-region-focusable'];
    t.strictSame(
      serious.filter((found) => !known.some((id) => found.startsWith(id))),
      [],
    );
  });

  t.test('finds a field by its name, however deep it lies', async (t) => {
    const page = await lookAtJobs();
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
      // As text, because it is the browser's: the names in it aren't Node's.
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
