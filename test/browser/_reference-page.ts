import express from 'express';
import { type Browser, errors, type Page } from 'playwright-core';
import type { Test } from 'tap';

import { createPublication } from '../../src/server/publication/publication.ts';
import { NO_LOOK } from '../_server.ts';
import { listen } from '../client/_service.ts';

export const BASE_URL = 'https://api.acme.test';

/** What the contract says of an operation or event. */
export interface Described {
  summary: string;
  operationId: string;
  tags: string[];
  'x-codeSamples'?: { label?: string; lang: string; source: string }[];
}

const SETTINGS = { baseUrl: () => BASE_URL, supportUrl: undefined, look: NO_LOOK, serviceName: 'Acme' };

/** Publishes it as the server does, and tells what it was asked for. */
export async function serve(t: Test, path = '/reference'): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const app = express();
  app.use((req, res, next) => {
    asked.push(`${req.method} ${req.url}`);
    // A cookie that a script could read, as careless software on the same host may leave one.
    res.set('Set-Cookie', 'seen=1; Path=/');
    next();
  });
  app.use(createPublication({ ...SETTINGS, securityContact: undefined, now: () => new Date() }));
  return { url: `${(await listen(t, app)).url}${path}`, asked };
}

/** Opens the page and notes everything it asks for, reports or throws. */
export async function open(t: Test, browser: Browser, url: string) {
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
export async function goTo(page: Page, { tags, summary }: Described): Promise<void> {
  // By its address: a chapter of the introduction may have the name of a tag.
  const tag = page.locator(`a:not(main *)[href="#/${(tags[0] ?? '').toLowerCase().replaceAll(' ', '-')}"]`);
  const entry = page.locator('a:not(main *)').getByText(summary, { exact: true });
  if (!(await entry.isVisible())) await tag.click();
  await entry.click();
  await page.getByRole('heading', { name: summary }).waitFor();
}

/** Acts again when it takes too long: a page that is still being drawn closes what a reader has opened, who opens it again. */
export async function insist(act: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await act();
      return;
    } catch (error) {
      if (!(error instanceof errors.TimeoutError) || tries === 10) throw error;
    }
  }
}

export const SOON = { timeout: 3_000 };

/** Types words into the search. */
export async function search(page: Page, words: string): Promise<void> {
  const input = page.getByPlaceholder('Search docs...');
  // Until the page's scripts run, nobody hears the key.
  if (!(await input.isVisible())) await page.keyboard.press('Control+k');
  await input.fill(words, SOON);
}

/** Searches for a field until it is found. */
export const find = (page: Page, field: string): Promise<void> =>
  insist(async () => {
    await search(page, field);
    await page.getByText(field).last().waitFor(SOON);
  });
