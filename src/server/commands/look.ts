import { readFileSync } from 'node:fs';

import { quote, UsageError } from '../../errors.ts';
import type { Config } from '../process/config.ts';
import { logoFromFile } from '../logos/logo.ts';
import type { VendorLook } from '../process/vendor-look.ts';

/**
 * Reads the accent colour and logo of pages and mails from the settings.
 * @throws UsageError for a logo that can't be read or shown.
 */
export function lookOf({ portalAccent, portalLogo }: Config): VendorLook {
  try {
    return { accent: portalAccent, logo: portalLogo && logoFromFile(readFileSync(portalLogo)) };
  } catch (error) {
    throw new UsageError(
      `PORTAL_LOGO names ${quote(portalLogo ?? '')}, which can't be the logo: ${(error as Error).message}.`,
    );
  }
}
