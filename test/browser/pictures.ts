// Paints the README's pictures from the demo company: `make pictures`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createCanvas, type Image, loadImage } from '@napi-rs/canvas';
import t from 'tap';

import { createRenderer } from '../../src/server/invoice-pdf/render.ts';
import { findPrinted } from '../../src/server/invoice-pdf/printing.ts';
import { pixelsOf } from '../server/invoice-pdf/_reading.ts';
import { COMPANY, startPortal } from '../server/portal/_portal.ts';
import { PORTAL_SETTINGS } from '../_server.ts';
import { openBrowser } from './_browser.ts';
import { openWindow } from './_portal-browser.ts';

const folder = join(import.meta.dirname, 'pictures');
const INVOICE = '01a15a0c-54c0-737e-abf7-cfe66f9292f6';

t.test('the README shows the portal and an invoice', async (t) => {
  const portal = await startPortal(t, 'sqlite', { ...PORTAL_SETTINGS, hasRecords: true });
  const browser = await openBrowser(t);
  const { page, open } = await openWindow(t, { browser, portal });
  await page.setViewportSize({ width: 1100, height: 620 });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await open('/portal');
    await write(`portal-${colorScheme}`, await loadImage(await page.screenshot()));
  }
  const printed = await findPrinted(portal.engine.db, COMPANY, INVOICE);
  if (!printed) throw new Error('The demo company has lost its invoice.');
  const [first] = await pixelsOf(await createRenderer().render(printed.printed), 1.4);
  if (!first) throw new Error('The invoice has no page.');
  const canvas = createCanvas(first.width, first.height);
  canvas.getContext('2d').putImageData(first, 0, 0);
  await write('invoice', await loadImage(canvas.toBuffer('image/png')), 0.62);
});

/** Writes the upper `share` of a picture. */
async function write(name: string, image: Image, share = 1): Promise<void> {
  const canvas = createCanvas(image.width, Math.round(image.height * share));
  canvas.getContext('2d').drawImage(image, 0, 0);
  writeFileSync(join(folder, `${name}.webp`), await canvas.encode('webp', 80));
}
