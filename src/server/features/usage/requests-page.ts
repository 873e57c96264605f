import { companyDay, companyDayEnd, companyInstant } from '../../../contract/company-time.ts';
import { daysAfter } from '../../backoffice/times.ts';
import { errorStatuses } from '../../connections/error-replies.ts';
import { statusClasses } from '../../store/statuses.ts';
import { filterForm, filterReader } from '../../views/filter.ts';
import { select, textField, withQuery } from '../../views/form.ts';
import { dayText, exactTime, msText } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { badge } from '../../views/notice.ts';
import { amount, pageOf, pagination, table } from '../../views/table.ts';
import { page, type PortalPage, type Visit } from '../../views/visit.ts';
import { listActiveKeys, type UsedKey } from '../keys/stored-keys.ts';
import { type KeyRequest, listKeyRequests, REQUEST_DAYS } from './stored-requests.ts';

const PAGE_REQUESTS = 50;
/** Problems that stop a request before its key is known. */
const unlisted = ['invalid_key', 'method_not_allowed'];
const listed = Object.entries(errorStatuses).filter(([code]) => !unlisted.includes(code));
const statuses = [...new Set([200, 304, ...listed.map(([, status]) => status)])].sort().map(String);
const choices = { status: [...statusClasses, ...statuses], code: listed.map(([code]) => code) };

/** Lists the requests of the company's keys one by one, newest first. The filters are part of the URL. */
export const showRequests: PortalPage = async (visit, { engine }) => {
  const { company, query, now } = visit;
  const today = companyDay(company.timeZone, now);
  // The oldest day is kept in part only.
  const oldest = daysAfter(today, -REQUEST_DAYS);
  const days = Array.from({ length: REQUEST_DAYS + 1 }, (_, index) => daysAfter(today, -index));
  const { problems, choiceOf } = filterReader(query);
  const chosen = {
    key: query.get('key') ?? '',
    day: choiceOf('day', days),
    status: choiceOf('status', choices.status),
    code: choiceOf('code', choices.code),
    id: (query.get('id') ?? '').trim().toLowerCase().slice(0, 100),
  };
  const before = query.get('before') ?? '';
  const from = companyInstant(company.timeZone, `${chosen.day ?? oldest}T00:00`) ?? now;
  const until = companyDayEnd(company.timeZone, chosen.day ?? today) ?? now;
  const span = { from, until, limit: PAGE_REQUESTS + 1 };
  const isRefused = Object.keys(problems).length > 0;
  const found = isRefused ? [] : await listKeyRequests(engine, company.id, { ...chosen, before }, span);
  const { shown, last } = pageOf(found, PAGE_REQUESTS);
  const ids = new Set([chosen.key, ...shown.map(({ keyId }) => keyId)]);
  const keys = await listActiveKeys(engine, company.id, now, [...ids]);
  const names = new Map(keys.map(({ id, name }) => [id, `${name} (…${id.slice(-4)})`]));
  return page(
    'Requests',
    html`<p>
        The requests of your keys in the last ${REQUEST_DAYS} days, at most 50,000. The newest may be missing
        for a few seconds. In a burst only the first are listed; <a href="/portal/usage">Usage</a> counts all.
        Requests without your keys, or with an address or method that the API doesn’t have, aren’t listed.
      </p>
      ${filterForm(
        '/portal/requests',
        html`${select({ name: 'key', label: 'Key', all: 'Every key', choices: [...names], chosen: chosen.key })}
        ${select({ name: 'day', label: 'Day', all: 'Every day', choices: days.map((day) => [day, dayText(day)]), chosen: chosen.day, problem: problems.day })}
        ${select({ name: 'status', label: 'Status', all: 'Every status', choices: choices.status.map((status) => [status, status]), chosen: chosen.status, problem: problems.status })}
        ${select({ name: 'code', label: 'Problem', all: 'Any, or none', choices: choices.code.map((code) => [code, code]), chosen: chosen.code, problem: problems.code })}
        ${textField({ name: 'id', label: 'Request id', type: 'search', value: chosen.id, isRequired: false })}`,
      )}
      ${requestTable(visit, shown, keys)}
      ${pagination((place?: string) => withQuery('/portal/requests', { ...chosen, before: place }), {
        ...{ place: before || undefined, next: last && `${last.at} ${last.id}` },
      })}`,
    { section: 'usage', isRefused },
  );
};

function requestTable(visit: Visit, requests: readonly KeyRequest[], keys: readonly UsedKey[]): Html {
  return table({
    caption: 'Requests',
    columns: ['Request and its id', 'Time', 'Status', 'Key', amount('Duration')],
    rows: requests.map(({ id, at, keyId, method, operation, status, code, ms }) => [
      html`<code>${method} ${operation}</code><br /><code class="hint">${id}</code>`,
      exactTime(visit, at),
      html`${badge(status < 400 ? 'good' : 'bad', String(status))} ${code}`,
      keys.find((key) => key.id === keyId)?.name,
      msText(ms),
    ]),
    empty: [
      'No requests',
      `If you chose a filter, try without it. Otherwise no program used a key in the last ${REQUEST_DAYS} days.`,
    ],
  });
}
