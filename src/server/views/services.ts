import type { SessionLengths } from '../store/accounts/session-rows.ts';
import type { SignInLimits } from '../access/sign-in-limits.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Logger } from '../process/log.ts';
import type { VendorLook } from '../process/vendor-look.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { SecretBox } from '../process/secret-box.ts';

export interface PortalSettings {
  sessionLengths: SessionLengths;
  /** Encrypts the signing secrets of webhooks and the secrets of second factors. */
  secrets: SecretBox;
  /** Whether notices and links are sent by email; false by default. */
  isMailing?: boolean;
  /** How long the response to a ping waits for its result, in milliseconds; 3,000 by default. */
  pingWaitMs?: number;
  /** Whether people can sign in only by portal links. */
  passwordsOff?: boolean;
}

export interface PortalOptions extends PortalSettings {
  engine: Engine;
  documents: Documents;
  log: Logger;
  now: () => Date;
  /** Returns the URL at which visitors reach the server, without a path. */
  baseUrl: () => string;
  serviceName: string;
  look: VendorLook;
  /** URL at which administrators get help from the operator, if any. */
  supportUrl: string | undefined;
  keyPrefix: string;
  /** Maximum number of requests per minute for each API key. */
  rateLimitPerMinute: number;
}

/** The services passed to pages and actions, each of which destructures the ones that it needs. */
export interface Services extends PortalOptions {
  limits: SignInLimits;
}
