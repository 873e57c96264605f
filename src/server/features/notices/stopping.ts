import { tokenHash } from '../../access/tokens.ts';
import { findAccount, updateAdministratorRow } from '../../store/accounts/administrator-rows.ts';
import { findNotice } from '../../store/accounts/notice-rows.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { lockCompany } from '../../store/records/companies.ts';
import { choiceOf } from './texts.ts';

/** Stops mails of a notice's kind for its recipient, by the code in the mail. @returns false when the code can't be used. */
export async function stopMails(engine: Engine, code: string): Promise<boolean> {
  const [company = '', id = '', token = ''] = code.split('.');
  const key = { company, id, stopSha256: tokenHash(token) };
  // Checked without a lock first, because otherwise anybody could take the lock with any code.
  if (!(await findNotice(engine.db, key))) return false;
  return engine.transaction(async (transaction) => {
    await lockCompany(transaction, company);
    const notice = await findNotice(transaction, key);
    const choice = notice && choiceOf(notice.kind);
    const account = await findAccount(transaction, { company, id: notice?.administrator ?? '' });
    if (!account || !choice) return false;
    const { administrator } = account;
    const mutedNotices = [...new Set([...(administrator.mutedNotices ?? []), choice])];
    await updateAdministratorRow(transaction, administrator, { mutedNotices });
    return true;
  });
}
