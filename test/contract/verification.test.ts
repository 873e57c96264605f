import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import t from 'tap';

import { missing } from '../server/reference/_samples.ts';
import { cases, judge, sampleIn, samples, sign, vector } from './_verification.ts';

const { secret, header, body, now: time } = vector;

/** Has an interpreter read the cases from its standard input, and print the verdicts as JSON. */
function verdictsOf(program: string, args: readonly string[], cwd?: string): unknown[] {
  const input = JSON.stringify(cases.map((given) => ({ ...given, body: given.body.toString('base64') })));
  const { stdout, stderr, status } = spawnSync(program, args, {
    input,
    encoding: 'utf8',
    timeout: 60_000,
    cwd,
  });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as unknown[];
}

t.test('there is code in seven languages', async (t) => {
  t.strictSame([...samples.keys()], ['ts', 'python', 'php', 'ruby', 'go', 'csharp', 'sh']);
  for (const [language, code] of samples) {
    t.ok(code.includes('300'), `${language} looks at the time`);
    t.match(
      code,
      /timingSafeEqual|compare_digest|hash_equals|secure_compare|hmac\.Equal|FixedTimeEquals|nonce/,
      language,
    );
  }
});

t.test('the code in TypeScript tells genuine deliveries from others', async (t) => {
  const file = join(t.testdir({ 'verify.ts': sampleIn('ts') }), 'verify.ts');
  const { isGenuine } = (await import(file)) as {
    isGenuine: (secret: string, header: string, rawBody: Buffer, now?: number) => boolean;
  };
  judge(
    t,
    cases.map((given) => isGenuine(given.secret, given.header, given.body, given.now)),
  );
  t.equal(isGenuine(secret, sign(secret, Math.floor(Date.now() / 1000), body), body), true, 'by the clock');
});

/** What an interpreter runs behind the code of its language. */
const interpreters = [
  [
    ...['Python', 'python3', '-c', 'python'],
    `import base64, json, sys
cases = json.load(sys.stdin)
print(json.dumps([is_genuine(c["secret"], c["header"], base64.b64decode(c["body"]), c["now"]) for c in cases]))`,
  ],
  [
    ...['PHP', 'php', '-r', 'php'],
    `$cases = json_decode(file_get_contents('php://stdin'), true);
$judge = fn($c) => is_genuine($c['secret'], $c['header'], base64_decode($c['body']), $c['now']);
echo json_encode(array_map($judge, $cases));`,
  ],
  [
    ...['Ruby', 'ruby', '-e', 'ruby'],
    `require "json"
puts JSON.parse(STDIN.read).map { |c| genuine?(c["secret"], c["header"], c["body"].unpack1("m"), c["now"]) }.to_json`,
  ],
];
for (const [language = '', program = '', option = '', fence = '', rest = ''] of interpreters)
  t.test(
    `the code in ${language} tells genuine deliveries from others`,
    { skip: missing(program) },
    async (t) => judge(t, verdictsOf(program, [option, `${sampleIn(fence)}\n${rest}`])),
  );

t.test(
  'the code for the shell tells genuine deliveries from others',
  { skip: missing('openssl') },
  async (t) => {
    const program = `${sampleIn('sh')}\nis_genuine "$1" "$2" "$3"`;
    const verdicts = cases.map((given) => {
      const args = ['-c', program, 'sh', given.secret, given.header, String(given.now)];
      const { status, stderr, stdout } = spawnSync('sh', args, { input: given.body, encoding: 'utf8' });
      return `${stdout}${stderr}` === '' && (status === 0 || status === 1) ? status === 0 : stderr;
    });
    judge(t, verdicts);
    const now = sign(secret, Math.floor(Date.now() / 1000), body);
    const { status } = spawnSync('sh', ['-c', program, 'sh', secret, now], { input: body });
    t.equal(status, 0, 'by the clock');
  },
);

t.test('the shell takes nothing for genuine where there is no openssl', async (t) => {
  const program = `${sampleIn('sh')}\nopenssl() { return 127; }\nis_genuine "$1" "$2" "$3"`;
  const args = ['-c', program, 'sh', secret, header, String(time)];
  t.equal(spawnSync('sh', args, { input: body }).status, 1);
});
