import { exampleCompany } from '../../src/demo/example-company.ts';
import { checks, problemsOf } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { knownPath } from './_declared.ts';
import { ask, awaitAllowanceOf, parsed } from './_exchange.ts';
import { type Asker, askers, headersOf, NotGiven, type Party } from './_parties.ts';
import { examine, isFor, type Question, questions } from './_questions.ts';
import {
  answeredPath,
  exampleLists,
  listOperationOf,
  listsOf,
  readLists,
  type WholeList,
} from './_reading.ts';

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

/** The key of an asker. A wrong one is made from a right one. */
function keyOf(keys: Exclude<Keys, 'mock'>, asker: Asker): string | undefined {
  if (asker !== 'wrong' || keys.wrong !== undefined) return keys[asker];
  return keys.reader?.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
}

/** @throws Error when a key isn't what it is given for: everything asked with it would be answered otherwise. */
async function checkKey(party: Party, asker: Asker): Promise<void> {
  const headers = headersOf(party, asker);
  const answer = await ask(party.urls.normal, { target: '/api/v1/jobs?limit=1', headers }).catch(
    (error: unknown) => {
      throw new Error(`${party.urls.normal} doesn't answer: ${(error as Error).message}`);
    },
  );
  const said = answer.status === 200 ? '200' : `${answer.status} ${codeOf(parsed(answer))}`;
  if (said.endsWith(' none'))
    throw new Error(`${party.urls.normal}/api/v1/jobs is answered ${answer.status}: this is not the API.`);
  const wanted = asker === 'wrong' ? '401 invalid_key' : asker === 'revoked' ? '401 revoked_key' : undefined;
  if (wanted === undefined ? answer.status === 401 : said !== wanted) {
    const right = wanted === undefined ? 'and should let somebody in' : `not ${wanted}`;
    throw new Error(`The key for "${asker}" is answered ${said}, ${right}.`);
  }
}

/** The same party, which knows the example company's lists by the contract if the reader's company is that one. */
async function withExamples(party: Party, keys: Exclude<Keys, 'mock'>): Promise<Party> {
  const companyOf = (key: string | undefined) => key?.split('.')[1];
  if (keys.neighbour !== undefined && companyOf(keys.neighbour) === companyOf(keys.reader)) {
    throw new Error('The key for "neighbour" is of the reader\'s own company, and should be of another.');
  }
  const target = knownPath('getJob');
  const { status } = await ask(party.urls.normal, { target, headers: headersOf(party, 'reader') });
  if (companyOf(keys.reader) !== exampleCompany.id || status === 404) return party;
  const readable = new Set((await party.lists('reader')).map(({ operationId }) => operationId));
  const lists = exampleLists().filter(({ operationId }) => readable.has(operationId));
  const others = (asker: Asker) => party.lists(asker);
  return { ...party, isExample: true, lists: async (asker) => (asker === 'reader' ? lists : others(asker)) };
}

/** A step of the suite: the problems that it found, or what it would have needed. */
export interface Step {
  name: string;
  problems: string[];
  needs: string | undefined;
}

/**
 * Puts the contract suite to a deployment, step by step. A step that needs a key, a server, a clock or a record that isn't
 * there is left out, and says so. The bodies of the contract's examples are those of the example company (`fieldledger
 * demo`); any other company is asked about what it has.
 */
export async function* examineDeployment(party: Party): AsyncGenerator<Step> {
  for (const question of questions().filter((question) => isFor(question, party))) {
    yield await take(question.name, async () => examine(party, await asked(party, question)));
  }
  // Each answer of the mock stands alone.
  if (party.name !== 'mock')
    for (const check of checks) yield await take(check.name, () => problemsOf(check, party));
}

async function take(name: string, run: () => Promise<string[]>): Promise<Step> {
  try {
    return { name, problems: await run(), needs: undefined };
  } catch (error) {
    if (error instanceof NotGiven) return { name, problems: [], needs: error.message };
    return { name, problems: [error instanceof Error ? error.message : String(error)], needs: undefined };
  }
}

/** A question as it is put to this company. @throws NotGiven when it has nothing that the answer could be about. */
async function asked(party: Party, question: Question): Promise<Question> {
  const { operationId, asker, status, example, target } = question;
  if (party.name === 'mock' || status === 401) return question;
  if (asker === 'reader' || asker.startsWith('with')) await listsOf(party, listOperationOf(operationId));
  if (party.isExample) return question;
  if (status === 200 && example !== undefined) throw new NotGiven('the example company');
  if (status !== 304) return question;
  return {
    ...question,
    target: target.replace(knownPath(operationId), await answeredPath(party, operationId)),
  };
}
