import type { ChangeContent } from '../../contract/feed.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import type { Move } from './move.ts';

/** Adds or replaces an active member of the company; one who was deactivated becomes active again. */
export async function savePerson(move: Move, person: ChangeContent<'person.save'>): Promise<RenderedRecord> {
  return move.put('people', {
    id: person.id ?? move.mintId('per_'),
    displayName: person.displayName,
    email: person.email,
    status: 'active',
    roleId: person.roleId,
    roleName: person.roleName,
    jobTitle: person.jobTitle ?? null,
    teamId: person.teamId ?? null,
  });
}

/** Removes a person from the active members; the records they created keep their id. */
export async function deactivatePerson(
  move: Move,
  { id }: ChangeContent<'person.deactivate'>,
): Promise<undefined> {
  await move.mustHave('people', id, '/with/id');
  await move.remove('people', id);
}
