import type { ChangeContent } from '../contract/feed.ts';
import { emailAddress, fullName, personName } from './people-names.ts';
import type { Strand } from './strands.ts';
import { mintId, type World } from './world.ts';

const COMPANY_DOMAIN = 'harbour-building-services.example';

const roles = {
  administrator: { roleId: 'rol_administrator', roleName: 'Administrator' },
  office: { roleId: 'rol_office', roleName: 'Office' },
  field: { roleId: 'rol_field', roleName: 'Field' },
} as const;

interface Post {
  role: keyof typeof roles;
  jobTitle: string | null;
  teamId: string | null;
}

const office: readonly Post[] = [
  { role: 'administrator', jobTitle: 'Managing director', teamId: null },
  { role: 'office', jobTitle: 'Service coordinator', teamId: 'team_office' },
  { role: 'office', jobTitle: 'Accounts', teamId: 'team_office' },
];

const field: readonly [Post, ...Post[]] = [
  { role: 'field', jobTitle: 'Gas engineer', teamId: 'team_heating' },
  { role: 'field', jobTitle: 'Electrician', teamId: 'team_electrical' },
  { role: 'field', jobTitle: 'Plumber', teamId: 'team_heating' },
  { role: 'field', jobTitle: 'Fire alarm technician', teamId: 'team_fire' },
  { role: 'field', jobTitle: 'Apprentice', teamId: 'team_electrical' },
  { role: 'field', jobTitle: null, teamId: null },
];

export interface DemoPerson {
  id: string;
  teamId: string | null;
  /** Whether they go out to the customers. */
  isInField: boolean;
}

/** The next member of the company joins. */
export function* person(world: World, joinedAtMs: number): Strand {
  const { random, census, people } = world;
  if (!census.admit('people')) return;
  const name = personName(random, random.chance(0.9) ? 'IE' : 'GB');
  const place = people.length;
  const { role, jobTitle, teamId } = office[place] ?? random.pick(field);
  const saved = {
    id: mintId(world, 'per', joinedAtMs),
    displayName: fullName(name),
    email: emailAddress(name, COMPANY_DOMAIN, String(place + 1)),
    ...roles[role],
    jobTitle,
    teamId,
  } satisfies ChangeContent<'person.save'>;
  people.push({ id: saved.id, teamId, isInField: role === 'field' });
  yield { change: 'person.save', with: saved };
}

/** Someone who goes out to the customers; anyone, in a company too small for that. */
export function fieldPerson({ people, random }: World): DemoPerson {
  const inField = people.filter(({ isInField }) => isInField);
  const [first, ...others] = inField.length > 0 ? inField : people;
  if (!first) throw new Error('A company without people does nothing.');
  return random.pick([first, ...others]);
}
