import type { Note } from './_checks.ts';
import { declaredOperations } from './_declared.ts';
import type { Party } from './_parties.ts';
import { askChecked } from './_reading.ts';
import { STORY_NOW } from '../_server.ts';

/** Requests that the contract shows an answer to, and that a server answers with 200. */
function answered(): { operationId: string; target: string }[] {
  return declaredOperations().flatMap(({ operationId, responses }) =>
    (responses.get(200)?.examples ?? []).map(({ request = '' }) => ({ operationId, target: request })),
  );
}

/** Asks again with the tag in each form that HTTP allows, and with others. */
export async function conditionalAnswers(party: Party, note: Note): Promise<void> {
  const seen = new Set<string>();
  for (const asked of answered()) {
    if (seen.has(asked.operationId)) continue;
    seen.add(asked.operationId);
    const tag = (await askChecked(party, note, asked)).headers['etag'] ?? '';
    const cases: [string, number][] = [
      [tag, 304],
      [`W/${tag}`, 304],
      [`"another", ${tag}`, 304],
      ['*', 304],
      ['"another"', 200],
      [tag.slice(0, -2).concat('"'), 200],
    ];
    for (const [ifNoneMatch, status] of cases) {
      const answer = await askChecked(party, note, { ...asked, headers: { 'if-none-match': ifNoneMatch } });
      if (answer.status !== status) {
        note(`${asked.target}: If-None-Match ${ifNoneMatch} is answered ${answer.status}, not ${status}`);
      }
      if (answer.headers['etag'] !== tag)
        note(`${asked.target}: ${answer.status} names another tag than 200`);
    }
  }
}

/** Compares the tags of all the bodies that the contract shows. */
export async function tagsOfBodies(party: Party, note: Note): Promise<void> {
  const tags = new Map<string, string>();
  const bodies = new Map<string, string>();
  for (const asked of answered()) {
    const { headers, body } = await askChecked(party, note, asked);
    const tag = headers['etag'] ?? '';
    if ((bodies.get(tag) ?? body) !== body) note(`${asked.target}: the tag ${tag} names another body too`);
    if ((tags.get(body) ?? tag) !== tag) note(`${asked.target}: the same body has two tags`);
    bodies.set(tag, body);
    tags.set(body, tag);
  }
  if (bodies.size < 30) note(`only ${bodies.size} bodies were compared`);
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
