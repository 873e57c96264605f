import { copyFileSync } from 'node:fs';

import t from 'tap';

import {
  removeAdministrator,
  resetSecondFactor,
} from '../../../../src/server/features/people/administrators.ts';
import { changeAccess } from '../../../../src/server/features/people/change-access.ts';
import { invite, withdrawInvitation } from '../../../../src/server/features/people/invitations.ts';
import { changeKey, createKey, revokeKey } from '../../../../src/server/features/keys/keys.ts';
import {
  addSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
  requireSecondFactor,
} from '../../../../src/server/features/sign-in/second-factor.ts';
import { endSessions } from '../../../../src/server/features/sign-in/sessions.ts';
import {
  AuthorityEndedError,
  ProofNeededError,
} from '../../../../src/server/store/accounts/authorised-transaction.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { KEY_PREFIX, openTestDatabase, PORTAL_SETTINGS, STORY_NOW } from '../../../_server.ts';
import { readTables } from '../../backoffice/_backoffice.ts';
import { COMPANY } from '../../portal/_portal.ts';
import { BOTH, makeWorld, meanwhile, type World } from '../../access/_world.ts';

const now = STORY_NOW;
const box = PORTAL_SETTINGS.secrets;
const given = { scopes: BOTH, mayInvite: false, revoke: [] };

type Refusal = RegExp | { code: string } | typeof AuthorityEndedError | typeof ProofNeededError;

/** What is taken away or added, as a statement that knows the world, and what the act answers then. */
type Case = [what: string, change: (world: World) => string, refusal: Refusal | 'done'];

const ofSelf = (set: string) => (world: World) =>
  `UPDATE administrators SET ${set} WHERE id = '${world.self}'`;
const ofOther = (set: string) => (world: World) =>
  `UPDATE administrators SET ${set} WHERE id = '${world.other}'`;
const ofKey = (set: string) => (world: World) => `UPDATE api_keys SET ${set} WHERE id = '${world.key}'`;
const fewer = ofSelf(`scopes = '["jobs:read"]'`);
const asMuch = ofSelf(`scopes = '["jobs:read","quotes:read"]'`);
const noInviter = ofSelf('may_invite = 0');
const noFactor = ofSelf('second_factor = NULL');
const ofSession =
  (set: string) =>
  ({ by }: World) =>
    `UPDATE portal_sessions SET ${set} WHERE id = '${by.session}'`;

const INVITES_NOT = /^You can’t invite or remove administrators\.$/;
const GIVES_NOT = /"quotes:read" is not a scope that you can give; you have jobs:read\./;
const HAS_MORE = /Conor has access that you don't have: quotes:read\./;
const NONE = { code: 'not_found' };
const NO_FACTOR = /There is no second factor\./;

const lessIsDone: Case = ['their access is less', fewer, 'done'];
const inviterAlone: Case = ['they may not invite', noInviter, INVITES_NOT];
const anybodyMay: Case = ['they may not invite', noInviter, 'done'];
const notWithLess: Case = ['they have less than it gives', fewer, GIVES_NOT];
const everybody: Case[] = [lessIsDone, anybodyMay];
const managing: Case[] = [
  ['they have less than the other', fewer, HAS_MORE],
  inviterAlone,
  ['the other is removed', ofOther(`disabled_at = 'x'`), NONE],
  [
    'the other is of another company',
    (of) => `DELETE FROM portal_sessions WHERE administrator = '${of.other}';
      DELETE FROM portal_links WHERE administrator = '${of.other}'; ${ofOther(`company = 'rival'`)(of)}`,
    NONE,
  ],
];

const oldProof: Case = [
  'their proof is older',
  ofSession(`proved_at = '2026-11-20T11:49:59.999Z'`),
  ProofNeededError,
];
/** What ends the authority. The portal's test of the same name asks every action for it. */
const endings: Case[] = [
  ['they are removed', ofSelf(`disabled_at = 'x'`), AuthorityEndedError],
  ['their session waits for a code', ofSession('is_waiting = 1'), AuthorityEndedError],
  ['their session ends now', ofSession(`expires_at = '${now.toISOString()}'`), AuthorityEndedError],
  ['their session goes on for a moment', ofSession(`expires_at = '2026-11-20T12:00:00.001Z'`), 'done'],
  [
    'their session is a colleague’s',
    (of) => ofSession(`administrator = '${of.other}'`)(of),
    AuthorityEndedError,
  ],
  [
    'their session is of another company, whose administrator has the same id',
    (of) => `INSERT INTO administrators (company, id, email, name, password, scopes, may_invite, created_at)
      SELECT 'rival', id, email, name, password, scopes, may_invite, created_at FROM administrators
      WHERE id = '${of.self}'; ${ofSession(`company = 'rival'`)(of)}`,
    AuthorityEndedError,
  ],
  ['their proof is ten minutes old', ofSession(`proved_at = '2026-11-20T11:50:00.000Z'`), 'done'],
  oldProof,
];

/** The acts of somebody who is signed in, and what each depends on besides their session and its proof. */
const acts: Record<string, { act: (engine: Engine, world: World) => Promise<unknown>; cases: Case[] }> = {
  'create a key': {
    act: (engine, { by }) =>
      createKey(engine, { prefix: KEY_PREFIX, company: COMPANY, name: 'New', scopes: BOTH, by, now }),
    cases: [notWithLess, anybodyMay, ...endings],
  },
  'change a key': {
    act: (engine, { by, key }) =>
      changeKey(engine, { company: COMPANY, id: key, name: 'New', lastDay: '2099-12-31', by, now }),
    cases: [
      notWithLess,
      anybodyMay,
      ['they have as much as it', asMuch, 'done'],
      ['it is revoked', ofKey(`revoked_at = '2026-11-20', ends_at = '2026-11-20'`), NONE],
      ['its last day is over', ofKey(`ends_at = '${now.toISOString()}'`), NONE],
      ['its last day is about to end', ofKey(`ends_at = '2026-11-20T12:00:00.001Z'`), 'done'],
      ['it is of another company', ofKey(`company = 'rival'`), NONE],
    ],
  },
  'revoke a key': {
    act: (engine, { by, key }) => revokeKey(engine, COMPANY, key, now, by),
    cases: [...everybody, ['it is of another company', ofKey(`company = 'rival'`), /has no key "\w+"\./]],
  },
  'invite somebody': {
    act: (engine, { by }) =>
      invite(engine, { company: COMPANY, email: 'sean@b.example', scopes: BOTH, mayInvite: true, by, now }),
    cases: [
      notWithLess,
      inviterAlone,
      [
        'the address is an administrator’s',
        ofOther(`email = 'sean@b.example'`),
        /is already an administrator of this company/,
      ],
      ['the address is of one who left', ofOther(`email = 'sean@b.example', disabled_at = 'x'`), 'done'],
      ['the address is invited already', () => `UPDATE portal_links SET email = 'sean@b.example'`, 'done'],
      [
        'it is, with more than they have',
        (world) =>
          `UPDATE portal_links SET email = 'sean@b.example', scopes = '["people:read"]';${asMuch(world)}`,
        /is already invited, .* gives access that you don't have: people:read\./,
      ],
    ],
  },
  'withdraw an invitation': {
    act: (engine, { by, invitation }) =>
      withdrawInvitation(engine, { company: COMPANY, id: invitation, by, now }),
    cases: [
      ['it gives more than they have', fewer, /gives access that you don't have: quotes:read\./],
      inviterAlone,
      ['it is used', ({ invitation }) => `DELETE FROM portal_links WHERE id = '${invitation}'`, NONE],
      ['it is of another company', () => `UPDATE portal_links SET company = 'rival'`, NONE],
    ],
  },
  'remove somebody': {
    act: (engine, { by, other }) => removeAdministrator(engine, { company: COMPANY, id: other, by, now }),
    cases: managing,
  },
  'change somebody’s access': {
    act: (engine, { by, other }) => changeAccess(engine, { company: COMPANY, id: other, ...given, by, now }),
    cases: [
      ...managing,
      [
        'they have less than they give',
        () => `UPDATE administrators SET scopes = '["jobs:read"]' WHERE company = '${COMPANY}'`,
        GIVES_NOT,
      ],
    ],
  },
  'reset somebody’s second factor': {
    act: (engine, { by, other }) => resetSecondFactor(engine, { company: COMPANY, id: other, by, now }),
    cases: [...managing, ['they have none', ofOther('second_factor = NULL'), /Conor has no second factor\./]],
  },
  'require a second factor of all': {
    act: (engine, { by }) => requireSecondFactor(engine, { company: COMPANY, isRequired: true, by, now }),
    cases: [lessIsDone, inviterAlone, ['they have none', noFactor, NO_FACTOR]],
  },
  'no longer require one': {
    act: (engine, { by }) => requireSecondFactor(engine, { company: COMPANY, isRequired: false, by, now }),
    cases: [lessIsDone, inviterAlone, ['they have none', noFactor, 'done']],
  },
  'set up a second factor': {
    act: (engine, { by, setup }) => addSecondFactor(engine, box, { company: COMPANY, ...setup, by, now }),
    cases: [...everybody, ['they have none', noFactor, 'done']],
  },
  'renew recovery codes': {
    act: (engine, { by }) => renewRecoveryCodes(engine, { company: COMPANY, by, now }),
    cases: [...everybody, ['they have no second factor', noFactor, NO_FACTOR]],
  },
  'remove their second factor': {
    act: (engine, { by }) => removeSecondFactor(engine, { company: COMPANY, by, now }),
    cases: [
      ...everybody,
      ['they have none', noFactor, NO_FACTOR],
      [
        'their company requires it',
        () => 'UPDATE companies SET second_factor_required = 1',
        /requires a second/,
      ],
    ],
  },
  'end another session': {
    act: (engine, { by, otherSession }) =>
      endSessions(engine, { company: COMPANY, id: otherSession, by, now }),
    cases: [
      ...everybody,
      [
        'it is a colleague’s',
        ({ other, otherSession }) =>
          `UPDATE portal_sessions SET administrator = '${other}' WHERE id = '${otherSession}'`,
        NONE,
      ],
      oldProof,
    ],
  },
  'end all sessions': {
    act: (engine, { by }) => endSessions(engine, { company: COMPANY, by, now }),
    cases: [...everybody, oldProof],
  },
  'end their own session': {
    act: (engine, { by }) => endSessions(engine, { company: COMPANY, id: by.session, by, now }),
    // It needs none.
    cases: [
      ...everybody,
      ['their proof is old', ofSession(`proved_at = '2026-11-20T00:00:00.000Z'`), 'done'],
    ],
  },
};

/** One world in a file, of which each case has a copy. */
const kept = openTestDatabase('sqlite').then(async (database) => {
  t.teardown(() => database[Symbol.asyncDispose]());
  const world = await makeWorld(database.engine);
  await database.engine.run('PRAGMA wal_checkpoint(TRUNCATE)');
  return { file: database.url.slice('sqlite:'.length), world };
});

/** What an act answers when a change was made before it was asked for, or once it had looked at what it looks at first. */
async function outcomeOf(act: (typeof acts)[string]['act'], change: Case[1], isLate = false) {
  const { file, world } = await kept;
  copyFileSync(file, `${file}-copy`);
  await using engine = await openEngine(`sqlite:${file}-copy`);
  let before = '';
  const make = async () => {
    for (const statement of change(world).split(';'))
      if (statement.trim() !== '') await engine.run(statement);
    before = JSON.stringify(await readTables(engine));
  };
  if (!isLate) await make();
  const answer = await act(isLate ? meanwhile(engine, make) : engine, world).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { answer, isChanged: before !== JSON.stringify(await readTables(engine)) };
}

for (const [what, { act, cases }] of Object.entries(acts))
  t.test(`an administrator may ${what} as long as nothing is against it`, async (t) => {
    t.match(await outcomeOf(act, () => ''), { answer: undefined, isChanged: true });
    for (const [why, change, refusal] of cases)
      for (const isLate of refusal === 'done' ? [false] : [false, true]) {
        const { answer, isChanged } = await outcomeOf(act, change, isLate);
        const where = `${why}${isLate ? ' meanwhile' : ''}`;
        if (refusal === 'done') t.equal(answer, undefined, where);
        else if (typeof refusal === 'function') t.type(answer, refusal, where);
        else t.match(answer, refusal instanceof RegExp ? { message: refusal } : refusal, where);
        t.equal(isChanged, refusal === 'done', where);
      }
  });
