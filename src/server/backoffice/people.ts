import type { WithOf } from '../../contract/feed.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import type { Move } from './move.ts';

/** Adds a member of the company, replaces one, or makes one active again. */
export async function savePerson(move: Move, person: WithOf<'person.save'>): Promise<RenderedRecord> {
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

/** Takes a person from the list of active members; what they made keeps their id. */
export async function deactivatePerson(move: Move, { id }: WithOf<'person.deactivate'>): Promise<undefined> {
  await move.mustHave('people', id, '/with/id');
  await move.remove('people', id);
}
