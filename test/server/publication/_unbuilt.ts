import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import express from 'express';
import got, { type Got } from 'got';
import type { Test } from 'tap';

import type * as publication from '../../../src/server/publication/publication.ts';
import { NO_LOOK } from '../../_server.ts';
import { listen } from '../../client/_service.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/**
 * Serves the publication of a copy of the program, in which the reference hasn't been built, until the test ends.
 * @param files texts of files that the copy has, by their paths.
 */
export async function serveUnbuilt(t: Test, files: Record<string, string> = {}): Promise<Got> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-copy-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'generated'));
  cpSync(join(root, 'generated', 'openapi.json'), join(folder, 'generated', 'openapi.json'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  // It is a copy of the module whose type this is.
  const copy = (await import(
    pathToFileURL(join(folder, 'src', 'server', 'publication', 'publication.ts')).href
  )) as typeof publication;
  const app = express();
  app.use(
    copy.createPublication({
      baseUrl: () => 'http://127.0.0.1',
      serviceName: 'Fieldledger',
      supportUrl: undefined,
      look: NO_LOOK,
      securityContact: undefined,
      now: () => new Date(),
    }),
  );
  app.use(((error: { code: string; message: string }, _req, res, _next) => {
    res.status(500).json({ code: error.code, message: error.message });
  }) as express.ErrorRequestHandler);
  const { url: prefixUrl } = await listen(t, app);
  return got.extend({ prefixUrl, retry: { limit: 0 }, throwHttpErrors: false });
}
