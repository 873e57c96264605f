import { deepStrictEqual } from 'node:assert/strict';

import fc from 'fast-check';
import t from 'tap';

import { createCompany, setCompany } from '../../../src/server/access/companies.ts';
import { engineNames, keyFor, openTestDatabase, startTestServer, STORY_NOW } from '../../_server.ts';
import { present, question, records } from './_arbitraries.ts';
import { crawl, fullPages } from './_crawl.ts';
import { expectedList } from './_naive.ts';
import { store } from './_records.ts';

/** Each engine filters in SQL of its own. */
const storesOf = { sqlite: 15, postgres: 25 };
const QUESTIONS_OF_A_STORE = 12;

const companyStores = fc.record({
  // Two companies, which have records with the same ids.
  stores: fc.tuple(records, records),
  questions: fc.array(fc.record({ question, present, limit: fc.integer({ min: 1, max: 100 }) }), {
    minLength: QUESTIONS_OF_A_STORE,
    maxLength: QUESTIONS_OF_A_STORE,
  }),
});

for (const name of engineNames) {
  t.test(
    `every list with any filters equals a plain filter of the company's records (${name})`,
    async (t) => {
      await using database = await openTestDatabase(name);
      const { engine } = database;
      await using server = await startTestServer({ engine });
      let companies = 0;
      const property = fc.asyncProperty(companyStores, async ({ stores, questions }) => {
        for (const own of stores) {
          const company = `random-${++companies}`;
          await createCompany(engine, company, {}, STORY_NOW);
          const key = await keyFor(engine, company);
          await store(engine, company, own);
          for (const { question: asks, present: at, limit } of questions) {
            await setCompany(engine, company, { timeZone: at.timeZone });
            server.setNow(at.now);
            const { records: met, pageSizes } = await crawl(server, key, { ...asks, limits: [limit] });
            const expected = expectedList(own, asks, at);
            deepStrictEqual(met, expected);
            deepStrictEqual(pageSizes, fullPages(expected.length, limit));
          }
        }
      });
      await t.resolves(fc.assert(property, { numRuns: storesOf[name] }));
    },
  );
}
