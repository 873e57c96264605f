/** People who come in by links of their business system. */
import { COMPANY, type TestPortal, type Visitor } from '../portal/_portal.ts';
import { type Door, openDoor, tokenFor } from './_door.ts';

export const NIAMH = {
  company: COMPANY,
  email: 'niamh@brennan.example',
  name: 'Niamh',
  scopes: ['jobs:read'],
};

/** The feed of a portal, with a token whose links may give two scopes. */
export async function openFeed({ engine }: TestPortal, name = 'erp') {
  const portalLinks = ['jobs:read', 'invoices:read'];
  const { id, token } = await tokenFor(engine, { name, portalLinks, portalInvites: true });
  return { ...(await openDoor(engine, token)), id };
}

export async function linkOf(door: Door, asked: object = {}): Promise<string> {
  const { status, body } = await door.askForLink({ ...NIAMH, ...asked });
  if (status !== 200) throw new Error(body);
  return (JSON.parse(body) as { link: string }).link;
}

/** Follows a link without scripts. */
export async function follow(portal: TestPortal, link: string, visitor = portal.visitor()): Promise<Visitor> {
  await visitor.openLink(link);
  return visitor;
}

export const isIn = ({ cookies }: Visitor) => cookies.has('fieldledger_session');
