import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';

import { EMAIL, PASSWORD, type TestPortal } from '../server/portal/_portal.ts';
import { axe } from './_browser.ts';

/** The folder where pictures of pages go, for somebody who wants to look at them: they take a sixth of the time. */
const pictures = process.env.PICTURES;

/** How a page is looked at. */
const looks = {
  light: { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 375, height: 844 } },
} as const;

/** The widths of windows: phones, a tablet upright, and laptops; 320 and 720 are laptops whose pages are larger (WCAG 2.2, 1.4.10). */
const WIDTHS = [320, 375, 720, 768, 834, 1024, 1440];

/** A browser window on the portal that notes everything a page does that it should not. */
export interface PortalWindow {
  page: Page;
  context: BrowserContext;
  /** Opens a page of the portal. */
  open: (path: string) => Promise<void>;
  /** Requests to elsewhere, errors and complaints of pages so far, such as breaches of the policy; empty when all is well. */
  complaints: string[];
}

/** Opens a window as in the light, signed in unless told otherwise, until the test ends. */
export async function openWindow(
  t: Test,
  { browser, portal }: { browser: Browser; portal: TestPortal },
  { javaScript = true, signIn = true }: { javaScript?: boolean; signIn?: boolean } = {},
): Promise<PortalWindow> {
  const context = await browser.newContext({
    ...looks.light,
    baseURL: portal.url,
    javaScriptEnabled: javaScript,
  });
  t.teardown(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== portal.url) complaints.push(`asks for ${request.url()}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A refusal that a test provokes is told by the browser too.
    const isStatus = /^Failed to load resource: the server responded/.test(message.text());
    if (['error', 'warning'].includes(message.type()) && !isStatus) complaints.push(message.text());
  });
  const open = async (path: string) => {
    await page.goto(path);
  };
  if (signIn) {
    await open('/portal/sign-in');
    await signInOn(page);
    // Not its address alone, which the browser has before it has the page.
    await heading(page, 'Overview');
  }
  return { page, context, open, complaints };
}

/** Fills in fields by their labels, and presses a button. */
export async function fillIn(page: Page, fields: Record<string, string>, button: string): Promise<void> {
  for (const [label, value] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(value);
  await press(page, button);
}

export const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();
export const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name }).waitFor();

/** Signs in on the page that is shown; another page than the overview follows where there is something to choose. */
export const signInOn = (page: Page, password = PASSWORD): Promise<void> =>
  fillIn(page, { 'Email address': EMAIL, Password: password }, 'Sign in');

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string }[] }[];
}

/** The rules that a page is held to. */
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * The violations that axe-core finds in the page, each with the elements that it is about.
 * @param rules standards, or single rules.
 */
export async function axeViolations(page: Page, rules: readonly string[] = STANDARDS): Promise<string[]> {
  // Evaluated by the browser's debugger, so that the page's own policy stays as it is; once for each page.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe);
  const result = await page.evaluate<AxeResult>(
    `axe.run(document, {
      runOnly: ${JSON.stringify(rules)},
      // It would put together where everything else is as well.
      resultTypes: ['violations'],
    })`,
  );
  return result.violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

/** Keeps a picture of the whole page, if anybody wants to look at it. */
export async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

/**
 * What isn't whole in the page as it is shown: a page wider than its window, text beyond the edges of the window or of its cell,
 * and words that break though their line has room for them. A word of a cell doesn't break either where its column is narrower
 * than it, unless it is very long.
 */
const FIND_BROKEN = `(() => {
  const found = new Set();
  if (document.documentElement.scrollWidth > innerWidth)
    found.add('the page is ' + document.documentElement.scrollWidth + ' wide');
  const unseen = [...document.querySelectorAll('.hidden, .skip, thead')]
    .filter((element) => getComputedStyle(element).clipPath !== 'none');
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const linesOf = (index, length) => {
    const range = new Range();
    range.setStart(texts.currentNode, index);
    range.setEnd(texts.currentNode, index + length);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const isBroken = (lines) => lines.some(({ top }) => top > lines[0].bottom - 2);
  while (texts.nextNode()) {
    const { data, parentElement: element } = texts.currentNode;
    if (!element.checkVisibility() || unseen.some((other) => other.contains(element))) continue;
    const cell = element.closest('td, th');
    const edges = (cell ?? document.documentElement).getBoundingClientRect();
    let block = element;
    while (getComputedStyle(block).display === 'inline') block = block.parentElement;
    const { paddingLeft, paddingRight } = getComputedStyle(block);
    const lineWidth = block.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    for (const { 0: word, index } of data.matchAll(/\\S+/g)) {
      const lines = linesOf(index, word.length);
      if (lines.some(({ left, right }) => left < edges.left - 1 || right > edges.right + 1))
        found.add('cut off: ' + word);
      const isLong = lines.reduce((sum, { width }) => sum + width, 0) > lineWidth - 1;
      if (!isBroken(lines) || (isLong && !(cell && word.length < 25))) continue;
      // A line may break after a hyphen or a question mark, but not where an id stands.
      const isId = /\\d/.test(word) && element.closest('td, dd, h1');
      for (const { 0: part, index: at } of isId ? [{ 0: word, index: 0 }] : word.matchAll(/[^-?]+/g))
        if (isBroken(linesOf(index + at, part.length))) found.add('broken: ' + part);
    }
  }
  return [...found];
})()`;

/** Looks for what isn't whole in windows of every width; the window is as it was afterwards. */
async function brokenIn(page: Page, widths: readonly number[] = WIDTHS): Promise<string[]> {
  const before = page.viewportSize();
  const found: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const broken = await page.evaluate<string[]>(FIND_BROKEN);
    found.push(...broken.map((text) => `${width}: ${text}`));
  }
  if (before) await page.setViewportSize(before);
  return found;
}

/**
 * Looks at the page as it is now in every way that it is seen in: light, dark and in windows of every width. It has one heading of
 * the first level, nothing that isn't whole and nothing that axe-core objects to. The window is as it was afterwards.
 * @param name says which page it is, also to its pictures.
 */
export async function lookAt(t: Test, { page }: Pick<PortalWindow, 'page'>, name: string): Promise<void> {
  t.equal(await page.getByRole('heading', { level: 1 }).count(), 1, `${name} has one heading`);
  for (const [look, { colorScheme, viewport }] of Object.entries(looks)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    // Another scheme has other colours, some of which would change slowly.
    await page.evaluate('for (const animation of document.getAnimations()) animation.cancel()');
    await picture(page, `${name}-${look}`);
    // In the dark a page has other colours, and nothing else.
    const violations = await axeViolations(page, look === 'dark' ? ['color-contrast'] : STANDARDS);
    t.strictSame(violations, [], `axe-core finds nothing wrong with ${name} (${look})`);
  }
  await page.setViewportSize(looks.light.viewport);
  t.strictSame(await brokenIn(page), [], `${name} is whole in every window`);
}

const OPEN_ALL = "for (const details of document.querySelectorAll('details')) details.open = true";

/**
 * Looks at pages, also with all that can be opened, and without scripts. They ask for nothing elsewhere, and the browser has no
 * complaint.
 * @param paths the pages, by a name for their pictures.
 */
export async function lookAtPages(
  t: Test,
  { browser, portal }: { browser: Browser; portal: TestPortal },
  paths: Readonly<Record<string, string>>,
  options: { signIn?: boolean } = {},
): Promise<void> {
  for (const javaScript of [true, false]) {
    const window = await openWindow(t, { browser, portal }, { ...options, javaScript });
    const { page, open, complaints } = window;
    for (const [name, path] of Object.entries(paths)) {
      await open(path);
      if (!javaScript) {
        t.equal(await page.getByRole('heading', { level: 1 }).count(), 1, `${name} is there without scripts`);
        continue;
      }
      await lookAt(t, window, name);
      await page.evaluate(OPEN_ALL);
      const opened = await brokenIn(page, [320, 375, 834, 1440]);
      t.strictSame(opened, [], `${name} is whole with all that can be opened`);
    }
    const how = javaScript ? 'with' : 'without';
    t.strictSame(complaints, [], `nothing is asked for elsewhere and nothing complains ${how} scripts`);
  }
}
