/** A release, which is this tree, and the next one, whose contract has gained something. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { JsonSchema } from '../../../../src/contract/document.ts';
import { hasDetail, resources } from '../../../../src/contract/records.ts';
import type { createTerminal as CreateTerminal, Terminal } from '../../../../src/command-line/terminal.ts';
import type { main as Main } from '../../../../src/main.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import type { Outcome } from '../../../_command.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');

/** The name of a member that no contract will have. */
const STAND_IN = 'standIn';

export const NEXT_CONTRACT = '1.2.0';

export interface NextVersion extends Disposable {
  /** Its command line. */
  program: string;
  /** A folder for what Node compiles of it. */
  compiled: string;
  /** Runs a command line of it inside this process, which is quicker. */
  call: (args: readonly string[], environment: Record<string, string>) => Promise<Outcome>;
}

/**
 * Makes a copy of this tree whose contract has a required member more (two of them, of jobs and of the detail of quotes),
 * an optional one (of customers) and a new value of an enum (of documents).
 * @param options.hasUpgrades whether it says how a stored record gets the required ones.
 */
export function makeNextVersion({ hasUpgrades = true } = {}): NextVersion {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-next-'));
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(root, 'generated'), join(folder, 'generated'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'compiled'), { mode: 0o700 });
  rewrite(join(folder, 'generated', 'openapi.dereferenced.json'), (text) =>
    changedContract(text, hasUpgrades),
  );
  return {
    program: join(folder, 'src', 'fieldledger.js'),
    compiled: join(folder, 'compiled'),
    async call(args, environment) {
      // The same functions as this tree's, but those of the copy.
      const from = (path: string) => import(join(folder, 'src', path)) as Promise<unknown>;
      const { main } = (await from('main.ts')) as { main: typeof Main };
      const { createTerminal } = (await from('command-line/terminal.ts')) as {
        createTerminal: typeof CreateTerminal;
      };
      const outcome = { stdout: '', stderr: '' };
      const print: Terminal['print'] = (content) => (outcome.stdout += content.toString());
      const terminal = createTerminal(environment, print, (text) => (outcome.stderr += text));
      return { exitCode: await main(args, terminal), ...outcome };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function rewrite(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`${file} has nothing to change.`);
  writeFileSync(file, changed);
}

function changedContract(text: string, hasUpgrades: boolean): string {
  const contract = JSON.parse(text) as {
    info: { version: string };
    components: { schemas: Record<string, Required<Pick<JsonSchema, 'required' | 'properties'>>> };
  };
  const { schemas } = contract.components;
  const add = (name: string, schema: JsonSchema, isRequired: boolean) => {
    const { required, properties } = schemas[name] ?? { required: [], properties: {} };
    const [id, ...others] = Object.entries(properties);
    // Second, so that it has to be put between what is stored.
    schemas[name] = {
      ...schemas[name],
      required: isRequired ? [...required, STAND_IN] : required,
      properties: Object.fromEntries([...(id ? [id] : []), [STAND_IN, schema], ...others]),
    };
  };
  contract.info.version = NEXT_CONTRACT;
  const before = (value: unknown) => hasUpgrades && { 'x-before': value };
  add('Job', { type: 'string', enum: ['normal', 'urgent'], ...before('normal') }, true);
  add('Quote', { type: ['string', 'null'], ...before(null) }, true);
  add('Customer', { type: 'string' }, false);
  for (const name of ['InvoiceSummary', 'Invoice']) schemas[name]?.properties.kind?.enum?.push('debit_note');
  return JSON.stringify(contract);
}

/** A stored record with what is beside it, as texts. */
export type StoredRow = { company: string; body: string; digest: string; detail?: string };

/** All that an upgrade may touch: the rows of each table, in order. */
export type Stored = Record<string, StoredRow[]>;

const TABLES: Record<string, string> = {
  ...Object.fromEntries(
    resources.map((resource) => {
      const details = hasDetail(resource) ? 'detail, unpublished, ' : '';
      return [resource, `company, body, ${details}digest FROM ${resource} ORDER BY company, id`];
    }),
  ),
  contracts: '* FROM record_contracts ORDER BY resource',
  migrations: 'name FROM migrations ORDER BY name',
};

/** Reads all that an upgrade may touch. */
export async function readStored(databaseUrl: string): Promise<Stored> {
  await using engine = await openEngine(databaseUrl);
  const stored: Stored = {};
  for (const [table, columns] of Object.entries(TABLES))
    stored[table] = (await engine.run(`SELECT ${columns}`)) as unknown as StoredRow[];
  return stored;
}

/** The first row of each table that differs. */
export function differences(found: Stored, wanted: Stored): string[] {
  return Object.keys(wanted).flatMap((table) => {
    const [own, others] = [found, wanted].map((stored) =>
      (stored[table] ?? []).map((row) => JSON.stringify(row)),
    );
    const index = others?.findIndex((row, place) => row !== own?.[place]) ?? -1;
    if (index === -1 && own?.length === others?.length) return [];
    return [`${table} ${index}: ${own?.[index] ?? 'no row'} instead of ${others?.[index] ?? 'no row'}`];
  });
}
