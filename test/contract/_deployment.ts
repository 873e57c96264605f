import { exampleCompany } from '../../src/demo/example-company.ts';
import { knownPath } from './_contract.ts';
import { awaitAllowanceOf, exchange, said } from './_exchange.ts';
import { exampleLists, readLists, type WholeList } from './_lists.ts';
import { type Asker, askers, headersOf, NotGiven, type Party } from './_parties.ts';

/** The keys of a deployment, by who asks with them (`Asker`); the mock takes any. */
export type Keys = Partial<Record<Asker, string>> | 'mock';

/**
 * A deployment as somebody sees it who may only send requests: one address, some keys, and no power over its clock.
 * @throws Error with a sentence when nothing answers there, or a key isn't what it is given for.
 */
export async function deploymentAt(url: string, keys: Keys): Promise<Party> {
  // The mock refuses only when it is told to.
  if (keys !== 'mock') awaitAllowanceOf(url);
  const known = new Map<Asker, Promise<WholeList[]>>();
  const party: Party = {
    name: keys === 'mock' ? 'mock' : 'sqlite',
    isExample: keys === 'mock',
    lists: (asker) => {
      const lists =
        known.get(asker) ?? (keys === 'mock' ? Promise.resolve(exampleLists()) : readLists(party, asker));
      known.set(asker, lists);
      return lists;
    },
    urls: new Proxy({} as Party['urls'], {
      get(_urls, name) {
        // The mock is told by a header what a server would have to be in.
        if (name === 'normal' || keys === 'mock') return url;
        throw new NotGiven(`a server in the state "${String(name)}"`);
      },
    }),
    authorization(asker) {
      if (asker === 'nobody') return undefined;
      const key = keys === 'mock' ? 'fl.brennan.any.key' : keyOf(keys, asker);
      if (key === undefined) throw new NotGiven(`a key for "${asker}"`);
      return `Bearer ${key}`;
    },
    setNow() {
      throw new NotGiven('its clock');
    },
    editDraft: async () => {
      throw new NotGiven('its team, to edit a draft');
    },
  };
  if (keys === 'mock') return party;
  for (const asker of askers) if (keyOf(keys, asker) !== undefined) await checkKey(party, asker);
  return withExamples(party, keys);
}

function keyOf(keys: Exclude<Keys, 'mock'>, asker: Asker): string | undefined {
  if (asker !== 'wrong' || keys.wrong !== undefined) return keys[asker];
  return keys.reader?.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
}

/** @throws Error when a key isn't what it is given for: everything asked with it would be answered otherwise. */
async function checkKey(party: Party, asker: Asker): Promise<void> {
  const headers = headersOf(party, asker);
  const answer = await exchange(party.urls.normal, { target: '/api/v1/jobs?limit=1', headers }).catch(
    (error: unknown) => {
      throw new Error(`${party.urls.normal} doesn't answer: ${(error as Error).message}`);
    },
  );
  const outcome = said(answer);
  if (outcome.endsWith(' none'))
    throw new Error(`${party.urls.normal}/api/v1/jobs is answered ${answer.status}: this is not the API.`);
  const wanted = asker === 'wrong' ? '401 invalid_key' : asker === 'revoked' ? '401 revoked_key' : undefined;
  if (wanted === undefined ? answer.status === 401 : outcome !== wanted) {
    const right = wanted === undefined ? 'and should let somebody in' : `not ${wanted}`;
    throw new Error(`The key for "${asker}" is answered ${outcome}, ${right}.`);
  }
}

/** The same party, which knows the example company's lists by the contract if the reader's company is that one. */
async function withExamples(party: Party, keys: Exclude<Keys, 'mock'>): Promise<Party> {
  const companyOf = (key: string | undefined) => key?.split('.')[1];
  if (keys.neighbour !== undefined && companyOf(keys.neighbour) === companyOf(keys.reader)) {
    throw new Error('The key for "neighbour" is of the reader\'s own company, and should be of another.');
  }
  const target = knownPath('getJob');
  const { status } = await exchange(party.urls.normal, { target, headers: headersOf(party, 'reader') });
  if (companyOf(keys.reader) !== exampleCompany.id || status === 404) return party;
  const readable = new Set((await party.lists('reader')).map(({ operationId }) => operationId));
  const lists = exampleLists().filter(({ operationId }) => readable.has(operationId));
  const others = (asker: Asker) => party.lists(asker);
  return { ...party, isExample: true, lists: async (asker) => (asker === 'reader' ? lists : others(asker)) };
}
