import type { Note } from './_checks.ts';
import { declaredOperations } from './_declared.ts';
import { NotGiven, type Party } from './_parties.ts';
import { answeredOperations, askChecked, detailOf, pathOf, withParameters } from './_reading.ts';
import { STORY_NOW } from '../_server.ts';

/** Asks again with the tag in each form that HTTP allows, and with others (RFC 9110 sections 8.8.3 and 13.1). */
export async function conditionalAnswers(party: Party, note: Note): Promise<void> {
  for (const asked of await answeredOperations(party)) {
    const tag = (await askChecked(party, note, asked)).headers['etag'] ?? '';
    for (const [headers, status] of [...conditionsOf(tag), ...besideOthers(tag)]) {
      const answer = await askChecked(party, note, { ...asked, headers });
      const what = Object.entries(headers).map(([name, value]) => `${name} ${value}`);
      if (answer.status !== status) {
        note(`${asked.target}: ${what.join(' with ')} is answered ${answer.status}, not ${status}`);
      }
      if (answer.headers['etag'] !== tag)
        note(`${asked.target}: ${answer.status} names another tag than 200`);
    }
    const refused = { ...asked, target: `${asked.target}?nothing=1`, headers: { 'If-None-Match': '*' } };
    const { status } = await askChecked(party, note, refused);
    if (status !== 400) note(`${refused.target} with If-None-Match * is answered ${status}, not 400`);
  }
}

type Condition = readonly [headers: Record<string, string>, status: number];

function conditionsOf(tag: string): Condition[] {
  const bare = tag.slice(1, -1);
  const same = [tag, `W/${tag}`, `"another", ${tag}`, `${tag},"another"`, `W/"another" , W/${tag}`, '*'];
  const others = [
    '"another"',
    tag.slice(0, -2).concat('"'),
    `"${bare}x"`,
    bare,
    `w/${tag}`,
    '""',
    swapped(tag),
  ];
  return [
    ...same.map((text): Condition => [{ 'If-None-Match': text }, 304]),
    ...others.map((text): Condition => [{ 'If-None-Match': text }, 200]),
  ];
}

/** Beside other conditions and a range, If-None-Match alone counts (RFC 9110 section 13.2.2). */
function besideOthers(tag: string): Condition[] {
  const beside = [
    { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
    { 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
    { Range: 'bytes=0-3' },
  ];
  return beside.flatMap((header): Condition[] => [
    [{ 'If-None-Match': tag, ...header }, 304],
    [{ 'If-None-Match': '"another"', ...header }, 200],
  ]);
}

/** The same letters in the other size. */
function swapped(text: string): string {
  return text.replaceAll(/[a-z]/gi, (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  );
}

/** Compares the tags of all the bodies that the contract shows, or of all that the company has. */
export async function tagsOfBodies(party: Party, note: Note): Promise<void> {
  const tags = new Map<string, string>();
  const bodies = new Map<string, string>();
  const all = party.isExample ? shown() : await existing(party);
  for (const asked of all) {
    const { headers, body } = await askChecked(party, note, asked);
    const tag = headers['etag'] ?? '';
    if ((bodies.get(tag) ?? body) !== body) note(`${asked.target}: the tag ${tag} names another body too`);
    if ((tags.get(body) ?? tag) !== tag) note(`${asked.target}: the same body has two tags`);
    bodies.set(tag, body);
    tags.set(body, tag);
  }
  if (bodies.size < 2) throw new NotGiven('two answers that differ');
}

/** Requests that the contract shows an answer to, and that a server answers with 200. */
function shown(): { operationId: string; target: string }[] {
  return declaredOperations().flatMap(({ operationId, responses }) =>
    (responses.get(200)?.examples ?? []).map(({ request = '' }) => ({ operationId, target: request })),
  );
}

const EXISTING_MAX = 5;

/** Pages of each list, and some of its records. */
async function existing(party: Party): Promise<{ operationId: string; target: string }[]> {
  return (await party.lists('reader')).flatMap(({ operationId, target, records }) => {
    const detail = detailOf[operationId];
    const some = detail === undefined ? [] : records.slice(0, EXISTING_MAX);
    return [
      ...[undefined, '1', '2'].map((limit) => ({ operationId, target: withParameters(target, { limit }) })),
      ...some.map(({ id }) => ({ operationId: detail ?? '', target: pathOf(detail ?? '', id) })),
    ];
  });
}

/** A draft can still change: its tag does then, and that of its PDF as well. */
export async function tagsOfDrafts(party: Party, note: Note): Promise<void> {
  const id = await party.editDraft(false);
  const all = [
    { operationId: 'getInvoice', target: pathOf('getInvoice', id) },
    { operationId: 'getInvoicePdf', target: pathOf('getInvoicePdf', id) },
  ];
  const tags = new Map<string, string>();
  for (const asked of all)
    tags.set(asked.target, (await askChecked(party, note, asked)).headers['etag'] ?? '');
  await party.editDraft(true);
  try {
    for (const asked of all) {
      const headers = { 'if-none-match': tags.get(asked.target) ?? '' };
      const { status } = await askChecked(party, note, { ...asked, headers });
      if (status !== 200) note(`${asked.target}: its tag is answered ${status} when the draft was edited`);
    }
  } finally {
    await party.editDraft(false);
  }
}

/** A quote expires by the passing of a day: nothing is written, and yet the body is another. */
export async function tagsOverTime(party: Party, note: Note): Promise<void> {
  const asked = { operationId: 'listQuotes', target: '/api/v1/quotes' };
  const before = await askChecked(party, note, asked);
  party.setNow(new Date('2027-01-31T12:00:00.000Z'));
  try {
    const tag = before.headers['etag'] ?? '';
    const after = await askChecked(party, note, { ...asked, headers: { 'if-none-match': tag } });
    if (after.status !== 200)
      note(`the tag of a list with a valid quote is answered ${after.status} when it expired`);
    if (after.body === before.body) note('no quote expired by the passing of its last valid day');
    if (after.headers['etag'] === tag) note('the tag stayed when a quote expired');
  } finally {
    party.setNow(STORY_NOW);
  }
}
