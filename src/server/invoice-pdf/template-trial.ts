import { quote, UsageError } from '../../errors.ts';
import { documentTexts, type DocumentTexts } from '../printed-document/document-texts.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { documentName } from '../printed-document/wording.ts';
import { createRenderer, type Renderer } from './render.ts';
import { sampleDocuments } from './sample-documents.ts';

/**
 * Creates a renderer for the operator's template, which is tried with ten sample documents first; for Fieldledger's own if
 * `template` is undefined.
 * @throws UsageError naming the sample that can't be set, or the text that the law requires on it (Directive 2006/112/EC,
 * Article 226) and that its pages don't show.
 */
export function openRenderer(template: string | undefined): Renderer {
  const renderer = createRenderer(template);
  for (const printed of template === undefined ? [] : sampleDocuments()) {
    const problem = problemWith(printed, renderer);
    if (problem === undefined) continue;
    const named = `DOCUMENT_TEMPLATE names ${quote(template ?? '')}, which can't be used`;
    throw new UsageError(`${named}: with the sample "${documentName(printed)}", ${problem}.`);
  }
  return renderer;
}

function problemWith(printed: PrintedDocument, { linesOnPages }: Renderer): string | undefined {
  try {
    const shown = comparable(linesOnPages(printed).join(''));
    const missing = requiredTexts(documentTexts(printed)).find((text) => !shown.includes(comparable(text)));
    return missing && `"${missing}" isn't on its pages`;
  } catch (error) {
    return `it can't be set: ${(error as Error).message}`;
  }
}

/** All that a document says but its notes, how to pay, and the page's own head and foot. */
function requiredTexts(texts: DocumentTexts): string[] {
  const { supplier, parties, head, warning, facts, references, table, sums, vatTables, vatNotes } = texts;
  const paragraphs = [supplier, ...parties].flatMap((party) => party.paragraphs.flatMap(([, text]) => text));
  return [
    ...[...paragraphs, head.title, head.number, warning ?? ''],
    ...[...facts, ...references].map(({ value }) => value),
    ...[table, ...vatTables].flatMap(({ rows }) => rows.flat()),
    ...[...sums.flat(), ...(vatNotes?.paragraphs ?? [])],
  ].flatMap((text) => text.split('\n'));
}

/** Leaves letters and figures alone: a template may break lines and write capitals, and the pages' texts are escaped. */
function comparable(text: string): string {
  return text
    .replace(/&#?\w+;/g, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}
