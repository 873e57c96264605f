import { listAdministrators } from '../access/administrators.ts';
import { invite } from '../access/invitations.ts';
import { scopes } from '../contract/scopes.ts';
import type { Engine } from '../store/engine.ts';
import type { Demo } from './demo.ts';

/**
 * The address at which the demo company is administered: while nobody does, a link that makes whoever uses it its
 * administrator, and afterwards the portal's own.
 */
export async function demoPortal(
  engine: Engine,
  address: string,
  demo: Demo | undefined,
): Promise<string | undefined> {
  if (!demo) return undefined;
  const { company } = demo;
  const people = await listAdministrators(engine, company);
  if (people.some(({ disabledAt }) => disabledAt === null)) return `${address}/portal`;
  const { token } = await invite(engine, {
    company,
    email: `admin@${company}.example`,
    scopes,
    mayInvite: true,
    by: 'operator',
    now: new Date(),
  });
  return `${address}/portal/invitation#${token}`;
}
