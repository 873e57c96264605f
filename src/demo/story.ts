import { applyChangesAtomically } from '../server/backoffice/apply.ts';
import { openBackoffice } from '../server/backoffice/backoffice.ts';
import type { Change, ChangeName, ChangeContent } from '../contract/feed.ts';
import type { AppendEvents } from '../server/store/records/events.ts';
import type { Engine } from '../server/store/engines/engine.ts';
import { createRandom } from './random.ts';

export type TeamChange<Name extends ChangeName = ChangeName> = {
  [N in Name]: { change: N; with: ChangeContent<N> };
}[Name];

/** A change of which a story knows the time. Its id lets it be made once only, however often the story is told. */
export type StoryChange = Change & { id: string; at: string };

/** Makes changes together, each at its own time: all of them, or none. Changes that were made before are skipped. */
export type TellStory = (changes: readonly StoryChange[]) => Promise<void>;

/**
 * Opens a back office in which it is always the time of the change that is made. Everything left to chance follows from
 * that time too, so that a story that was broken off comes to the same end when it is told again.
 * @param options.appendEvents takes the events of the changes; unless given, the company's webhooks get them.
 */
export function openStory(engine: Engine, options: { appendEvents?: AppendEvents } = {}): TellStory {
  let random = createRandom(0);
  const backoffice = openBackoffice(engine, {
    ...options,
    now: (change) => {
      const now = new Date(change.at ?? 0);
      random = createRandom(now.getTime());
      return now;
    },
    random: (size) => random.bytes(size),
    // Nobody reads the company yet, so nobody misses a change with an earlier time.
    hasReaders: false,
  });
  return async (changes) => {
    await applyChangesAtomically(backoffice, changes);
  };
}
