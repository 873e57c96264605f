import { extname, join } from 'node:path';

import { Tinypool } from 'tinypool';

import { UsageError } from '../../../errors.ts';
import { TOLERATE_MISSING_PROC } from '../../process/memory-usage.ts';
import type { Estimate, Estimated } from './password-thread.ts';

const CHARACTERS_MIN = 12;
const CHARACTERS_MAX = 200;
/** Only the beginning of a password is estimated: longer texts take seconds, and a strong beginning is enough. */
const ESTIMATED_CHARACTERS_MAX = 32;
const ESTIMATE_MS_MAX = 20_000;
/** How long the idle thread is kept, because people try again after a refusal. */
const IDLE_MS_MAX = 60_000;
/** The estimator's highest score: not found in 10^10 guesses, which would take decades with this service's hash. */
const SCORE_MIN = 4;
/** Shortest word removed anywhere in a password: many passwords contain shorter ones by chance. */
const ANYWHERE_CHARACTERS_MIN = 4;
/** Shortest known word: single letters are ignored. */
const KNOWN_CHARACTERS_MIN = 2;
/** Letters with a stroke, which Unicode doesn't decompose. */
const STROKED: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd' };
/** Letters written as two on keyboards that lack them. */
const SPELLED_OUT: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'oe',
  å: 'aa',
};

/** Well-known phrases, which the estimator would take for random words. */
const COMMON_PHRASES =
  `correcthorsebatterystaple batterystaple troubador thequickbrownfox jumpsoverthelazydog loremipsum
  packmyboxwithfivedozen sphinxofblackquartz dolorsitamet tobeornottobe thatisthequestion maytheforcebewithyou
  livelongandprosper houstonwehaveaproblem allyourbasearebelong nevergonnagiveyouup nevergonnaletyoudown wearethechampions
  imagineallthepeople yesterdayallmytroubles dontworrybehappy itwasthebestoftimes itwastheworstoftimes onceuponatime
  ourfatherwhoart howmuchwoodcould woodchuckchuck iamthewalrus allyouneedislove illbeback youshallnotpass winteriscoming
  callmeishmael twinkletwinklelittlestar maryhadalittlelamb humptydumpty rowrowrowyourboat merrychristmas happybirthday
  godsavethe stairwaytoheaven smellsliketeenspirit isthisthereallife keepcalmandcarryon thisismypassword
  йцукенгшщзхъ фывапролджэ ячсмитьбю пароль`
    .split(/\s+/)
    .map(plain);

export interface PasswordOwner {
  email: string;
  name: string;
  companyName: string;
  /** The name under which this service is run. */
  serviceName: string;
}

/**
 * Refuses a password that is easy to guess (NIST SP 800-63B section 3.1.1.2): by its length, by lists of common passwords,
 * and by words related to its owner and this service, which are left out of the estimate.
 * @throws UsageError for the field `password`, naming the rule.
 */
export async function refuseWeakPassword(password: string, owner: PasswordOwner): Promise<void> {
  // Invisible characters make nothing harder to guess.
  const given = password.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  const length = [...given].length;
  if (length < CHARACTERS_MIN || length > CHARACTERS_MAX)
    refuse(`The password must have ${CHARACTERS_MIN} to ${CHARACTERS_MAX} characters.`);
  const words = knownWords([owner.email, owner.name, owner.companyName, owner.serviceName, 'Fieldledger']);
  const plainGiven = plain(given);
  const rest = withoutKnown(plainGiven, [...COMMON_PHRASES, ...words]);
  const hasKnown = rest !== plainGiven;
  const text = [...(hasKnown ? rest : given)].slice(0, ESTIMATED_CHARACTERS_MAX).join('');
  const { score, advice } = await estimate({ text, words });
  if (score >= SCORE_MIN) return;
  const why = hasKnown
    ? 'People who guess passwords first try your name, email address and company, well-known phrases and the name of this service.'
    : advice.join(' ');
  refuse(`The password is too easy to guess. ${why}`);
}

function refuse(reason: string): never {
  const advice = 'Several unrelated words are easy to remember and hard to guess.';
  throw new UsageError(`${reason.trim()} ${advice}`, { field: 'password' });
}

/** Lists the words of texts in each of their spellings, longest first, so that a full name is removed before its parts. */
function knownWords(texts: readonly string[]): string[] {
  const spellings = texts.flatMap((text) => [plain(text), plain(spelledOut(text))]);
  const words = spellings.flatMap((text) => {
    const parts = text.split(/[^\p{L}\p{N}]+/u);
    return [...parts, parts.join('')];
  });
  return [...new Set(words)]
    .filter((word) => word.length >= KNOWN_CHARACTERS_MIN)
    .sort((one, other) => other.length - one.length);
}

/** Converts to lower case without accents, which people leave out where they are hard to type. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[łøđ]/g, (letter) => STROKED[letter] ?? letter);
}

function spelledOut(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[äöüßæøå]/g, (letter) => SPELLED_OUT[letter] ?? letter);
}

/** Removes known words. Short ones are removed only from runs of letters that consist of nothing else. */
function withoutKnown(text: string, words: readonly string[]): string {
  const isShort = (word: string) => word.length < ANYWHERE_CHARACTERS_MIN;
  const rest = words
    .filter((word) => !isShort(word))
    .reduce((left, word) => left.replaceAll(new RegExp([...word].join('[^\\p{L}\\p{N}]*'), 'gu'), ''), text);
  return rest.replaceAll(/\p{L}+/gu, (letters) => {
    const unknown = words.filter(isShort).reduce((left, word) => left.replaceAll(word, ''), letters);
    return unknown === '' ? '' : letters;
  });
}

let thread: Tinypool | undefined;

/**
 * Estimates a password's strength in a thread, one text at a time. The thread ends and frees its memory when nobody has set a
 * password for a while.
 * @throws Error when the thread fails or takes too long.
 */
async function estimate(estimated: Estimated): Promise<Estimate> {
  thread ??= startThread();
  return (await thread.run(estimated, { signal: AbortSignal.timeout(ESTIMATE_MS_MAX) })) as Estimate;
}

function startThread(): Tinypool {
  const filename = join(import.meta.dirname, `password-thread${extname(import.meta.url)}`);
  const options = {
    name: 'estimate',
    execArgv: TOLERATE_MISSING_PROC,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS_MAX,
  };
  // A thread that dies between tasks is replaced, and must not end the server.
  return new Tinypool({ filename, ...options }).on('error', () => undefined);
}
