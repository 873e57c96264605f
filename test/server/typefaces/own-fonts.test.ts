import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import t from 'tap';

import { unprintable } from '../../../src/server/typefaces/letters.ts';
import { textOf } from '../invoice-pdf/_reading.ts';

/** A letter that none of our fonts has, and this one. */
const LETTER = '\u2313';
const FONT = fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'));

/** Writes a document with the letter, in a process of its own: each reads its fonts once. */
const program = `
import { createRenderer } from './src/server/invoice-pdf/render.ts';
import { sampleDocuments } from './src/server/invoice-pdf/sample-documents.ts';
const [{ record, ...document }] = sampleDocuments();
process.stdout.write(await createRenderer().render({ ...document, record: { ...record, note: 'A ${LETTER} B' } }));`;

t.test('a font of the operator makes its letters printable', async (t) => {
  t.strictSame(unprintable(LETTER), [LETTER]);
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-fonts-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  cpSync(FONT, join(folder, 'more', 'Mono.TTF'), { recursive: true });
  for (const [fonts, shown] of [
    ['', '\ufffd'],
    [folder, LETTER],
  ] as const) {
    const bytes = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: join(import.meta.dirname, '../../..'),
      env: { ...process.env, DOCUMENT_FONTS: fonts },
      maxBuffer: 10_000_000,
    });
    t.match(await textOf(bytes), `A ${shown} B`);
  }
});
