import { createHmac } from 'node:crypto';

import type { Test } from 'tap';

import { contract, events } from './_contract.ts';

const prose = contract.tags.find(({ name }) => name === 'Webhooks')?.description ?? '';

/** The code that the reference shows, by the language of its fence. */
export const samples = new Map(
  [...prose.matchAll(/^```(\w+)\n(.*?)\n```$/gms)].map(([, language = '', code = '']) => [language, code]),
);

export function sampleIn(language: string): string {
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

export function sign(key: string | Buffer, time: number | string, body: Buffer): string {
  return `t=${time},v1=${createHmac('sha256', key).update(`${time}.`).update(body).digest('hex')}`;
}

const vectors = events.flatMap(({ parameters }) =>
  parameters.flatMap((parameter) => parameter['x-test-vector'] ?? []),
);
if (!vectors[0]) throw new Error('There is no test vector.');
const { secret, t: time, body: text, header } = vectors[0];
const body = Buffer.from(text);
export const vector: Case = { name: 'the test vector', secret, header, body, now: time, isGenuine: true };
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
export const cases: Case[] = [
  ...genuine.map((given) => ({ ...vector, ...given })),
  ...forged.map((given) => ({ ...vector, ...given, isGenuine: false })),
];

/** Compares what a program made of the cases with what they are. */
export function judge(t: Test, verdicts: readonly unknown[]): void {
  t.equal(verdicts.length, cases.length);
  const wrong = cases.filter(({ isGenuine }, index) => verdicts[index] !== isGenuine);
  t.strictSame(
    wrong.map(({ name }) => name),
    [],
  );
}
