// Long: it asks again for each planted defect.
import t from 'tap';

import { defects } from './_defects.ts';
import { startParty } from './_parties.ts';
import { startDefectiveParty } from './_proxy.ts';
import { stepsFor, take } from './_suite.ts';

/** Ends a step as soon as it has said what is expected of it. */
class Caught extends Error {}

t.test('the suite catches every planted defect, by the step that is there for it', async (t) => {
  await using server = await startParty('sqlite');
  await using defective = await startDefectiveParty(server);
  const { party, plant } = defective;
  const steps = stepsFor(party);
  // The proxy alone changes nothing. Whatever is refused takes the same way through it, so one operation's refusals tell.
  for (const step of steps.filter(({ name }) => !/^4/.test(name) || name.includes(' listInvoices')))
    t.strictSame(await take(step, party), { name: step.name, problems: [] }, step.name);
  for (const { name, change, says, within } of defects) {
    plant(change);
    const said: unknown[] = [];
    const note = (problem: string) => {
      said.push(problem);
      if (says.test(problem)) throw new Caught();
    };
    for (const { run } of steps.filter((step) => within.test(step.name))) {
      // A step that breaks down for another reason isn't what the defect was planted for.
      await run({ party, note }).catch((error: unknown) => said.push(error));
      if (said.at(-1) instanceof Caught) break;
    }
    t.type(said.at(-1), Caught, name, { within: String(within), said: said.slice(0, 10) });
  }
});
