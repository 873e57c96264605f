import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { type RequestHandler, Router } from 'express';
import { stringify } from 'yaml';

import {
  bundledContract,
  bundledFeed,
  clientFile,
  feedReferenceFile,
  isReferenceBuilt,
  referenceFile,
} from '../../contract/document.ts';
import { DAY_MS } from '../../contract/durations.ts';
import { version } from '../../contract/version.ts';
import { AppError } from '../../errors.ts';
import type { VendorLook } from '../process/vendor-look.ts';
import { changelogFeed, changelogPage } from './changelog.ts';
import { openapi30 } from './openapi-30.ts';
import { llmsText } from './llms-text.ts';
import { plainPagePolicy, withLook } from './plain-page.ts';
import { createPublishedText, type HeadersOf, type Published } from './published-text.ts';
import { referenceMarkdown } from './reference-markdown.ts';
import { workflowFiles, workflowsPage, workflowText } from './workflows.ts';

export interface PublicationOptions {
  /** Returns the base URL for integrators; called only once the server is listening. */
  baseUrl: () => string;
  /** URL where integrators get help; undefined for the base URL. */
  supportUrl: string | undefined;
  serviceName: string;
  look: VendorLook;
  /** Contact for reports of security vulnerabilities; undefined for a service without security.txt. */
  securityContact: string | undefined;
  now: () => Date;
}

type PublishedAt = [path: string, mediaType: string, make: () => Published, headersOf?: HeadersOf];

/**
 * Returns the router for all published files: the API's contract in both notations, its reference as a page and as Markdown,
 * workflows, the client and the changelog, and the feed's contract and reference. Each is generated at its first request, so
 * as not to delay startup.
 */
export function createPublication(options: PublicationOptions): Router {
  const own = (text: string) => asConfigured(text, options);
  const contract = () => JSON.parse(own(bundledContract())) as object;
  const json = (make: () => object) => () => own(JSON.stringify(make()));
  const page = (text: string) => own(withLook(text, options.look));
  const plainPage = () => ({ 'Content-Security-Policy': plainPagePolicy });
  const texts: PublishedAt[] = [
    ['/openapi.json', 'application/json', () => JSON.stringify(contract())],
    ['/openapi.yaml', 'application/yaml', () => stringify(contract())],
    ['/openapi-3.0.json', 'application/json', json(openapi30)],
    client('/client.tgz', clientName, clientFile),
    client(`/client-${version}.tgz`, clientName, clientFile),
    [
      '/reference',
      'text/html',
      () => page(built(referenceFile, 'reference', 'docs').toString()),
      referenceHeaders(
        '</reference.md>; rel="alternate"; type="text/markdown"',
        '</openapi.json>; rel="service-desc"; type="application/json"',
      ),
    ],
    ['/feed.json', 'application/json', json(() => JSON.parse(bundledFeed()) as object)],
    [
      '/feed-reference',
      'text/html',
      () => page(built(feedReferenceFile, 'reference of the feed', 'docs').toString()),
      referenceHeaders('</feed.json>; rel="service-desc"; type="application/json"'),
    ],
    ['/reference.md', 'text/markdown', () => own(referenceMarkdown())],
    ['/llms.txt', 'text/plain', () => own(llmsText())],
    ['/changelog', 'text/html', () => page(changelogPage()), plainPage],
    ['/changelog.atom', 'application/atom+xml', () => own(changelogFeed(options.baseUrl()))],
    ['/workflows/', 'text/html', () => page(workflowsPage()), plainPage],
  ];
  for (const file of workflowFiles)
    texts.push([`/workflows/${file}`, 'application/yaml', () => own(workflowText(file))]);
  for (const name of globSync('*.tgz', { cwd: fileURLToPath(earlierClients) }))
    texts.push(client(name.replace('fieldledger-', '/'), name, new URL(name, earlierClients)));
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, ...text] of texts) router.get(path, createPublishedText(...text));
  if (options.securityContact !== undefined)
    router.get('/.well-known/security.txt', showSecurityText(options));
  // This path leads to a description of the API even if the reference hasn't been built.
  router.get('/', (_req, res) => {
    res.redirect(302, isReferenceBuilt() ? '/reference' : '/openapi.json');
  });
  return router;
}

/** Returns a handler that serves security.txt (RFC 9116), which expires about half a year after the request. */
function showSecurityText({ baseUrl, securityContact, now }: PublicationOptions): RequestHandler {
  return (_req, res) => {
    const expiresAt = new Date(now().getTime() + 180 * DAY_MS);
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${expiresAt.toISOString().slice(0, 10)}T00:00:00Z`,
      `Canonical: ${baseUrl()}/.well-known/security.txt`,
    ];
    res
      .set('Cache-Control', 'no-cache')
      .type('text/plain')
      .send(`${lines.join('\n')}\n`);
  };
}

/** Returns the headers of a reference page: its policy, and links to machine-readable versions (RFC 8288, RFC 8631). */
function referenceHeaders(...links: string[]): HeadersOf {
  return (page) => ({ 'Content-Security-Policy': policyOf(page), Link: links.join(', ') });
}

/**
 * Returns a text of the contract with the configured names and URLs instead of its own, in samples and prose as well as under
 * `servers`. The settings don't allow characters that JSON or HTML would escape.
 */
function asConfigured(text: string, { baseUrl, supportUrl, serviceName }: PublicationOptions): string {
  const { info, servers } = JSON.parse(bundledContract()) as OwnNames;
  const configured: Record<string, string> = {
    [info.title.replace(/ API$/, '')]: serviceName,
    [servers[0].url]: baseUrl(),
    [info.contact.url]: supportUrl ?? baseUrl(),
  };
  // In names and URLs, only the dot is special in a regular expression.
  const own = Object.keys(configured).join('|').replaceAll('.', '\\.');
  return text.replaceAll(new RegExp(own, 'g'), (name) => configured[name] ?? name);
}

/** The names and URLs of the service as the contract states them. */
interface OwnNames {
  info: { title: string; contact: { url: string } };
  servers: [{ url: string }];
}

const clientName = `fieldledger-client-${version}.tgz`;

/** Folder with the client packages of earlier releases, unchanged because integrators' lock files contain their digests. */
const earlierClients = new URL('clients/', import.meta.url);

function client(path: string, name: string, file: URL): PublishedAt {
  const headers = { 'Content-Disposition': `attachment; filename="${name}"` };
  return [path, 'application/gzip', () => built(file, 'client', 'client'), () => headers];
}

/** Returns a generated file, which a release includes but a checkout must build with `make`. */
function built(file: URL, what: string, target: string): Buffer {
  if (existsSync(file)) return readFileSync(file);
  throw new AppError('not_found', `The ${what} has not been built; "make ${target}" builds it.`);
}

/**
 * Returns a reference page's own Content Security Policy, which allows only its own scripts and no requests, plus a sandbox.
 * The sandbox gives the page its own origin, so that its scripts can't access the portal on the same server.
 */
function policyOf(page: string): string {
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page) ?? [];
  if (policy === undefined) throw new Error('The built reference has no policy: "make docs" builds it anew.');
  return `${policy}; frame-ancestors 'none'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox`;
}
