import { randomUUIDv7 } from 'node:crypto';

import { type Selectable, sql } from 'kysely';

import type { Connection } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { ofAllCompanies } from '../machines.ts';
import { administrators } from '../tables/accounts.ts';
import { readRow, type RowOf, writeRow } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';

/** An administrator of a company, without their password. */
export type Administrator = Omit<RowOf<typeof administrators>, 'mutedNotices'> & {
  /** Whether the administrator has a password, rather than signing in only by portal links. */
  hasPassword: boolean;
  hasSecondFactor: boolean;
  /** The kinds of notices that the administrator doesn't want by email; none by default. */
  mutedNotices?: readonly string[];
};

/** Returns a new administrator, who is not yet stored. */
export function newAdministrator(
  person: Pick<Administrator, 'company' | 'email' | 'name' | 'scopes' | 'mayInvite' | 'madeBy'>,
  now: Date,
): Administrator {
  const { company, email, name, scopes, mayInvite, madeBy } = person;
  return {
    ...{ id: `adm_${randomUUIDv7()}`, company, email, name, scopes, mayInvite, madeBy },
    ...{ createdAt: now.toISOString(), signedInAt: null, disabledAt: null },
    ...{ hasPassword: false, hasSecondFactor: false },
  };
}

/** The two values that identify an administrator: company and id. */
export type AccountKey = Pick<Administrator, 'company' | 'id'>;

/** Stores a new administrator. Returns false when another active one of the company has the email address. */
export async function insertAdministrator(
  transaction: StoreTransaction,
  administrator: Administrator,
  password: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('administrators')
    .values({ ...writeRow(administrators, { ...administrator, mutedNotices: [] }), password })
    .onConflict((conflict) =>
      conflict.columns(['company', 'email']).where('disabled_at', 'is', null).doNothing(),
    )
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) === 1;
}

/** The text in the password column of an administrator without a password. */
export const NO_PASSWORD = '';

/** The second factor of an account, needed besides its password; see ../../features/sign-in/second-factor.ts. */
export interface SecondFactor {
  /** The secret from which codes are computed, encrypted. */
  secret: string;
  /** The time step of the last accepted code, which can't be used again. */
  lastStep: number;
  /** The digests of unused recovery codes. */
  recoveryCodes: readonly string[];
}

/** An account that can sign in: an administrator with the password hash and second factor. */
export interface Account {
  administrator: Administrator;
  password: string;
  secondFactor: SecondFactor | undefined;
}

/** Whether an account has a password but no second factor. Without a password, the business system vouches for the person. */
export function lacksSecondFactor({
  hasPassword,
  hasSecondFactor,
}: Pick<Administrator, 'hasPassword' | 'hasSecondFactor'>): boolean {
  return hasPassword && !hasSecondFactor;
}

const ACCOUNTS_MAX = 1_000;

/** Returns a company's account by id or email address; undefined if there is none or it is disabled. */
export async function findAccount(
  db: Connection,
  of: { company: string; id: string } | { company: string; email: string },
): Promise<Account | undefined> {
  const row = await db
    .selectFrom('administrators')
    .selectAll()
    .where((row) => row.and(of))
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return row && toAccount(row);
}

/**
 * Returns an email address's accounts in all companies, oldest first, except disabled ones and those without a password.
 * Nothing about one account may be revealed in another's company.
 */
export async function findAccountsOf(engine: Engine, email: string): Promise<Account[]> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<Selectable<Tables['administrators']>>`
      SELECT * FROM administrators
      WHERE email = ${email} AND disabled_at IS NULL AND password <> ${NO_PASSWORD} AND ${isReached('company')}
      ORDER BY id LIMIT ${sql.lit(ACCOUNTS_MAX)}`,
  );
  return rows.sort((one, other) => (one.id < other.id ? -1 : 1)).map(toAccount);
}

function toAccount(row: Selectable<Tables['administrators']>): Account {
  const { password, second_factor: secret, second_factor_step: lastStep, recovery_codes: codes } = row;
  // `updateAdministratorRow` always writes these three together.
  const recoveryCodes = JSON.parse(codes ?? '[]') as string[];
  const secondFactor = secret === null ? undefined : { secret, lastStep: lastStep ?? 0, recoveryCodes };
  return { administrator: toAdministrator(row), password, secondFactor };
}

/** Returns a company's administrators, oldest first, including disabled ones. */
export async function listAdministratorRows(db: Connection, company: string): Promise<Administrator[]> {
  const rows = await db
    .selectFrom('administrators')
    .selectAll()
    .where('company', '=', company)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toAdministrator);
}

type Changeable = 'name' | 'scopes' | 'mayInvite' | 'mutedNotices' | 'signedInAt' | 'disabledAt';

interface AdministratorChanges extends Partial<Pick<RowOf<typeof administrators>, Changeable>> {
  /** The hash of the new password; absent if the password stays. */
  password?: string;
  /** The new second factor; null removes it, and it stays if absent. */
  secondFactor?: SecondFactor | null;
}

export async function updateAdministratorRow(
  transaction: StoreTransaction,
  { company, id }: AccountKey,
  { password, secondFactor, ...changes }: AdministratorChanges,
): Promise<void> {
  await transaction
    .updateTable('administrators')
    .set({
      ...writeRow(administrators, changes),
      password,
      ...(secondFactor !== undefined && {
        second_factor: secondFactor?.secret ?? null,
        second_factor_step: secondFactor?.lastStep ?? null,
        recovery_codes: secondFactor && JSON.stringify(secondFactor.recoveryCodes),
      }),
    })
    .where((row) => row.and({ company, id }))
    .execute();
}

export function toAdministrator(row: Selectable<Tables['administrators']>): Administrator {
  const [hasPassword, hasSecondFactor] = [row.password !== NO_PASSWORD, row.second_factor !== null];
  return { ...readRow(administrators, row), hasPassword, hasSecondFactor };
}
