/** The tags of a PDF and the rules that they keep (ISO 14289-1, 7; ISO 32000-1, 14.7 and 14.8). */
import type { PageContents } from './_page-contents.ts';
import { arrayOf, at, entryOf, nameOf, unless } from './_pdf-objects.ts';
import type { Pdf, PdfReference, PdfValue } from './_pdf-objects.ts';

export interface Tag {
  type: string;
  object: number;
  parent: number | undefined;
  kids: Tag[];
  /** Marked contents, as page object and identifier. */
  contents: [page: number, mcid: number][];
  /** Annotations, by their objects. */
  annotations: number[];
  alt: string | undefined;
  scope: string;
  hasBox: boolean;
}

const reference = (value: PdfValue | undefined): number | undefined =>
  typeof value === 'object' && value !== null && 'object' in value ? value.object : undefined;

/** Reads the tree below an element. */
export function readTag(pdf: Pdf, element: PdfReference): Tag {
  const dictionary = at(pdf, element);
  const page = reference(entryOf(dictionary, 'Pg'));
  const tag: Tag = {
    type: nameOf(entryOf(dictionary, 'S')),
    object: element.object,
    parent: reference(entryOf(dictionary, 'P')),
    kids: [],
    contents: [],
    annotations: [],
    alt: at(pdf, dictionary, 'Alt') as string | undefined,
    scope: nameOf(at(pdf, dictionary, 'A', 'Scope')),
    hasBox: arrayOf(at(pdf, dictionary, 'A', 'BBox')).length === 4,
  };
  for (const kid of arrayOf(at(pdf, dictionary, 'K'))) {
    if (typeof kid === 'number') tag.contents.push([page ?? 0, kid]);
    else if (reference(kid) !== undefined) tag.kids.push(readTag(pdf, kid as PdfReference));
    else if (nameOf(entryOf(kid, 'Type')) === 'OBJR')
      tag.annotations.push(reference(entryOf(kid, 'Obj')) ?? 0);
    else tag.contents.push([reference(entryOf(kid, 'Pg')) ?? 0, Number(entryOf(kid, 'MCID'))]);
  }
  return tag;
}

/** All tags from this one on, in reading order. */
export function everyTag(tag: Tag): Tag[] {
  return [tag, ...tag.kids.flatMap(everyTag)];
}

const kidsOf: Record<string, string[]> = {
  Document: ['Sect', 'P', 'H1', 'H2', 'Table', 'Figure'],
  Sect: ['P', 'H2', 'Table', 'Figure'],
  P: ['Link'],
  Table: ['TR', 'THead', 'TBody'],
  THead: ['TR'],
  TBody: ['TR'],
  TR: ['TH', 'TD'],
};

/** The faults of the tags of a document, as sentences. */
export function structureProblems(pdf: Pdf, pages: readonly PageContents[]): string[] {
  const roots = arrayOf(at(pdf, pdf.trailer, 'Root', 'StructTreeRoot', 'K')) as PdfReference[];
  const [root] = roots;
  if (!root || roots.length !== 1) return ['the tags have no single root'];
  const tags = everyTag(readTag(pdf, root));
  return [
    ...tags.flatMap(tagProblems),
    ...tags.filter(({ type }) => type === 'Table').flatMap(tableProblems),
    ...headingProblems(tags),
    ...linkProblems(pdf, pages, tags),
    ...pages.flatMap(({ page }) => annotationProblems(pdf, page, tags)),
  ];
}

/** An annotation is a link, is printed, describes itself and is held by a tag (ISO 14289-1, 7.18; ISO 19005-3, 6.3). */
function annotationProblems(pdf: Pdf, page: PdfReference, tags: readonly Tag[]): string[] {
  return (arrayOf(at(pdf, page, 'Annots')) as PdfReference[]).flatMap((annotation) => {
    const holder = tags.find(({ annotations }) => annotations.includes(annotation.object));
    const key = at(pdf, annotation, 'StructParent');
    return unless(
      [
        nameOf(at(pdf, annotation, 'Subtype')) === 'Link' && holder?.type === 'Link',
        'an annotation is no link',
      ],
      [reference(parentAt(pdf, key)) === holder?.object, 'the tree of parents has another tag for a link'],
      [at(pdf, annotation, 'F') === 4, 'a link is not printed'],
      [/^Payment at https:/.test(at(pdf, annotation, 'Contents') as string), 'a link has no description'],
      [/^https:[!-~]+$/.test(at(pdf, annotation, 'A', 'URI') as string), 'a link has no address in ASCII'],
    );
  });
}

/** The entry of a key in the tree of parents. */
function parentAt(pdf: Pdf, key: PdfValue | undefined): PdfValue | undefined {
  const numbers = arrayOf(at(pdf, pdf.trailer, 'Root', 'StructTreeRoot', 'ParentTree', 'Nums'));
  const index = numbers.findIndex((item, place) => place % 2 === 0 && item === key);
  return numbers[index + 1];
}

function tagProblems(tag: Tag): string[] {
  const { type, kids, contents, annotations, scope, alt = '', hasBox } = tag;
  const allowed = kidsOf[type];
  const isEmpty = kids.length + contents.length === 0;
  return unless(
    [allowed === undefined || type === 'P' || contents.length === 0, `${type} has contents of its own`],
    [
      type !== 'Link' || (annotations.length > 0 && contents.length > 0),
      'Link leads nowhere, or has no text',
    ],
    // A cell may be blank, and a document without lines has no rows.
    [!isEmpty || type === 'TD' || type === 'TBody', `${type} is empty`],
    [type !== 'TH' || scope === 'Row' || scope === 'Column', 'TH has no scope'],
    [type !== 'Figure' || alt !== '', 'Figure has no Alt'],
    [type !== 'Figure' || hasBox, 'Figure has no BBox'],
    ...kids.flatMap((kid): [boolean, string][] => [
      [allowed?.includes(kid.type) === true, `${type} holds ${kid.type}`],
      [kid.parent === tag.object, `${kid.type} has another parent than the one that holds it`],
    ]),
  );
}

/** Every row has as many cells, and every cell of data has a head in its row or in its column. */
function tableProblems(table: Tag): string[] {
  const rows = everyTag(table).filter(({ type }) => type === 'TR');
  const widths = new Set(rows.map(({ kids }) => kids.length));
  const problems = widths.size > 1 ? [`a table has rows of ${[...widths].join(' and ')} cells`] : [];
  const headOf = new Set<number>();
  for (const { kids } of rows) {
    const hasHead = kids.some(({ type, scope }) => type === 'TH' && scope === 'Row');
    kids.forEach(({ type, scope }, column) => {
      if (type === 'TH' && scope === 'Column') headOf.add(column);
      else if (type === 'TD' && !hasHead && !headOf.has(column)) problems.push('a cell has no head');
    });
  }
  const parts = table.kids.map(({ type }) => type);
  if (parts.filter((type) => type === 'THead').length > 1) problems.push('a table has two heads');
  if (parts.includes('THead') && !parts.includes('TBody')) problems.push('a table has a head and no body');
  return problems;
}

function headingProblems(tags: readonly Tag[]): string[] {
  const levels = tags.map(({ type }) => /^H([1-6])$/.exec(type)?.[1]).filter((level) => level !== undefined);
  const problems = levels[0] === '1' ? [] : ['the first heading is not H1'];
  levels.forEach((level, index) => {
    if (Number(level) > Number(levels[index - 1] ?? 0) + 1)
      problems.push(`a heading H${level} skips a level`);
  });
  return problems;
}

/** Every marked content belongs to one tag, of its own type, which the tree of parents names too. */
function linkProblems(pdf: Pdf, pages: readonly PageContents[], tags: readonly Tag[]): string[] {
  const problems: string[] = [];
  const owners = new Map<string, Tag>();
  for (const tag of tags) {
    for (const content of tag.contents) {
      if (owners.has(content.join())) problems.push(`two tags have the content ${content.join()}`);
      owners.set(content.join(), tag);
    }
  }
  problems.push(...pages.flatMap((page) => pageLinkProblems(pdf, page, owners)));
  const used = pages.reduce((sum, { marked }) => sum + marked.size, 0);
  return owners.size === used
    ? problems
    : [...problems, `tags have ${owners.size} contents, and pages ${used}`];
}

function pageLinkProblems(
  pdf: Pdf,
  { page, marked }: PageContents,
  owners: ReadonlyMap<string, Tag>,
): string[] {
  const parents = arrayOf(parentAt(pdf, at(pdf, page, 'StructParents')));
  const problems = parents.length === marked.size ? [] : ['a page has not as many contents as parents'];
  for (const [mcid, type] of marked) {
    const owner = owners.get([page.object, mcid].join());
    if (owner?.type !== type) problems.push(`a content marked ${type} belongs to ${owner?.type ?? 'no tag'}`);
    if (owner?.object !== reference(parents[mcid])) {
      problems.push(`the tree of parents has another tag for ${mcid}`);
    }
  }
  return problems;
}
