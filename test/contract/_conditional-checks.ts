import { STORY_NOW } from '../_server.ts';
import { examplesOf, operations } from './_contract.ts';
import { ask, type Exam, expect, type Request, withParameters } from './_exam.ts';
import { answeredOperations, detailOf, pathOf } from './_lists.ts';
import { NotGiven } from './_parties.ts';

/** Asks again with the tag in each form that HTTP allows, and with others (RFC 9110 sections 8.8.3 and 13.1). */
export async function conditionalAnswers(exam: Exam): Promise<void> {
  for (const asked of await answeredOperations(exam)) {
    const tag = (await ask(exam, asked)).headers['etag'] ?? '';
    const conditions = [
      ...sameTags(tag).map((text) => [{ 'If-None-Match': text }, '304'] as const),
      ...otherTags(tag).map((text) => [{ 'If-None-Match': text }, '200'] as const),
      ...besides.flatMap(
        (header) =>
          [
            [{ 'If-None-Match': tag, ...header }, '304'],
            [{ 'If-None-Match': '"another"', ...header }, '200'],
          ] as const,
      ),
    ];
    for (const [headers, wanted] of conditions) {
      const what = [asked.target, ...Object.entries(headers).flat()].join(' ');
      const answer = await expect(exam, { ...asked, headers }, wanted, what);
      if (answer.headers['etag'] !== tag) exam.note(`${what}: ${answer.status} names another tag than 200`);
    }
    const refused = { ...asked, target: `${asked.target}?nothing=1`, headers: { 'If-None-Match': '*' } };
    await expect(exam, refused, '400 invalid_parameter', `${refused.target} If-None-Match *`);
  }
}

function sameTags(tag: string): string[] {
  return [tag, `W/${tag}`, `"another", ${tag}`, `${tag},"another"`, `W/"another" , W/${tag}`, '*'];
}

function otherTags(tag: string): string[] {
  const bare = tag.slice(1, -1);
  const swapped = tag.replaceAll(/[a-z]/gi, (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  );
  return ['"another"', tag.slice(0, -2).concat('"'), `"${bare}x"`, bare, `w/${tag}`, '""', swapped];
}

/** Beside other conditions and a range, If-None-Match alone counts (RFC 9110 section 13.2.2). */
const besides = [
  { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
  { 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
  { Range: 'bytes=0-3' },
];

/** Compares the tags of all the bodies that the contract shows, or of all that the company has. */
export async function tagsOfBodies(exam: Exam): Promise<void> {
  const tags = new Map<string, string>();
  const bodies = new Map<string, string>();
  for (const asked of exam.party.isExample ? shown() : await existing(exam)) {
    const { headers, body } = await ask(exam, asked);
    const tag = headers['etag'] ?? '';
    if ((bodies.get(tag) ?? body) !== body)
      exam.note(`${asked.target}: the tag ${tag} names another body too`);
    if ((tags.get(body) ?? tag) !== tag) exam.note(`${asked.target}: the same body has two tags`);
    bodies.set(tag, body);
    tags.set(body, tag);
  }
  if (bodies.size < 2) throw new NotGiven('two answers that differ');
}

/** Requests that the contract shows an answer to, and that a server answers with 200. */
function shown(): Request[] {
  return operations.flatMap(({ operationId }) =>
    examplesOf(operationId, 200).map((example) => ({ operationId, target: example['x-request'] ?? '' })),
  );
}

const EXISTING_MAX = 5;

async function existing({ party }: Exam): Promise<Request[]> {
  return (await party.lists('reader')).flatMap(({ operationId, target, records }) => {
    const detail = detailOf(operationId);
    return [
      ...[undefined, '1', '2'].map((limit) => ({ operationId, target: withParameters(target, { limit }) })),
      ...records
        .slice(0, detail === undefined ? 0 : EXISTING_MAX)
        .map(({ id }) => ({ operationId: detail ?? '', target: pathOf(detail ?? '', id) })),
    ];
  });
}

/** A draft can still change: its tag does then, and that of its PDF as well. */
export async function tagsOfDrafts(exam: Exam): Promise<void> {
  const id = await exam.party.editDraft(false);
  const conditional: Request[] = [];
  for (const operationId of ['getInvoice', 'getInvoicePdf']) {
    const asked = { operationId, target: pathOf(operationId, id) };
    const { headers } = await ask(exam, asked);
    conditional.push({ ...asked, headers: { 'if-none-match': headers['etag'] ?? '' } });
  }
  await exam.party.editDraft(true);
  try {
    for (const asked of conditional)
      await expect(exam, asked, '200', `${asked.target} with the tag from before the draft was edited`);
  } finally {
    await exam.party.editDraft(false);
  }
}

/** A quote expires by the passing of a day: nothing is written, and yet the body is another. */
export async function tagsOverTime(exam: Exam): Promise<void> {
  const asked = { operationId: 'listQuotes', target: '/api/v1/quotes' };
  const before = await ask(exam, asked);
  exam.party.setNow(new Date('2027-01-31T12:00:00.000Z'));
  try {
    const tag = before.headers['etag'] ?? '';
    const later = { ...asked, headers: { 'if-none-match': tag } };
    const after = await expect(exam, later, '200', 'the tag of a list with a quote that has expired since');
    if (after.body === before.body) exam.note('no quote expired by the passing of its last valid day');
    if (after.headers['etag'] === tag) exam.note('the tag stayed when a quote expired');
  } finally {
    exam.party.setNow(STORY_NOW);
  }
}
