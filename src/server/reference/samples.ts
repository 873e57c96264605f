import { type Request, type Writer, writers } from './sample-writers.ts';

/** A code sample of an operation, as shown in the reference (`x-codeSamples`). */
export interface Sample {
  lang: string;
  source: string;
}

/** The parts of an operation from which samples are generated. */
export interface SampledOperation {
  operationId: string;
  /** Path template, for example `/api/v1/jobs/{jobId}`. */
  path: string;
  responses: Record<string, { content?: Record<string, unknown> }>;
  'x-codeSamples'?: Sample[];
}

export const sampleLanguages = Object.keys(writers);

/**
 * Returns a sample of an operation in each language of the reference, based on the contract's curl sample. Lists are read to
 * the last page.
 */
export function samplesOf(operation: SampledOperation): Sample[] {
  const answer = answerOf(operation);
  const request = requestOf(operation);
  return Object.entries(writers).map(([lang, write]) => ({ lang, source: write[answer](request).trim() }));
}

function answerOf({ operationId, responses }: SampledOperation): keyof Writer {
  if (responses['200']?.content?.['application/json'] === undefined) return 'file';
  return operationId.startsWith('list') ? 'list' : 'record';
}

function requestOf({ operationId, path, 'x-codeSamples': samples = [] }: SampledOperation): Request {
  const shown = samples.find(({ lang }) => lang === 'curl')?.source ?? '';
  const [target = ''] = /https:[^"\s]+/.exec(shown) ?? [];
  if (!URL.canParse(target)) throw new Error(`The contract shows no request in curl for ${operationId}.`);
  const { origin, pathname, searchParams } = new URL(target);
  const parts = pathname.split('/');
  const ids = path.split('/').flatMap((part, index) => (part.startsWith('{') ? [parts[index] ?? ''] : []));
  return { operationId, baseUrl: origin, address: `${origin}${pathname}`, ids, query: [...searchParams] };
}
