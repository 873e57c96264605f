/**
 * The rules of PDF/A-3a (ISO 19005-3) and PDF/UA-1 (ISO 14289-1) that our own code keeps or breaks: in the end of the file,
 * which it writes anew, and in what the template makes of a document. Typst keeps the others.
 */
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

import { pagesOf, withPdf } from './_reading.ts';

/** The faults of a document, as sentences. */
export async function conformanceProblems(bytes: Buffer): Promise<string[]> {
  const text = bytes.toString('latin1');
  const offsets = offsetsOf(text);
  const problems = offsets.flatMap((offset, index) =>
    text.startsWith(`${index + 1} 0 obj\n`, offset) ? [] : [`object ${index + 1} isn't where the table says`],
  );
  if (offsets.length === 0) problems.push('there is no cross-reference table where startxref says');
  return [...problems, ...catalogProblems(text, offsets), ...(await structureProblems(bytes))];
}

/** The offset of each object from 1 on, by the cross-reference table (ISO 32000-1, 7.5.4). */
function offsetsOf(text: string): number[] {
  const start = Number(/startxref\n(\d+)\n%%EOF\n?$/.exec(text)?.[1]);
  const [head = '', size] = /^xref\n0 (\d+)\n/.exec(text.slice(start)) ?? [];
  const entries = text.slice(start + head.length, text.indexOf('trailer', start)).match(/.{20}/gs) ?? [];
  const isWhole = entries.length === Number(size) && text.includes(`/Size ${size}`, start);
  const offsets = entries.slice(1).map((entry) => Number(/^(\d{10}) 00000 n[ \r]\n$/.exec(entry)?.[1]));
  return isWhole ? offsets : [];
}

function catalogProblems(text: string, offsets: readonly number[]): string[] {
  const root = Number(/\/Root (\d+) 0 R/.exec(text.slice(text.lastIndexOf('trailer')))?.[1]);
  const [catalog = ''] = text.slice(offsets[root - 1]).split('endobj');
  const metadata = offsets[Number(/\/Metadata (\d+) 0 R/.exec(catalog)?.[1]) - 1];
  const [head = '', length] =
    /^\d+ 0 obj\n<<[^>]*\/Length (\d+)[^>]*>>\nstream\n/.exec(text.slice(metadata)) ?? [];
  const end = (metadata ?? 0) + head.length + Number(length);
  return unless(
    [catalog.includes('/Type /Catalog'), 'the root is no catalog'],
    [/\/Lang \(en-(?:IE|GB)\)/.test(catalog), 'it has no language'],
    [/\/MarkInfo <<\s*\/Marked true/.test(catalog), 'it is not marked as tagged'],
    [catalog.includes('/DisplayDocTitle true'), 'its title is not displayed'],
    [text.startsWith('\nendstream\nendobj\n', end), 'its metadata has another length'],
  );
}

/** A tag on a page; a text within it is a `content`. */
interface Tag {
  role?: string;
  alt?: string;
  scope?: string;
  children?: Tag[];
}

const everyTag = (tag: Tag): Tag[] => [tag, ...(tag.children ?? []).flatMap(everyTag)];

async function structureProblems(bytes: Buffer): Promise<string[]> {
  return withPdf(bytes, async (pdf) => {
    const problems: string[] = [];
    const headings: string[] = [];
    for await (const page of pagesOf(pdf)) {
      const tags = everyTag((await page.getStructTree()) as Tag);
      headings.push(...tags.flatMap(({ role = '' }) => (/^H\d$/.test(role) ? [role] : [])));
      problems.push(...pageProblems(page, tags));
    }
    const [first, ...others] = headings;
    const isInOrder = first === 'H1' && others.every((level) => level === 'H2');
    return isInOrder ? problems : [...problems, 'its headings are not one H1 and then H2'];
  });
}

function pageProblems({ view, pageNumber }: PDFPageProxy, tags: readonly Tag[]): string[] {
  const size = view.map((side) => Math.round(side * 100) / 100).join(' ');
  const tables = tags.filter(({ role }) => role === 'Table');
  // One of the page before may go on first, whose head is repeated as an artifact.
  const begun = tables.slice(pageNumber === 1 ? 0 : 1);
  const hasHead = (table: Tag) => table.children?.[0]?.role === 'THead';
  const of = (wanted: string) => tags.filter(({ role }) => role === wanted);
  return unless(
    [['0 0 595.28 841.89', '0 0 612 792'].includes(size), 'a page is neither A4 nor Letter'],
    [begun.every(hasHead), 'a table has no head'],
    [of('TH').every(({ scope }) => scope === 'Column'), 'TH has no scope'],
    [of('Figure').every(({ alt = '' }) => alt !== ''), 'Figure has no Alt'],
  );
}

/** Sentences for all that doesn't hold. */
const unless = (...rules: [holds: boolean, problem: string][]): string[] =>
  rules.filter(([holds]) => !holds).map(([, problem]) => problem);
