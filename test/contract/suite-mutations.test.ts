import t from 'tap';

import { checks } from './_checks.ts';
import { defects } from './_defects.ts';
import { type Party, startParty } from './_parties.ts';
import { startDefectiveParty } from './_proxy.ts';
import { examine, isFor, questions } from './_questions.ts';

/** Ends the suite as soon as it has said what is expected of it. */
class Caught extends Error {}

/** The suite as one list of steps, in the order in which they are taken. */
function stepsFor(party: Party) {
  return [
    ...questions()
      .filter((question) => isFor(question, party))
      .map((question) => ({
        name: question.name,
        run: async (note: (problem: string) => void) => {
          for (const problem of await examine(party, question)) note(problem);
        },
      })),
    ...checks.map(({ name, run }) => ({
      name,
      run: (note: (problem: string) => void) => run(party, note),
    })),
  ];
}

/** Puts the suite to a party; gives what it said, up to what matches `says`. */
async function suiteSays(
  party: Party,
  { says, within }: { says?: RegExp; within?: RegExp | undefined } = {},
): Promise<{ said: string[]; isCaught: boolean }> {
  const said: string[] = [];
  const steps = stepsFor(party).filter(({ name }) => within?.test(name) ?? true);
  if (steps.length === 0) throw new Error(`No step is called ${String(within)}.`);
  for (const { name, run } of steps) {
    try {
      await run((problem) => {
        said.push(`${name}: ${problem}`);
        if (says?.test(problem)) throw new Caught();
      });
    } catch (error) {
      if (error instanceof Caught) return { said, isCaught: true };
      // A step that breaks down fails its test as well, but it isn't what the defect was planted for.
      said.push(`${name}: ${String(error)}`);
    }
  }
  return { said, isCaught: false };
}

t.test('the suite catches every planted defect', async (t) => {
  await using server = await startParty('sqlite');
  await using defective = await startDefectiveParty(server);
  const { said } = await suiteSays(defective.party);
  t.strictSame(said, [], 'nothing is said while the proxy changes nothing');
  t.ok(defects.length > 270, `${defects.length} defects`);
  t.equal(new Set(defects.map(({ name }) => name)).size, defects.length, 'each is named once');
  for (const defect of defects) {
    defective.plant(defect);
    const { isCaught, said } = await suiteSays(defective.party, defect);
    t.ok(isCaught, defect.name, { said: said.slice(0, 10) });
  }
});
