import { type SampledOperation, samplesOf } from './samples.ts';

/** The parts of the bundled contract that are changed for the reference. */
export interface ShownContract {
  info: { description: string };
  paths: Record<string, { get: Omit<SampledOperation, 'path'> }>;
  webhooks: Record<string, { post: { summary: string } }>;
  components: { schemas: { ErrorCode: { 'x-enumDescriptions': Record<string, string> } } };
}

/**
 * Adds to the contract what the reference needs: samples of each operation in every language, events titled with the names
 * that receivers see, and a heading for each error code, so that a log or ticket can link to it.
 */
export function addForReaders(contract: ShownContract): void {
  for (const [path, { get }] of Object.entries(contract.paths)) {
    get['x-codeSamples'] = samplesOf({ ...get, path });
  }
  for (const [kind, { post }] of Object.entries(contract.webhooks)) post.summary = kind;
  contract.info.description = withErrorCodes(contract);
}

/** Matches a row in the contract's table of error codes: the status, the codes, and what to do. */
const ROW = /^\| (\d{3}) \| ((?:`\w+`(?:, )?)+) \| (.+) \|$/gm;

function withErrorCodes({ info, components }: ShownContract): string {
  const meanings = components.schemas.ErrorCode['x-enumDescriptions'];
  const sections: string[] = [];
  const linked = info.description.replaceAll(ROW, (_row, status: string, codes: string, advice: string) => {
    const links = codes.replaceAll(/`(\w+)`/g, (_code, code: string) => {
      sections.push(`## ${code}\n\nStatus ${status}. ${meanings[code] ?? ''} ${advice}\n\n`);
      return `[\`${code}\`](#/section/errors-and-retries/${code})`;
    });
    return `| ${status} | ${links} | ${advice} |`;
  });
  if (sections.length !== Object.keys(meanings).length)
    throw new Error('The table of error codes in openapi.yaml names other codes than its schema.');
  return linked.replace('# Rate limit\n', (heading) => `${sections.join('')}${heading}`);
}

/** The parts of the feed's bundled contract that are changed for its reference. */
export interface ShownFeed {
  info: { description: string };
  components: { schemas: { Change: { oneOf: { $ref: string }[] } } };
}

interface ShownChange {
  title?: string;
  description: string;
  properties: { change: { const: string } };
}

/** Titles each change in the feed's reference with its name in requests, and adds a chapter that lists all changes. */
export function addChanges({ info, components: { schemas } }: ShownFeed): void {
  // A test checks that the feed's contract has this shape.
  const named = schemas as unknown as Record<string, ShownChange>;
  const rows = schemas.Change.oneOf.map(({ $ref }) => {
    const schema = named[$ref.replace('#/components/schemas/', '')];
    if (!schema) throw new Error(`${$ref} is no schema of the feed.`);
    schema.title = schema.properties.change.const;
    return `| \`${schema.title}\` | ${schema.description.replaceAll('\n', ' ')} |`;
  });
  const chapter = ['# Changes\n', '| Change | Meaning |', '|---|---|', ...rows].join('\n');
  info.description = info.description.replace('# Answers\n', (heading) => `${chapter}\n\n${heading}`);
}
