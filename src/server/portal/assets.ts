import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { Router } from 'express';

import { accentStyle, type VendorLook } from '../process/vendor-look.ts';

/** URL paths of the files that pages need. Each contains a hash of the file, so browsers can cache the file for ever. */
export interface AssetPaths {
  stylesheet: string;
  script: string;
  icon: string;
  /** URL path of the vendor's logo, if there is one. */
  logo: string | undefined;
}

const YEAR_SECONDS = 31_536_000;

export function createAssets(root: string, look: VendorLook): { router: Router; paths: AssetPaths } {
  const router = Router({ caseSensitive: true, strict: true });
  const serve = (name: string, type: string, bytes: Buffer): string => {
    const path = `/${hash('sha256', bytes, 'hex').slice(0, 16)}/${name}`;
    router.get(path, (_req, res) => {
      res
        .set({ 'Content-Type': type, 'Cache-Control': `public, max-age=${YEAR_SECONDS}, immutable` })
        .end(bytes);
    });
    return `${root}${path}`;
  };
  const stylesheet = Buffer.concat([Buffer.from(accentStyle(look)), fileOf('portal.css')]);
  const [, logoType = '', logo = ''] = /^data:(.*);base64,(.*)$/.exec(look.logo ?? '') ?? [];
  return {
    router,
    paths: {
      stylesheet: serve('portal.css', 'text/css; charset=utf-8', stylesheet),
      script: serve('portal.js', 'text/javascript; charset=utf-8', fileOf('portal.js')),
      icon: serve('icon.svg', 'image/svg+xml', fileOf('icon.svg')),
      logo: logo === '' ? undefined : serve('logo', logoType, Buffer.from(logo, 'base64')),
    },
  };
}

function fileOf(name: string): Buffer {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url));
}
