import type { Selectable } from 'kysely';

import type { Scope } from '../../contract/scopes.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { AdministratorsTable } from '../portal-schema.ts';

/** An administrator of a company, without their password. */
export interface Administrator {
  id: string;
  company: string;
  email: string;
  name: string;
  /** Their access, which they may also give to keys and to other administrators. */
  scopes: Scope[];
  mayInvite: boolean;
  /** The administrator who invited them; null when an operator did. */
  madeBy: string | null;
  createdAt: string;
  signedInAt: string | null;
  disabledAt: string | null;
}

/** Adds an administrator; false when somebody who isn't disabled has the e-mail address, in whatever company. */
export async function insertAdministrator(
  transaction: StoreTransaction,
  administrator: Administrator,
  password: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('administrators')
    .values({
      id: administrator.id,
      company: administrator.company,
      email: administrator.email,
      name: administrator.name,
      password,
      scopes: JSON.stringify(administrator.scopes),
      may_invite: Number(administrator.mayInvite),
      made_by: administrator.madeBy,
      created_at: administrator.createdAt,
      signed_in_at: administrator.signedInAt,
    })
    .onConflict((conflict) => conflict.column('email').where('disabled_at', 'is', null).doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) === 1;
}

/** The administrator with an e-mail address, and the stored form of their password; undefined when nobody may sign in. */
export async function findSignIn(
  db: Engine['db'] | StoreTransaction,
  email: string,
): Promise<{ administrator: Administrator; password: string } | undefined> {
  const row = await db
    .selectFrom('administrators')
    .selectAll()
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return row && { administrator: toAdministrator(row), password: row.password };
}

/** The administrators of a company, oldest first, disabled ones included. */
export async function listAdministratorRows(
  db: Engine['db'] | StoreTransaction,
  company: string,
): Promise<Administrator[]> {
  const rows = await db
    .selectFrom('administrators')
    .selectAll()
    .where('company', '=', company)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toAdministrator);
}

/** One administrator of a company, inside a unit of work. */
export async function findAdministratorRow(
  transaction: StoreTransaction,
  company: string,
  id: string,
): Promise<Administrator | undefined> {
  const row = await transaction
    .selectFrom('administrators')
    .selectAll()
    .where('company', '=', company)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toAdministrator(row);
}

/** Changes an administrator. A password is in its stored form. */
export async function updateAdministratorRow(
  transaction: StoreTransaction,
  id: string,
  changes: { password?: string; signedInAt?: string; disabledAt?: string },
): Promise<void> {
  await transaction
    .updateTable('administrators')
    .set({
      ...(changes.password === undefined ? {} : { password: changes.password }),
      ...(changes.signedInAt === undefined ? {} : { signed_in_at: changes.signedInAt }),
      ...(changes.disabledAt === undefined ? {} : { disabled_at: changes.disabledAt }),
    })
    .where('id', '=', id)
    .execute();
}

export function toAdministrator(row: Omit<Selectable<AdministratorsTable>, 'password'>): Administrator {
  return {
    id: row.id,
    company: row.company,
    email: row.email,
    name: row.name,
    // Written from checked scopes.
    scopes: JSON.parse(row.scopes) as Scope[],
    mayInvite: row.may_invite === 1,
    madeBy: row.made_by,
    createdAt: row.created_at,
    signedInAt: row.signed_in_at,
    disabledAt: row.disabled_at,
  };
}
