import type { Person } from '../contract/records.ts';
import { emailAddress, fullName, personName } from './people-names.ts';
import type { World } from './world.ts';

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

/** The member of the company that joined at this place in the order of joining. */
export function person({ random, ids }: World, joinedAtMs: number, place: number): Person {
  const name = personName(random, random.chance(0.9) ? 'IE' : 'GB');
  const post = office[place] ?? random.pick(field);
  return {
    id: ids.prefixed('per', joinedAtMs),
    displayName: fullName(name),
    email: emailAddress(name, COMPANY_DOMAIN, String(place + 1)),
    status: 'active',
    ...roles[post.role],
    jobTitle: post.jobTitle,
    teamId: post.teamId,
  };
}

export function isInField({ roleId }: Person): boolean {
  return roleId === roles.field.roleId;
}
