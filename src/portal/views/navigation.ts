/** The sections of the portal, in the order in which they are shown. A page names the one that it belongs to. */
export const sections = [
  { key: 'overview', label: 'Overview', path: '/portal' },
  { key: 'keys', label: 'API keys', path: '/portal/keys' },
  { key: 'webhooks', label: 'Webhooks', path: '/portal/webhooks' },
  { key: 'documents', label: 'Documents', path: '/portal/documents' },
  { key: 'usage', label: 'Usage', path: '/portal/usage' },
  { key: 'people', label: 'People', path: '/portal/people' },
  { key: 'audit', label: 'Audit trail', path: '/portal/audit' },
] as const;

export type SectionKey = (typeof sections)[number]['key'] | 'account';
