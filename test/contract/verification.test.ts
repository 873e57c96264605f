import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';

import t from 'tap';
import type { Test } from 'tap';

import { missing, skipCompiled } from '../server/reference/_samples.ts';
import { contract, events } from './_contract.ts';

const prose = contract.tags.find(({ name }) => name === 'Webhooks')?.description ?? '';

/** The code that the reference shows, by the language of its fence. */
const samples = new Map(
  [...prose.matchAll(/^```(\w+)\n(.*?)\n```$/gms)].map(([, language = '', code = '']) => [language, code]),
);

function sampleIn(language: string): string {
  const code = samples.get(language);
  if (code === undefined) throw new Error(`There is no code in ${language}.`);
  return code;
}

/** A delivery as a receiver gets it, and whether it is one. */
interface Case {
  name: string;
  secret: string;
  header: string;
  body: Buffer;
  now: number;
  isGenuine: boolean;
}

function sign(key: string | Buffer, time: number | string, body: Buffer): string {
  return `t=${time},v1=${createHmac('sha256', key).update(`${time}.`).update(body).digest('hex')}`;
}

const vectors = events.flatMap(({ parameters }) =>
  parameters.flatMap((parameter) => parameter['x-test-vector'] ?? []),
);
if (!vectors[0]) throw new Error('There is no test vector.');
const { secret, t: time, body: text, header } = vectors[0];
const body = Buffer.from(text);
const vector: Case = { name: 'the test vector', secret, header, body, now: time, isGenuine: true };
const decoded = Buffer.from(secret.replace('whsec_', ''), 'base64');
const binary = Buffer.from([...Array(256).keys(), 10, 10, 0]);
const [start, v1 = ''] = header.split(',v1=');

const genuine: Partial<Case>[] = [
  { name: 'the test vector' },
  { name: 'one that is 300 seconds old', now: time + 300 },
  { name: 'one from 300 seconds ahead', now: time - 300 },
  { name: 'a body that is no text', body: binary, header: sign(secret, time, binary) },
  { name: 'an empty body', body: Buffer.alloc(0), header: sign(secret, time, Buffer.alloc(0)) },
  {
    name: 'a body with a line break at its end',
    body: Buffer.from('{}\n'),
    header: sign(secret, time, Buffer.from('{}\n')),
  },
];
const forged: Partial<Case>[] = [
  { name: 'one that is 301 seconds old', now: time + 301 },
  { name: 'one from 301 seconds ahead', now: time - 301 },
  { name: 'a body with something more', body: Buffer.concat([body, Buffer.from(' ')]) },
  { name: 'a body with something less', body: body.subarray(1) },
  { name: 'a body that was changed', body: Buffer.from(text.replace('test', 'rest')) },
  { name: 'a wrong secret', secret: `${secret}x` },
  { name: 'the secret without its prefix', secret: secret.replace('whsec_', '') },
  { name: 'a signature with the decoded secret', header: sign(decoded, time, body) },
  { name: 'a signature with the secret after its prefix', header: sign(secret.slice(6), time, body) },
  {
    name: 'a signature of the body alone',
    header: `t=${time},v1=${createHmac('sha256', secret).update(body).digest('hex')}`,
  },
  { name: 'a later time than was signed', header: `t=${time + 1},v1=${v1}` },
  ...[0, 9, 18, 27, 36, 45, 54, 63].map((place) => ({
    name: `a signature whose digit ${place} differs`,
    header: `${start},v1=${v1.slice(0, place)}${v1[place] === '0' ? '1' : '0'}${v1.slice(place + 1)}`,
  })),
  { name: 'a signature that is cut off', header: header.slice(0, -2) },
  { name: 'a signature with something more', header: `${header}00` },
  { name: 'a line break after the signature', header: `${header}\n` },
  { name: 'a second line', header: `x\n${header}` },
  { name: 'no time', header: `v1=${v1}` },
  { name: 'no signature', header: `${start},v1=` },
  { name: 'the two in the wrong order', header: `v1=${v1},${start}` },
  { name: 'no header', header: '' },
  { name: 'nonsense', header: 'nonsense' },
  { name: 'a time that is none', header: sign(secret, 'now', body) },
  { name: 'a time beyond all numbers', header: sign(secret, '9'.repeat(40), body) },
  { name: 'a time with a sign', header: sign(secret, `+${time}`, body) },
];
const cases: Case[] = [
  ...genuine.map((given) => ({ ...vector, ...given })),
  ...forged.map((given) => ({ ...vector, ...given, isGenuine: false })),
];

/** Compares what a program made of the cases with what they are. */
function judge(t: Test, verdicts: readonly unknown[]): void {
  t.equal(verdicts.length, cases.length);
  const wrong = cases.filter(({ isGenuine }, index) => verdicts[index] !== isGenuine);
  t.strictSame(
    wrong.map(({ name }) => name),
    [],
  );
}

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

t.test('the code in Python tells genuine deliveries from others', { skip: missing('python3') }, async (t) => {
  const program = `${sampleIn('python')}
import base64, json, sys
cases = json.load(sys.stdin)
print(json.dumps([is_genuine(c["secret"], c["header"], base64.b64decode(c["body"]), c["now"]) for c in cases]))`;
  judge(t, verdictsOf('python3', ['-c', program]));
});

t.test('the code in PHP tells genuine deliveries from others', { skip: missing('php') }, async (t) => {
  const program = `${sampleIn('php')}
$cases = json_decode(file_get_contents('php://stdin'), true);
$judge = fn($c) => is_genuine($c['secret'], $c['header'], base64_decode($c['body']), $c['now']);
echo json_encode(array_map($judge, $cases));`;
  judge(t, verdictsOf('php', ['-r', program]));
});

t.test('the code in Ruby tells genuine deliveries from others', { skip: missing('ruby') }, async (t) => {
  const program = `${sampleIn('ruby')}
require "json"
puts JSON.parse(STDIN.read).map { |c| genuine?(c["secret"], c["header"], c["body"].unpack1("m"), c["now"]) }.to_json`;
  judge(t, verdictsOf('ruby', ['-e', program]));
});

t.test('the code in Go tells genuine deliveries from others', { skip: skipCompiled('go') }, async (t) => {
  const program = `package main

import (
	"encoding/json"
	"os"
	"receiver/webhooks"
	"time"
)

func main() {
	var cases []struct {
		Secret, Header string
		Body           []byte
		Now            int64
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, c := range cases {
		verdicts = append(verdicts, webhooks.IsGenuine(c.Secret, c.Header, c.Body, time.Unix(c.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
`;
  const folder = t.testdir({
    'go.mod': 'module receiver\n\ngo 1.21\n',
    'main.go': program,
    webhooks: { 'verify.go': sampleIn('go') },
  });
  judge(t, verdictsOf('go', ['run', '.'], folder));
});

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
