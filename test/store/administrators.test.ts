import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import {
  type Administrator,
  findSignIn,
  insertAdministrator,
  updateAdministratorRow,
} from '../../src/store/administrators.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';

const NOW = STORY_NOW.toISOString();

function administratorOf(company: string, id: string): Administrator {
  return {
    id,
    company,
    email: 'jane@example.com',
    name: 'Jane',
    scopes: ['jobs:read'],
    mayInvite: false,
    madeBy: null,
    createdAt: NOW,
    signedInAt: null,
    disabledAt: null,
  };
}

for (const name of engineNames) {
  t.test(`${name}: an e-mail address administers one company, also when two take it at once`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    for (const company of ['acme', 'other']) await createCompany(engine, company, {}, STORY_NOW);
    const insert = (company: string, id: string) =>
      engine.transaction((transaction) =>
        insertAdministrator(transaction, administratorOf(company, id), 'hash'),
      );
    const outcomes = await Promise.all([insert('acme', 'a'), insert('other', 'b'), insert('acme', 'c')]);
    t.equal(outcomes.filter(Boolean).length, 1);
    const found = await findSignIn(engine, 'jane@example.com');
    t.equal(found?.password, 'hash');
    await engine.transaction((transaction) =>
      updateAdministratorRow(transaction, found?.administrator.id ?? '', { disabledAt: NOW }),
    );
    t.equal(await findSignIn(engine, 'jane@example.com'), undefined, 'who was disabled may not sign in');
    t.ok(await insert('other', 'd'), 'and leaves the address to others');
    t.equal((await findSignIn(engine, 'jane@example.com'))?.administrator.id, 'd');
  });
}
