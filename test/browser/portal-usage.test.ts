import t from 'tap';

import { createKey } from '../../src/access/keys.ts';
import { openKeyUsage } from '../../src/store/key-usage.ts';
import { KEY_PREFIX, STORY_NOW } from '../_server.ts';
import { COMPANY, startPortal } from '../portal/_portal.ts';
import { openBrowser } from './_browser.ts';
import { lookAtPages } from './_portal-browser.ts';

t.test('a day of use is legible for everybody', async (t) => {
  const portal = await startPortal(t);
  let at = STORY_NOW;
  const usage = openKeyUsage(portal.engine, {
    now: () => at,
    onError: (error) => {
      throw error;
    },
  });
  for (const [index, name] of ['Ledger export', 'Dashboard in the workshop', 'Never used'].entries()) {
    const options = { prefix: KEY_PREFIX, company: COMPANY, scopes: ['jobs:read'], now: STORY_NOW };
    const { record } = await createKey(portal.engine, { ...options, name });
    for (let hour = 0; hour < 24 && index < 2; hour += 1) {
      at = new Date(STORY_NOW.getTime() - hour * 3_600_000);
      const count = Math.round(120 * (1 + Math.sin((hour + index * 5) / 3)));
      for (let asked = 0; asked < count; asked += 1)
        usage.count(COMPANY, record.id, index === 0 && hour < 4 && asked > 150);
    }
  }
  await usage[Symbol.asyncDispose]();
  await lookAtPages(t, { browser: await openBrowser(t), portal }, { 'usage-some': '/portal/usage' });
});
