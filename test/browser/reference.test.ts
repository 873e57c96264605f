import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import type { Test } from 'tap';
import { openBrowser } from './_browser.ts';

const root = join(import.meta.dirname, '..', '..');

/** What the server sends with the page, the weakest policy that it needs; the page itself carries a stricter one. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; worker-src blob:";

interface Described {
  summary: string;
  operationId: string;
  tags: string[];
  'x-codeSamples'?: { label?: string; lang: string; source: string }[];
}

const contract = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8')) as {
  paths: Record<string, { get: Described }>;
  webhooks: Record<string, { post: Described }>;
};
const operations = Object.values(contract.paths).map((item) => item.get);
const events = Object.values(contract.webhooks).map((item) => item.post);

const file = join(t.testdir(), 'reference.html');
execFileSync(process.execPath, [join(root, 'src', 'reference', 'build.ts'), file]);

/** Serves the file alone, and tells what it was asked for. */
async function serve(t: Test): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method ?? ''} ${req.url ?? ''}`);
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('Content-Type', 'text/html');
    res.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/reference`, asked };
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

async function search(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Search docs...').fill(words);
}

t.test('the published reference', async (t) => {
  const browser = await openBrowser(t);

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
      const url = pathToFileURL(file).href;
      const { page, requests, complaints } = await open(t, browser, url);
      for (const described of [...operations, ...events]) {
        await goTo(page, described);
        for (const { lang, source } of described['x-codeSamples']?.slice(0, 1) ?? []) {
          const [line = ''] = source.split('\n');
          // It may be drawn after the heading.
          await page.locator('main', { hasText: line }).waitFor();
          const text = await page.locator('main').innerText();
          t.ok(text.includes(line), `${described.operationId} in ${lang}`);
        }
      }
      t.equal(operations.length, 12);
      t.equal(events.length, 10);
      t.strictSame(requests, [url]);
      t.strictSame(complaints, []);
    },
  );

  t.test('finds a field by its name, however deep it lies', async (t) => {
    const { page } = await open(t, browser, pathToFileURL(file).href);
    for (const field of ['updatedSince', 'creditBalanceMinor', 'taxableMinor', 'invalid_cursor']) {
      await search(page, field);
      await page.getByText(field).last().waitFor();
      t.equal(await page.getByText('No results').count(), 0, field);
      await page.keyboard.press('Escape');
    }
  });

  t.test('could not send anything anywhere if it tried', async (t) => {
    const { url, asked } = await serve(t);
    for (const address of [url, pathToFileURL(file).href]) {
      const { page } = await open(t, browser, address);
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
      t.equal(outcome, 'refused', address);
      t.strictSame(asked, [], address);
    }
  });
});
