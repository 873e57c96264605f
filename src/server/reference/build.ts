/*
 * Builds generated/reference.html and generated/feed-reference.html: the published references, each a single file that makes
 * no requests when opened. This is a separate program, run by `make docs` and `make start`; the server only sends the files.
 * They aren't committed, because their 2.5 MB change with every word of a contract.
 *
 * Redoc 3 is used rather than Redoc 2.5: it lists webhooks under their own heading beside the operations of their tag, shows
 * response headers and the first level of a schema without a click, links to every field, has a search dialog and a dark
 * mode, and comes with the Redocly CLI, which bundles and lints the contract anyway. Its drawback is that sections are
 * rendered as they scroll into view, so the browser's own search finds only those; the search dialog finds everything.
 */
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { pageScript } from './page-script.ts';
import { addChanges, addForReaders, type ShownContract, type ShownFeed } from './reader-view.ts';
import { sampleLanguages } from './samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');

const OPTIONS = {
  // A response is an envelope; collapsed, it would show `data` and hide the record.
  schemasExpansionLevel: 1,
  // Most patterns only exclude control characters; if a value's format matters, its description says so.
  hideSchemaPattern: true,
  // Samples in languages not listed here are omitted. An event has no samples: its body is under `Payload`.
  codeSamples: { languages: [...sampleLanguages, 'Payload'].map((lang) => ({ lang })) },
};

/** Inline image in place of the credit below the menu, which Redoc would load from Redocly's servers. */
const CREDIT = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="52" height="14">' +
    '<text y="11" font-family="sans-serif" font-size="12" fill="#555">Redocly</text></svg>',
)}`;
const CREDIT_ADDRESS = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g;

const noScript = (file: string) =>
  `<noscript>This page needs JavaScript. The same can be read without: <a href="/${file}">${file}</a>.</noscript>`;

/**
 * Style sheet that corrects Redoc's own. Inline code wraps only at a space, or if it alone is longer than a line; tables
 * wider than a phone can be scrolled. A response's headers come after its body. Text has the contrast required by WCAG 2.2,
 * and titles wrap between words.
 */
const STYLE = `<style>
main :is(h1, h2, h3) { word-break: normal !important; overflow-wrap: break-word !important; }
main :has(> div > h1) { flex-wrap: wrap !important; }
main div:has(> h1) { min-width: min-content !important; }
main code { word-break: normal !important; overflow-wrap: break-word !important; }
main td code { white-space: nowrap; }
main pre, main pre code { white-space: pre-wrap !important; overflow-wrap: anywhere !important; }
.code-languages { display: flex; flex-wrap: wrap; gap: 0.25rem; margin: 1rem 0 0.5rem; }
:is(.copy-code, .code-languages button) { font: inherit; font-size: 0.8rem; padding: 0.25rem 0.6rem; border: 1px solid currentColor; border-radius: 0.25rem; background: transparent; color: inherit; cursor: pointer; }
.code-languages [aria-pressed="true"] { font-weight: 700; text-decoration: underline; }
.copy-code { display: block; margin: 0 0 0.25rem auto; }
.found-chapters { display: flex; flex-direction: column; padding: 0.5rem 1.5rem 0; }
.found-chapters a { padding: 0.4rem 0; font-weight: 600; }
.found-chapters:empty, :has(> .found-chapters:not(:empty)) [data-testid="search-message"] { display: none; }
main table.md { display: block; overflow-x: auto !important; word-break: normal !important; }
@media (max-width: 600px) { main table.md :is(th, td) { padding-inline: 0.4rem !important; } }
div:has(> div > [id*="/response&"][id$="/headers"]) { display: flex; flex-direction: column; }
div:has(> [id*="/response&"][id$="/headers"]) { order: 1; }
html.light {
  --input-content-placeholder-color: #6b6c78;
  --code-block-tokens-function-color: #945010;
  --code-block-tokens-string-color: #1f5bb8;
}
html.light .tag-get { --tag-color: #0b7040; }
html.light .tag-post { --tag-color: #1450c8; }
html.light .token.string { color: #1f5bb8 !important; }
html.light :is(main a, .button-variant-link) { color: var(--accent-light, #0f5bc4) !important; }
html.light :is(.tag-http > div, .token.boolean) { color: #0b7040 !important; }
html.dark { --input-content-placeholder-color: #a9abb8; --code-block-tokens-comment-color: #a9abb8; }
</style>`;

/**
 * Script that takes the place of the browser's storage. A server gives the page its own origin, to isolate its scripts from
 * the portal, so it has no storage or cookies. Redoc's settings, such as dark mode, then last only as long as the page.
 */
const OWN_ORIGIN = `<script>
try { localStorage } catch {
  for (const name of ['localStorage', 'sessionStorage']) {
    const kept = new Map();
    const value = {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, text) => void kept.set(key, String(text)),
      removeItem: (key) => void kept.delete(key),
    };
    Object.defineProperty(window, name, { value });
  }
  Object.defineProperty(document, 'cookie', { value: '', writable: true });
}
</script>`;

/** Reference pages, each with its contract and the version that needs no scripts. */
const PAGES: [page: string, contract: string, plain: string][] = [
  ['reference.html', 'openapi.json', 'reference.md'],
  ['feed-reference.html', 'feed.json', 'feed.json'],
];
for (const [page, contract, plain] of PAGES)
  if ((process.argv[2] ?? page) === page) buildReference(page, contract, plain);

function buildReference(name: string, source: string, plain: string): void {
  const target = join(root, 'generated', name);
  // Written elsewhere and then renamed, so that a running server never sends half a file.
  const folder = `${target}.${randomUUID()}`;
  const definition = join(folder, source);
  const page = join(folder, name);
  mkdirSync(folder, { recursive: true });
  try {
    const contract = readFileSync(join(root, 'generated', source), 'utf8');
    const bundled = JSON.parse(contract) as Contract & ShownContract & ShownFeed;
    if (source === 'feed.json') addChanges(bundled);
    else addForReaders(bundled);
    writeFileSync(definition, JSON.stringify(inlineScalars(bundled)));
    renderPage(definition, page);
    writeFileSync(page, makeSelfContained(readFileSync(page, 'utf8'), plain));
    renameSync(page, target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function renderPage(definition: string, page: string): void {
  const cli = join(root, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
  const shown = ['--inlineBundle', '--openapi', JSON.stringify(OPTIONS)];
  const build = [cli, 'build-docs', definition, '--output', page, ...shown];
  const { status, stdout, stderr } = spawnSync(process.execPath, build, {
    cwd: root,
    encoding: 'utf8',
    // "off" also disables telemetry in the built page; by default, readers' browsers would send it to Redocly.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  if (status !== 0) throw new Error(`redocly build-docs failed:\n${stdout}${stderr}`);
}

type Json = null | boolean | number | string | Json[] | JsonObject;
interface JsonObject {
  [name: string]: Json;
}
interface Contract {
  components: { schemas: Record<string, JsonObject> };
}

/**
 * Returns the contract with shared scalars, such as an amount or a date, inlined where they are used. Redoc's search indexes
 * a component only at its first use in a body, so only one of an invoice's amounts could be found by its name.
 */
function inlineScalars(contract: Contract): unknown {
  const { schemas } = contract.components;
  return JSON.parse(JSON.stringify(contract), (_key, value: Json) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    const { $ref, ...siblings } = value;
    const schema = typeof $ref === 'string' ? schemas[$ref.replace('#/components/schemas/', '')] : undefined;
    const types = [schema?.['type']].flat();
    const isScalar = schema !== undefined && !types.includes('object') && !types.includes('array');
    return isScalar ? { ...schema, ...siblings } : value;
  });
}

function makeSelfContained(page: string, plain: string): string {
  // If a new version of Redoc changes these, the build must fail, or else the page would make requests again.
  if (!page.includes('"disableTelemetry":true')) throw new Error('Redoc was built with its telemetry on');
  const [, head = '', body = '', program = ''] =
    /^([^]*?)(<div id="redoc">[^]*?)(<script type="module">[^]*)$/.exec(page) ?? [];
  // Links in the prerendered page are paths, even after the script takes over, but only a fragment can be opened in
  // another tab. The contract's own URLs, such as /openapi.yaml, contain a dot and so are kept.
  const links = body.replaceAll(/ href="(\/[^".]*)"/g, ' href="#$1"');
  const html = `${
    replace(head, /<\/head>/, `${STYLE}</head>`) + noScript(plain) + OWN_ORIGIN
  }<script>${pageScript}</script>${links}${withDefinitionAsData(replace(program, CREDIT_ADDRESS, CREDIT))}`;
  return replace(html, /<meta charset="utf8" \/>/, `<meta charset="utf-8">\n  ${seal(html)}`);
}

/**
 * Returns the page's script with the contract moved out of it, into a data element. The server can then fill in its own names
 * without changing the script, whose digest is in the policy.
 */
function withDefinitionAsData(program: string): string {
  const [, before = '', definition = '', after = ''] =
    /^([^]*const __redoc_definition = )(\{.*\})(;\n[^]*)$/.exec(program) ?? [];
  if (definition === '') throw new Error("Redoc's page has changed: the contract isn't where it was");
  return (
    `<script type="application/json" id="contract">${definition}</script>\n` +
    `${before}JSON.parse(document.getElementById('contract').textContent)${after}`
  );
}

/** Returns the page with a policy that blocks requests which Redoc may still make, even if the file is opened from disk. */
function seal(html: string): string {
  const hashes = [...html.matchAll(/<script(?: type="module")?>([^]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  const rules = [
    "default-src 'none'",
    `script-src ${hashes.join(' ')}`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${rules.join('; ')}">`;
}

function replace(text: string, pattern: RegExp, replacement: string): string {
  if (text.search(pattern) < 0) throw new Error(`Redoc's page has changed: no ${pattern.source} in it`);
  return text.replace(pattern, () => replacement);
}
