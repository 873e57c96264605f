import { scopes } from '../../../src/contract/scopes.ts';
import { routes } from '../../../src/server/portal/routes.ts';
import { STORY_NOW } from '../../_server.ts';
import { COMPANY, onSqlite, type TestPortal, type Visitor } from './_portal.ts';
import { addHistory } from './_history.ts';
import { addWebhook } from './_webhooks.ts';

const RECORDS = { hasRecords: true };

/** A text that stands in no other record, by the scope that reads it. */
const MARKS = {
  'customers:read': 'Zanzibar Nodocuments',
  'jobs:read': 'job_0002',
  'quotes:read': 'QU-2026',
  'forms:read': 'form_',
} as const;

/** Every page that somebody may ask for, with the queries that look for records. */
function pathsOf(ids: Record<string, string>): string[] {
  const paths = routes
    .filter(({ method, access }) => method === 'get' && access === 'administrators')
    .map(({ path }) => `/portal${path.replaceAll(/:(\w+)/g, (_all, name: string) => ids[name] ?? '')}`);
  const queries = ['search=zanzi', 'search=', 'search=Z', 'customer=cus_zanzibar', 'show=drafts'];
  return [...paths, ...queries.map((query) => `/portal/documents?${query}`)];
}

onSqlite('invoices:read alone finds no customer by the search', RECORDS, async (t, portal) => {
  await addCustomer(portal);
  const { visitor } = await portal.join({ scopes: ['invoices:read'] });
  await visitor.visit('/portal/documents?search=zanzibar');
  t.notMatch(visitor.shown, /Zanzibar Nodocuments|cus_zanzibar/);
  t.match(visitor.text, /Customers can’t be searched\. You don’t have the access customers:read yourself/);
  for (const query of ['search=INV-2026-0004', 'customer=cus_0004'])
    t.match((await visitor.visit(`/portal/documents?${query}`)).body, /INV-2026-0004/, query);
  t.match(
    await visitor.read('/portal/documents?search=Niamh'),
    /No documents found/,
    'and not by the names of their customers',
  );
  const owner = await portal.signedIn();
  t.match(
    await owner.read('/portal/documents?search=zanzibar'),
    /Zanzibar Nodocuments/,
    'whoever may read customers can choose one',
  );
  await portal.engine.run(`UPDATE companies SET modules = '["invoices"]' WHERE id = '${COMPANY}'`);
  t.match(
    await owner.read('/portal/documents?search=zanzibar'),
    /Customers can’t be searched\. Your plan does not include it/,
  );
});

onSqlite('no page shows a record of a scope that the administrator lacks', RECORDS, async (t, portal) => {
  await addCustomer(portal);
  const webhook = await addWebhook(portal.engine, { events: ['job.created', 'form.submitted'] });
  const history = { company: COMPANY, until: STORY_NOW, rarelyEvery: 20, count: 40, failedEvery: 5 };
  await addHistory(portal.engine, { ...history, webhooks: [webhook.id] });
  const deliveries = await portal.engine.run('SELECT id FROM deliveries ORDER BY id LIMIT 3');
  for (const scope of scopes) {
    const email = `${scope.replace(':', '.')}@brennan.example`;
    const { visitor } = await portal.join({ email, scopes: [scope] });
    for (const { id } of deliveries)
      for (const path of pathsOf({ id: webhook.id, delivery: String(id) }))
        await expectNoMarks(visitor, path, scope);
  }
  async function expectNoMarks(visitor: Visitor, path: string, scope: string) {
    await visitor.visit(path);
    // The contract's samples of events are of the same company as the test's, and everybody may see them.
    const shown =
      path.endsWith('/events') || path.endsWith('/new') ? visitor.shown.replace(SAMPLES, '') : visitor.shown;
    for (const [needed, mark] of Object.entries(MARKS))
      if (needed !== scope && shown.includes(mark))
        t.fail(`${path} shows ${mark} to somebody who has ${scope} alone`);
    if (scope !== 'invoices:read') t.notMatch(shown, /INV-2026|application\/pdf/, path);
  }
});

const SAMPLES = /<pre>[\s\S]*?<\/pre>/g;

async function addCustomer({ engine }: TestPortal): Promise<void> {
  const [row] = await engine.run("SELECT body FROM customers WHERE id = 'cus_0003'");
  const body = {
    ...(JSON.parse(String(row?.body)) as object),
    id: 'cus_zanzibar',
    name: MARKS['customers:read'],
  };
  await engine.run(
    `INSERT INTO customers (company, body) VALUES ('${COMPANY}', '${JSON.stringify(body).replaceAll("'", "''")}')`,
  );
}
