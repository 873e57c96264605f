import { checks, problemsOf } from './_checks.ts';
import { ask, awaitAllowanceOf } from './_exchange.ts';
import { type Asker, headersOf, type Party } from './_parties.ts';
import { examine, isFor, type Question, questions } from './_questions.ts';

/** A step needs something that wasn't given. */
class NotGiven extends Error {}

/** The keys of a deployment, by who asks with them (`Asker`); the mock takes any. */
export type Keys = Partial<Record<Asker, string>> | 'mock';

/** A deployment as somebody sees it who may only send requests: one address, some keys, and no power over its clock. */
export function deploymentAt(url: string, keys: Keys): Party {
  // The mock refuses only when it is told to.
  if (keys !== 'mock') awaitAllowanceOf(url);
  return {
    name: keys === 'mock' ? 'mock' : 'sqlite',
    urls: new Proxy({} as Party['urls'], {
      get(_urls, name) {
        // The mock is told by a header what a server would have to be in.
        if (name === 'normal' || keys === 'mock') return url;
        throw new NotGiven(`a server in the state "${String(name)}"`);
      },
    }),
    authorization(asker) {
      if (asker === 'nobody') return undefined;
      const key = keys === 'mock' ? 'fl.brennan.any.key' : keys[asker];
      if (key === undefined) throw new NotGiven(`a key for "${asker}"`);
      return `Bearer ${key}`;
    },
    setNow() {
      throw new NotGiven('its clock');
    },
  };
}

/** A step of the suite: the problems that it found, or what it would have needed. */
export interface Step {
  name: string;
  problems: string[];
  needs: string | undefined;
}

/**
 * Puts the contract suite to a deployment, step by step. A step that needs a key, a server or a clock that wasn't given is
 * left out, and says so. The bodies of the contract's examples are those of the example company (`fieldledger demo`): where
 * the deployment hasn't got it, questions for them are left out, too.
 */
export async function* examineDeployment(party: Party): AsyncGenerator<Step> {
  const asked = questions().filter((question) => isFor(question, party));
  const hasExamples = party.name === 'mock' || (await hasExampleCompany(party, asked));
  for (const question of asked) {
    const { name } = question;
    if (isOfExamples(question) && !hasExamples) yield { name, problems: [], needs: 'the example company' };
    else yield await take(name, () => examine(party, question));
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

/** Whether a question asks for a record of the example company. */
function isOfExamples({ status, asker }: Question): boolean {
  return asker === 'reader' && (status === 200 || status === 304);
}

async function hasExampleCompany(party: Party, asked: readonly Question[]): Promise<boolean> {
  const record = asked.find(({ operationId, status }) => operationId === 'getJob' && status === 200);
  if (!record) return false;
  const answer = await ask(party.urls.normal, { target: record.target, headers: headersOf(party, 'reader') });
  return answer.status !== 404;
}
