import t from 'tap';

import { engineNames } from '../_server.ts';
import { EMAIL, PASSWORD, startPortal } from './_portal.ts';

for (const name of engineNames) {
  t.test(`${name}: an administrator signs in, sees the overview, and signs out`, async (t) => {
    const portal = await startPortal(t, name);
    const visitor = portal.visitor();
    const first = await visitor.visit('/portal/people');
    t.equal(first.statusCode, 303);
    t.equal(first.headers.location, '/portal/sign-in?next=%2Fportal%2Fpeople');
    await visitor.visit(first.headers.location ?? '');
    await visitor.submitAndFollow('/portal/sign-in', {
      email: ` ${EMAIL.toUpperCase()}`,
      password: PASSWORD,
    });
    t.match(visitor.text, /These people administer/, 'and comes to the page that was asked for');
    await visitor.submitAndFollow('/portal/sign-out');
    t.match(visitor.text, /You have signed out/);
    t.equal((await visitor.visit('/portal')).statusCode, 303);
  });
}
