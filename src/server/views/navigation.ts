import { countText } from './formats.ts';
import { type Html, html } from './html.ts';

interface Section {
  key: string;
  label: string;
  path: string;
}

/*
 * The portal's sections, in the order shown. openapi.yaml refers administrators to "People & access, API section", so those
 * names must be headings.
 */
const alone = [
  { key: 'overview', label: 'Overview', path: '/portal' },
  { key: 'documents', label: 'Documents', path: '/portal/documents' },
  { key: 'receivables', label: 'Receivables', path: '/portal/receivables' },
] as const satisfies Section[];
const access = [
  { key: 'people', label: 'People', path: '/portal/people' },
  { key: 'audit', label: 'Audit trail', path: '/portal/audit' },
] as const satisfies Section[];
const api = [
  { key: 'keys', label: 'API keys', path: '/portal/keys' },
  { key: 'webhooks', label: 'Webhooks', path: '/portal/webhooks' },
  { key: 'usage', label: 'Usage', path: '/portal/usage' },
] as const satisfies Section[];

export type SectionKey = (typeof alone | typeof access | typeof api)[number]['key'] | 'account' | 'notices';

const ACCESS = 'People & access';
const API = 'API';

/** Renders the list of sections. @param unseen number of unread notices; undefined if mailed instead of shown. */
export function navigation(current: SectionKey | undefined, unseen: number | undefined): Html {
  const entries = (sections: readonly Section[]) =>
    sections.map(
      ({ key, label, path }) =>
        html`<li><a href="${path}" ${current === key && html`aria-current="page"`}>${label}</a></li>`,
    );
  const group = (id: string, name: string, content: readonly Html[]) =>
    html`<li class="group">
      <span class="place" id="${id}">${name}</span>
      <ul aria-labelledby="${id}">
        ${content}
      </ul>
    </li>`;
  return html`<nav aria-label="Sections">
    <ul>
      ${entries(unseen === undefined ? alone : [...alone, noticesOf(unseen)])}
      ${group('nav-access', ACCESS, [...entries(access), group('nav-api', API, entries(api))])}
    </ul>
  </nav>`;
}

const noticesOf = (unseen: number): Section => ({
  key: 'notices',
  label: unseen === 0 ? 'Notices' : `Notices (${countText(unseen)})`,
  path: '/portal/notices',
});

/** Returns the headings above a section, as its pages show them; undefined if it has none. */
export function sectionHeading(current: SectionKey | undefined): string | undefined {
  if (api.some(({ key }) => key === current)) return `${ACCESS} › ${API}`;
  return access.some(({ key }) => key === current) ? ACCESS : undefined;
}
