import type { SessionLengths } from '../store/accounts/session-rows.ts';
import type { SignInLimits } from '../access/sign-in-limits.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Logger } from '../process/log.ts';
import type { VendorLook } from '../process/vendor-look.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { SecretBox } from '../process/secret-box.ts';

export interface PortalSettings {
  sessionLengths: SessionLengths;
  /** Seals the secrets of webhooks and of second factors. */
  secrets: SecretBox;
  /** Whether notices and links go by e-mail; they don't unless told. */
  isMailing?: boolean;
  /** How long the answer to a ping waits for its result; 3 seconds unless told. */
  pingWaitMs?: number;
  /** Whether people come in by portal links alone. */
  passwordsOff?: boolean;
}

export interface PortalOptions extends PortalSettings {
  engine: Engine;
  documents: Documents;
  log: Logger;
  now: () => Date;
  /** The address at which visitors reach the server, without a path. */
  baseUrl: () => string;
  serviceName: string;
  look: VendorLook;
  /** Where administrators get help from the operator. */
  supportUrl: string | undefined;
  keyPrefix: string;
  /** Requests that each API key may send. */
  rateLimitPerMinute: number;
}

/** The services of pages and actions. Each page names the parts that it needs in its parameters. */
export interface Services extends PortalOptions {
  limits: SignInLimits;
}
