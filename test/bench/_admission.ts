import { type Caller, createAuthentication } from '../../src/server/access/keys.ts';
import { createAllowance, WINDOW_SECONDS } from '../../src/server/api/allowance.ts';
import { authorise } from '../../src/server/api/api.ts';
import { errorStatuses } from '../../src/server/api/error-replies.ts';
import type { Scope } from '../../src/contract/scopes.ts';
import { AppError } from '../../src/server/errors.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { KEY_PREFIX } from './_company.ts';

/** The caller, and the headers that tell of the allowance. */
export interface Admitted {
  caller: Caller;
  headers: Record<string, string>;
}

/** Lets a request in, or throws the AppError that refuses it. */
export type Admit = (authorization: string | undefined, address: string, scope: string) => Promise<Admitted>;

/** The real server's checks of key, allowance and company, by its own functions, for those it is compared with. */
export function createAdmission(engine: Engine): Admit {
  const authenticate = createAuthentication(engine, { keyPrefix: KEY_PREFIX, windowSeconds: WINDOW_SECONDS });
  const allowance = createAllowance(engine, {
    rateLimitPerMinute: 10_000_000,
    wrongKeysPerMinute: 10_000_000,
  });
  return async (authorization, address, scope) => {
    const { caller, counted } = await authenticate(authorization).catch(async (error: unknown) => {
      if (error instanceof AppError && errorStatuses[error.code] === 401)
        await allowance.takeWrongKey(address);
      throw error;
    });
    const { headers, refusal } = await allowance.takeRequest(caller, counted);
    if (refusal) throw refusal;
    // The contract names scopes of this closed list.
    authorise(caller, scope as Scope);
    return { caller, headers: { ...headers } };
  };
}
