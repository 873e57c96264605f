import { changeCompany } from '../../../src/server/backoffice/companies.ts';
import { COMPANY, EMAIL, onSqlite, PASSWORD } from '../portal/_portal.ts';
import { follow, linkOf, openFeed } from './_portal-links.ts';

onSqlite('whoever has no password is asked for no second factor beside it', async (t, portal) => {
  await using door = await openFeed(portal);
  const niamh = await follow(portal, await linkOf(door, { mayInvite: true }));
  await portal.engine.transaction((transaction) =>
    changeCompany(transaction, COMPANY, { secondFactorRequired: true }),
  );
  for (const path of ['/portal', '/portal/people', '/portal/account']) {
    t.equal((await niamh.visit(path)).statusCode, 200, path);
    t.notMatch(niamh.text, /Set up your second factor|Your password|Only your password/, path);
  }
  await niamh.visit('/portal/people');
  t.match(
    niamh.text,
    new RegExp(`${EMAIL}|Aoife.*No second factor`),
    'a colleague with a password lacks one',
  );
  t.notMatch(niamh.text, /Niamh You No second factor/);
  const colleague = await portal.signedIn({ email: EMAIL, password: PASSWORD });
  t.match((await colleague.visit('/portal')).headers.location, '/portal/account/second-factor');
});
