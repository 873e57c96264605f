import { applyTogether } from '../backoffice/apply.ts';
import { type Office, openOffice } from '../backoffice/office.ts';
import type { Change, ChangeName, WithOf } from '../contract/feed.ts';
import type { Engine } from '../store/engine.ts';
import { createRandom } from './random.ts';

/** Something that the team did. */
export type Deed<Name extends ChangeName = ChangeName> = {
  [N in Name]: { change: N; with: WithOf<N> };
}[Name];

/** A change of which a story knows the time. Its id lets it be made once only, however often the story is told. */
export type StoryChange = Change & { id: string; at: string };

/** Makes changes together, each at its own time: all of them, or none. Those that were made before are skipped. */
export type TellStory = (changes: readonly StoryChange[]) => Promise<void>;

/**
 * Opens a back office in which it is always the time of the change that is made. What is left to chance follows from
 * that time too, so that a story that was broken off comes to the same end when it is told again.
 */
export function openStory(engine: Engine): TellStory {
  let now = new Date(0);
  let random = createRandom(0);
  const office = openOffice(engine, { now: () => now, random: (size) => random.bytes(size) });
  const turn = ({ at }: StoryChange) => {
    now = new Date(at);
    random = createRandom(now.getTime());
  };
  return async (changes) => {
    await applyTogether(withoutReaders(office), inTurn(changes, turn));
  };
}

/**
 * The times of a story lie before what the service has told its readers as the time. The company of a story that is
 * being told has no readers yet, so none of them can miss a change that is stamped with its own time.
 */
function withoutReaders(office: Office): Office {
  const { moves } = office;
  const lockCompany: typeof moves.lockCompany = async (...given) => {
    const company = await moves.lockCompany(...given);
    return company && { ...company, servedMs: 0 };
  };
  return { ...office, moves: { ...moves, lockCompany } };
}

/** The same changes, each of which takes its turn as it is come to. */
function inTurn<T>(changes: readonly T[], turn: (change: T) => void): T[] {
  return Object.defineProperty([...changes], Symbol.iterator, {
    *value() {
      for (const change of changes) {
        turn(change);
        yield change;
      }
    },
  });
}
