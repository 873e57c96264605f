import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import t from 'tap';

import { createDownloadLimit } from '../../../src/server/portal/download.ts';
import type { PageError } from '../../../src/server/portal/page-error.ts';

t.test('downloads at once are bounded, of a company and of all', async (t) => {
  const count = createDownloadLimit();
  const begin = (kind: 'table' | 'file', id: string, query = 'format=csv') => {
    const answer = new PassThrough();
    t.teardown(() => answer.destroy());
    try {
      count(kind, { company: { id }, query: new URLSearchParams(query) }, answer);
      return answer;
    } catch (error) {
      return [(error as PageError).status, (error as PageError).headers['Retry-After']];
    }
  };
  const [first] = [begin('table', 'one'), begin('table', 'one')];
  t.strictSame(begin('table', 'one'), [429, '5']);
  t.type(begin('file', 'one', ''), PassThrough, 'a file is something else');
  t.type(begin('table', 'one', ''), PassThrough, 'and a page is no download');
  if (first instanceof PassThrough) await once(first.destroy(), 'close');
  t.type(begin('table', 'one'), PassThrough, 'another has ended');
  t.strictSame(begin('table', 'one'), [429, '5'], 'and one only');
  for (const company of ['two', 'two']) begin('table', company);
  t.strictSame(begin('table', 'three'), [503, '5']);
});
