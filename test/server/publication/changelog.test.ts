// A CommonJS package whose names Node doesn't see.
import fontoxpath from 'fontoxpath';
import { parseXmlDocument } from 'slimdom';
import t from 'tap';

import { readChangelog } from '../../../src/server/publication/changelog.ts';
import { ACME_URL, startAcme } from './_acme.ts';

const server = await startAcme(t);
const releases = readChangelog();

t.test('each release says what it changed, for integrators and operators apart', async (t) => {
  for (const { version, date, ...changes } of releases) {
    t.match(version, /^\d+\.\d+\.\d+$/);
    t.match(date, /^\d{4}-\d{2}-\d{2}$/, version);
    const others = Object.keys(changes).filter((name) => name !== 'integrators' && name !== 'operators');
    t.strictSame(others, [], version);
    const kinds = Object.values(changes).flatMap((ofReaders) => Object.entries(ofReaders));
    t.ok(kinds.length > 0, version);
    for (const [kind, texts] of kinds) {
      t.match(kind, /^(?:Added|Changed|Fixed)$/, version);
      t.ok(texts.length > 0 && texts.every((text) => typeof text === 'string'), `${version} ${kind}`);
    }
  }
});

t.test('the page has every release, under the configured name', async (t) => {
  const { headers, body } = await server.http('changelog');
  t.equal(headers['content-type'], 'text/html; charset=utf-8');
  t.match(headers['content-security-policy'], "default-src 'none'");
  t.match(body, '<title>Changelog of Acme</title>');
  t.notMatch(body, 'Fieldledger');
  for (const { version, date } of releases)
    t.match(body, `<h2>${version} <time datetime="${date}">${date}</time></h2>`);
  t.match(body, '<h3>Added for integrators</h3>');
  t.match(body, '<h3>Added for operators</h3>\n<ul>\n<li>');
  t.match(body, '<code>fieldledger config</code>');
});

t.test('the feed is what RFC 4287 asks for, with addresses under BASE_URL', async (t) => {
  const { headers, body } = await server.http('changelog.atom');
  t.equal(headers['content-type'], 'application/atom+xml; charset=utf-8');
  const feed = parseXmlDocument(body);
  const namespaceResolver = () => 'http://www.w3.org/2005/Atom';
  const textsOf = (path: string) =>
    fontoxpath.evaluateXPathToStrings(path, feed, null, null, { namespaceResolver });
  // Exactly one of each (sections 4.1.1 and 4.1.2).
  for (const [element, value] of Object.entries({
    id: `${ACME_URL}/changelog.atom`,
    title: 'Changelog of Acme',
    updated: `${releases[0]?.date}T00:00:00Z`,
    'author/name': 'Acme',
    'link[@rel = "self"]/@href': `${ACME_URL}/changelog.atom`,
    'link[@rel = "alternate"]/@href': `${ACME_URL}/changelog`,
  }))
    t.strictSame(textsOf(`/feed/${element}`), [value], element);
  const addresses = releases.map(({ version }) => `${ACME_URL}/changelog#${version}`);
  t.strictSame(textsOf('/feed/entry/id'), addresses);
  t.strictSame(textsOf('/feed/entry/link[@rel = "alternate"]/@href'), addresses);
  t.strictSame(
    textsOf('/feed/entry/title'),
    releases.map(({ version }) => `Acme ${version}`),
  );
  t.strictSame(
    textsOf('/feed/entry/updated'),
    releases.map(({ date }) => `${date}T00:00:00Z`),
  );
  t.equal(textsOf('/feed/entry/content[@type = "html"]').length, releases.length);
  t.match(textsOf('/feed/entry/content')[0], '<h2>Added for integrators</h2>\n<ul>\n<li>');
});
