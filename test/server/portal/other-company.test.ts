import { createCompany } from '../../../src/server/access/companies.ts';
import { routes } from '../../../src/server/portal/routes.ts';
import { STORY_NOW } from '../../_server.ts';
import { everything, formsOf, pathOf } from './_forms.ts';
import { COLLEAGUE, COMPANY, onSqlite } from './_portal.ts';
import { addWebhook } from './_webhooks.ts';

const RECORDS = { hasRecords: true };
const PAID = '01a0a486-e8e0-7076-ace5-e31611d48e0a';
/** Ids that nothing has, as somebody writes them who tries. */
const NONE = ['nothing', encodeURIComponent("' OR ''='"), '%01'];
/** The contract's samples of events, which everybody may see. */
const SAMPLES = /<pre>[\s\S]*?<\/pre>/g;

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
    t.notMatch(await visitor.read(`${ofOwn}?ping=${delivery}`), /Everything about this ping/);
    t.equal((await visitor.visit(`/portal/webhooks/new?like=${delivered['id']}`)).statusCode, 404);
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
    t.match(await visitor.read('/portal/usage'), /No key was used in this time/);
    t.match(await visitor.read('/portal/hand-overs'), /Nothing has failed/);
  });
});
