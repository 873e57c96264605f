import t from 'tap';

import { scopes } from '../../../src/contract/scopes.ts';
import { openWorkplace } from '../../_command.ts';

const EMAIL = 'aoife@acme.example';
const NOBODY = 'There is no company "nobody".';
const NO_ADMINISTRATOR = `The company "acme" has no administrator "${EMAIL}".`;
const NO_WEBHOOK = 'The company "acme" has no webhook "whk_1".';
const NO_SCOPE = `"jobs:write" is not a scope; the scopes are ${scopes.join(', ')}.`;

/** Refused in a company without anything. What a name, scopes and addresses may be is tested with their rules. */
const refusals: [line: string, message: string][] = [
  ['company create acme', 'The company "acme" already exists.'],
  ['company set nobody --api off', NOBODY],
  [
    'company create a.b',
    'The company id "a.b" must be 1 to 40 lower-case letters, digits and hyphens, with no hyphen at an end.',
  ],
  ['company set acme --time-zone Mars', '"Mars" is not an IANA time zone such as Europe/Dublin.'],
  ['company set acme --currency eur', '"eur" is not an ISO 4217 currency code such as EUR.'],
  [
    'company set acme --modules jobs,cars',
    '"cars" is not a module; the modules are jobs, people, forms, invoices, customers, quotes.',
  ],
  ['company set acme --country-code Ireland', '"Ireland" is not an ISO 3166-1 country code such as IE.'],
  ["company set acme --name ' '", 'The name must have 1 to 200 characters.'],
  [`admin create nobody ${EMAIL} --scopes all`, NOBODY],
  ['admin create acme aoife --scopes all', '"aoife" isn\'t an email address such as jane@example.com.'],
  ['admin list nobody', NOBODY],
  [`admin disable acme ${EMAIL}`, NO_ADMINISTRATOR],
  [`admin sign-out acme ${EMAIL}`, NO_ADMINISTRATOR],
  [`admin sign-out nobody ${EMAIL}`, NOBODY],
  [`admin reset acme ${EMAIL}`, NO_ADMINISTRATOR],
  ['key create nobody --scopes all', NOBODY],
  ['key list nobody', NOBODY],
  ['key revoke acme f00', 'The company "acme" has no key "f00".'],
  ['key revoke nobody f00', NOBODY],
  ['key create acme --scopes jobs:write', NO_SCOPE],
  ['webhook create nobody https://example.com', NOBODY],
  ['webhook list nobody', NOBODY],
  ['webhook pause acme whk_1', NO_WEBHOOK],
  ['webhook resume acme whk_1', NO_WEBHOOK],
  ['webhook delete acme whk_1 --confirm whk_1', NO_WEBHOOK],
  [
    'webhook create acme https://example.com --events job.created,ping',
    '"ping" can\'t be chosen: every webhook gets it when you send a test.',
  ],
];

t.test('each refusal names its cause in a sentence, or as JSON, and changes nothing', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json('company create acme --api --invoicing');
  const before = await workplace.json('company list');
  for (const [line, message] of refusals) {
    const stderr = `fieldledger: ${message}\n`;
    t.strictSame(await workplace.call(line), { exitCode: 1, stdout: '', stderr }, line);
    const stdout = `${JSON.stringify({ error: { message } })}\n`;
    t.strictSame(await workplace.call(`${line} --json`), { exitCode: 1, stdout, stderr });
  }
  for (const subject of ['admin', 'key', 'webhook'])
    t.strictSame(await workplace.json(`${subject} list acme`), [], `no ${subject} was made`);
  t.strictSame(await workplace.json('company list'), before);
  for (const line of ['webhook', 'webhook create acme', 'webhook delete acme', 'webhook mend'])
    t.equal((await workplace.call(line)).exitCode, 2, line);
});
