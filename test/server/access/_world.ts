import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { proposeSecondFactor } from '../../../src/server/features/sign-in/second-factor.ts';
import { beginSession } from '../../../src/server/features/sign-in/sessions.ts';
import type { SignedIn } from '../../../src/server/store/accounts/authorised-transaction.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  inviteAs,
  makeKey,
  signedInAs,
} from '../portal/_portal.ts';
import { totpAt } from '../../_totp.ts';

/** The access of the colleague, of the key and of the invitation. */
export const BOTH = ['jobs:read', 'quotes:read'];
const now = STORY_NOW;

/** What an act is about: each is of the company, and within the access `BOTH`. */
export interface World {
  by: SignedIn;
  self: string;
  other: string;
  key: string;
  invitation: string;
  otherSession: string;
  setup: { sealed: string; code: string };
}

/** A company with an administrator who may do everything, and another for whom, or with whose things, it is done. */
export async function makeWorld(engine: Engine): Promise<World> {
  await createCompany(engine, COMPANY, {}, now);
  await createCompany(engine, 'rival', {}, now);
  const owner = await addAdministrator(engine, { email: EMAIL });
  const colleague = await addAdministrator(engine, { ...COLLEAGUE, scopes: BOTH });
  await addAdministrator(engine, { ...COLLEAGUE, email: 'rita@rival.example', company: 'rival' });
  await engine.run(`UPDATE administrators SET second_factor = 'sealed', recovery_codes = '[]'`);
  const { invitation } = await inviteAs(engine, 'niamh@brennan.example');
  await engine.run(`UPDATE portal_links SET scopes = '${JSON.stringify(BOTH)}'`);
  const by = await signedInAs(engine, owner);
  const origin = { address: '192.0.2.1', client: 'Another', lengths: { idleMinutes: 30, hoursMax: 12 }, now };
  await engine.transaction((open) => beginSession(open, { administrator: owner, ...origin }));
  const { secret, sealed } = proposeSecondFactor(PORTAL_SETTINGS.secrets, owner, { issuer: 'Test' });
  return {
    by,
    self: owner.id,
    other: colleague.id,
    key: (await makeKey(engine, 'Ledger', { scopes: BOTH })).id,
    invitation: invitation.id,
    otherSession: (await signedInAs(engine, owner, 'Another')).session,
    setup: { sealed, code: totpAt(secret, now.getTime() / 1000) },
  };
}

/** The same engine, which has something happen when a transaction is asked for: after all that was looked up before. */
export function meanwhile(engine: Engine, happens: () => Promise<unknown>): Engine {
  let once: (() => Promise<unknown>) | undefined = happens;
  const transaction: Engine['transaction'] = async (work) => {
    await once?.();
    once = undefined;
    return engine.transaction(work);
  };
  return { ...engine, transaction };
}
