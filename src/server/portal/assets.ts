import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { Router } from 'express';

/** Addresses of the files that pages need. Each holds a hash of the file, so browsers may keep it for ever. */
export interface AssetPaths {
  stylesheet: string;
  script: string;
  icon: string;
}

const files = {
  stylesheet: { name: 'portal.css', type: 'text/css; charset=utf-8' },
  script: { name: 'portal.js', type: 'text/javascript; charset=utf-8' },
  icon: { name: 'icon.svg', type: 'image/svg+xml' },
} as const;

const YEAR_SECONDS = 31_536_000;

export function createAssets(root: string): { router: Router; paths: AssetPaths } {
  const router = Router({ caseSensitive: true, strict: true });
  const serve = ({ name, type }: { name: string; type: string }): string => {
    const bytes = readFileSync(new URL(`./assets/${name}`, import.meta.url));
    const path = `/${hash('sha256', bytes, 'hex').slice(0, 16)}/${name}`;
    router.get(path, (_req, res) => {
      res
        .set({ 'Content-Type': type, 'Cache-Control': `public, max-age=${YEAR_SECONDS}, immutable` })
        .end(bytes);
    });
    return `${root}${path}`;
  };
  return {
    router,
    paths: {
      stylesheet: serve(files.stylesheet),
      script: serve(files.script),
      icon: serve(files.icon),
    },
  };
}
