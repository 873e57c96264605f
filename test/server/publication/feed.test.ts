import t from 'tap';

import { changeNames, feedDocument } from '../../../src/contract/feed.ts';
import { referenceFile } from '../../_reference.ts';
import { otherNames, startAcme } from './_acme.ts';

interface Document {
  info: { title: string; description: string };
  paths: Record<string, unknown>;
}

referenceFile();

t.test("the feed's contract and its page name what is configured, and are the same", async (t) => {
  const server = await startAcme(t);
  const feed = await server.http('feed.json').json<Document>();
  t.equal(feed.info.title, 'Acme feed');
  t.strictSame(Object.keys(feed.paths), Object.keys(feedDocument().paths));
  for (const path of ['feed.json', 'feed-reference']) {
    const { body } = await server.http(path);
    t.match(body, 'https://api.acme.test/reference');
    t.notMatch(body, 'fieldledger.example');
    t.strictSame(otherNames(body), [], path);
  }
  const { headers, body } = await server.http('feed-reference');
  t.match(
    headers['content-security-policy'],
    /^default-src 'none'; script-src 'sha256-.*sandbox allow-scripts/,
  );
  const [, shown = ''] = /<script type="application\/json" id="contract">(.*?)<\/script>/s.exec(body) ?? [];
  const page = JSON.parse(shown) as Document;
  t.strictSame(Object.keys(page.paths), Object.keys(feed.paths));
  for (const change of changeNames()) t.match(page.info.description, `| \`${change}\` | `);
});
