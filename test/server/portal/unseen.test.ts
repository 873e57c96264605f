import { scopes } from '../../../src/contract/scopes.ts';
import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { routes } from '../../../src/server/portal/routes.ts';
import { STORY_NOW } from '../../_server.ts';
import { everything, formsOf, pathOf } from './_forms.ts';
import { COLLEAGUE, COMPANY, onSqlite, type TestPortal, type Visitor } from './_portal.ts';
import { addHistory } from '../features/webhooks/_history.ts';
import { addWebhook } from '../features/webhooks/_registered.ts';

const RECORDS = { hasRecords: true };
const PAID = '01a0a486-e8e0-7076-ace5-e31611d48e0a';
/** Ids that nothing has, as somebody writes them who tries. */
const NONE = ['nothing', encodeURIComponent("' OR ''='"), '%01'];
/** The contract's samples of events, which everybody may see. */
const SAMPLES = /<pre>[\s\S]*?<\/pre>/g;

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
  const queries = ['search=zanzi', 'search=', 'search=Z', 'customer=cus_zanzibar', 'state=draft'];
  return [...paths, ...queries.map((query) => `/portal/documents?${query}`)];
}

onSqlite('invoices:read alone finds no customer by the search', RECORDS, async (t, portal) => {
  await addCustomer(portal);
  const { visitor } = await portal.join({ scopes: ['invoices:read'] });
  await visitor.visit('/portal/documents?search=zanzibar');
  t.notMatch(visitor.shown, /Zanzibar Nodocuments|cus_zanzibar/);
  t.match(
    visitor.text,
    /You can’t search customers\. You don’t have the scope customers:read\. Ask an administrator who has it\./,
  );
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
    /You can’t search customers\. Your plan does not include it/,
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
    // They are of the same company as the test's.
    const shown =
      path.endsWith('/events') || path.endsWith('/new') ? visitor.shown.replace(SAMPLES, '') : visitor.shown;
    for (const [needed, mark] of Object.entries(MARKS))
      if (needed !== scope && shown.includes(mark))
        t.fail(`${path} shows ${mark} to somebody who has ${scope} alone`);
    if (scope !== 'invoices:read') t.notMatch(shown, /INV-2026|application\/pdf/, path);
  }
});

async function addCustomer({ engine }: TestPortal): Promise<void> {
  const [row] = await engine.run("SELECT body FROM customers WHERE id = 'cus_0003'");
  const body = {
    ...(JSON.parse(String(row?.body)) as object),
    id: 'cus_zanzibar',
    name: MARKS['customers:read'],
  };
  await engine.run(
    `INSERT INTO customers (company, digest, body) VALUES ('${COMPANY}', '', '${JSON.stringify(body).replaceAll("'", "''")}')`,
  );
}

onSqlite('what is another company’s answers as if there were none', RECORDS, async (t, portal) => {
  const { engine } = portal;
  const forms = await formsOf(portal);
  const delivered = forms['/webhooks/:id/deliveries/:delivery/send-again']?.params ?? {};
  const [key = '', colleague = ''] = ['/keys/:id/revoke', '/people/:id/remove'].map(
    (path) => forms[path]?.params?.id,
  );
  portal.usage.count(COMPANY, key, false);
  await portal.usage.flush();
  await createCompany(engine, 'rival', {}, STORY_NOW);
  const { visitor } = await portal.join({ company: 'rival', email: 'rita@rival.example', name: 'Rita' });
  const own = await addWebhook(engine, { company: 'rival', url: 'https://rival.example.com/' });
  await engine.run(`UPDATE hand_overs SET id = '${PAID}'`);
  const before = await everything(engine);

  await t.test('to every page and action that names it', async (t) => {
    for (const route of routes) {
      const { method, path, access } = route;
      if (access === 'guests' || !path.includes(':')) continue;
      const { params = delivered, fields } = forms[path] ?? {};
      const theirs = path.startsWith('/documents') ? { id: PAID } : params;
      const ask = async (named: Record<string, string>) => {
        await visitor.visit('/portal');
        const status =
          method === 'post'
            ? await visitor.force(pathOf(route, named), fields)
            : (await visitor.visit(`${pathOf(route, named)}?format=ubl`)).statusCode;
        return `${status} ${visitor.text.replace(/Request id: .*/, '')}`;
      };
      const answer = await ask(theirs);
      t.match(answer, /^404 /, `${method} ${path}`);
      for (const id of NONE) t.equal(await ask({ ...theirs, id }), answer, `${method} ${path} of ${id}`);
    }
    const { delivery = '' } = delivered;
    const ofOwn = `/portal/webhooks/${own.id}`;
    t.equal((await visitor.visit(`${ofOwn}/deliveries/${delivery}`)).statusCode, 404);
    t.equal(await visitor.force(`${ofOwn}/deliveries/${delivery}/send-again`, { seen: '0' }), 404);
    t.notMatch(await visitor.read(`${ofOwn}?ping=${delivery}`), /See this test/);
    await visitor.force('/portal/hand-overs/again');
    t.equal(await everything(engine), before, 'and nothing is done');
  });

  await t.test('in every list', async (t) => {
    const lists = routes.flatMap(({ method, path, access }) =>
      method === 'get' && access === 'administrators' && !path.includes(':') ? [path] : [],
    );
    const queries = ['search=INV', 'search=Niamh', 'customer=cus_0002', 'format=csv'];
    lists.push(...queries.map((query) => `/documents?${query}`), '/receivables?format=csv');
    lists.push(`/audit?who=${colleague}`);
    const names = ['Brennan', COLLEAGUE.name, 'one@brennan.example', 'hooks.example.com', 'Niamh Kelly'];
    const theirs = new RegExp([key, colleague, delivered['id'], ...names, 'INV-2026', '€'].join('|'));
    for (const list of lists) {
      await visitor.visit(`/portal${list}`);
      t.notMatch(visitor.shown.replaceAll(SAMPLES, ''), theirs, list);
    }
    t.match(await visitor.read('/portal/usage'), /No key was used/);
    t.match(await visitor.read('/portal/hand-overs'), /Nothing has failed/);
  });
});
