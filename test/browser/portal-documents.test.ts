import { readFileSync } from 'node:fs';

import t from 'tap';

import { startPortal } from '../portal/_portal.ts';
import { openBrowser } from './_browser.ts';
import { lookAtPages, openWindow } from './_portal-browser.ts';

const pages = {
  'documents-found': '/portal/documents?search=i',
  'documents-customers': '/portal/documents?search=harbour',
  'documents-of-customer': '/portal/documents?customer=cus_0003',
  'documents-drafts': '/portal/documents?show=drafts',
  'documents-bad-day': '/portal/documents?from=2026-02-30',
  document: '/portal/documents/01a15a0c-54c0-737e-abf7-cfe66f9292f6',
  'document-draft': '/portal/documents/01a1ef7b-a420-7b42-8594-7b990f1a8c5f',
};

t.test('documents are found and shown legibly for everybody', async (t) => {
  const portal = await startPortal(t);
  await lookAtPages(t, { browser: await openBrowser(t), portal }, pages);
});

for (const javaScript of [true, false]) {
  t.test(`an invoice is found and downloaded ${javaScript ? 'with' : 'without'} scripts`, async (t) => {
    const portal = await startPortal(t);
    const browser = await openBrowser(t);
    const { page, open, complaints } = await openWindow(t, { browser, portal }, { javaScript });
    await open('/portal/documents');
    await page.getByLabel('Number or customer begins with').fill('inv-2026-0003');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('link', { name: 'INV-2026-0003' }).click();
    const begun = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the PDF' }).click();
    const download = await begun;
    t.equal(download.suggestedFilename(), 'INV-2026-0003.pdf');
    t.equal(
      readFileSync(await download.path())
        .subarray(0, 5)
        .toString(),
      '%PDF-',
    );
    t.strictSame(complaints, []);
  });
}
