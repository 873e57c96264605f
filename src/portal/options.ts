import type { SessionLengths } from '../access/sessions.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Logger } from '../log.ts';
import type { Engine } from '../store/engine.ts';
import type { SecretBox } from '../webhooks/secrets.ts';

/** What only the portal needs to be told. */
export interface PortalSettings {
  sessionLengths: SessionLengths;
  /** Seals the signing secrets of webhooks. */
  secrets: SecretBox;
  /** How long the answer to a ping waits for its result; 3 seconds unless told. */
  pingWaitMs?: number;
}

/** What the portal is made of. A page is given those of it that it needs, in routes.ts. */
export interface PortalOptions extends PortalSettings {
  engine: Engine;
  documents: Pick<Documents, 'find'>;
  log: Logger;
  now: () => Date;
  /** The address at which visitors reach the server, without a path. */
  baseUrl: () => string;
  serviceName: string;
  /** First part of every API key. */
  keyPrefix: string;
  /** Requests that each API key may send. */
  rateLimitPerMinute: number;
}
