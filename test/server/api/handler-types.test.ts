import { join } from 'node:path';
import ts from 'typescript';
import t from 'tap';

import { contractOperations } from '../../../src/contract/document.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'src', 'server', 'api');

const IMPORTS = `
import type { Handler, Handlers } from './handler.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { Job } from '../../contract/records.ts';
declare const handlers: Handlers;
declare const job: JsonText<{ data: Job }>;
declare const jobs: JsonText<{ data: Job[]; nextCursor: string | null }>;
declare const anything: JsonText<{ data: { id: string } }>;
`;

/** Sources as someone might write them, and the compiler's error for each; undefined where there must be none. */
const PLANTED: Record<string, { source: string; error?: string }> = {
  'right handlers compile': {
    source: `
      export const all: Handlers = { ...handlers };
      export const getJob: Handler<'getJob'> = async ({ path }) => ({ status: path.jobId ? 200 : 200, body: job });
      export const listJobs: Handler<'listJobs'> = async ({ query }) => {
        const limit: number = query.limit;
        const since: string | undefined = query.updatedSince;
        return { status: 200, body: limit || since ? jobs : jobs };
      };`,
  },
  'a missing operation': {
    source: `
      const { getJob: _getJob, ...others } = handlers;
      export const all: Handlers = others;`,
    error: "Property 'getJob' is missing in type",
  },
  'an operation that the contract does not have': {
    source: `export const all: Handlers = { ...handlers, deleteJob: handlers.getJob };`,
    error: "'deleteJob' does not exist in type 'Handlers'",
  },
  "another operation's handler": {
    source: `export const getJob: Handler<'getJob'> = handlers.getCustomer;`,
    error: 'is not assignable to type \'Handler<"getJob">\'',
  },
  'an undeclared status': {
    source: `export const getJob: Handler<'getJob'> = async () => ({ status: 201, body: job });`,
    error: "Type '201' is not assignable to type '200'",
  },
  'an error status, which is thrown instead': {
    source: `export const getJob: Handler<'getJob'> = async () => ({ status: 404, body: job });`,
    error: "Type '404' is not assignable to type '200'",
  },
  "another operation's body": {
    source: `export const getJob: Handler<'getJob'> = async () => ({ status: 200, body: jobs });`,
    error: 'is not assignable to type',
  },
  'a body that lacks members': {
    source: `export const getJob: Handler<'getJob'> = async () => ({ status: 200, body: anything });`,
    error: 'is not assignable to type',
  },
  'a body that is any text': {
    source: `export const getJob: Handler<'getJob'> = async () => ({ status: 200, body: '{}' });`,
    error: "Type 'string' is not assignable to type 'JsonText<",
  },
  'no body': {
    source: `export const getJob: Handler<'getJob'> = async () => ({ status: 200 });`,
    error: "Property 'body' is missing in type",
  },
  'a parameter that the operation does not take': {
    source: `export const getJob: Handler<'getJob'> = async ({ path }) => ({ status: 200, body: path.customerId ? job : job });`,
    error: "Property 'customerId' does not exist on type",
  },
  'a parameter without a default, taken for granted': {
    source: `
      export const listJobs: Handler<'listJobs'> = async ({ query }) => {
        const since: string = query.updatedSince;
        return { status: 200, body: since ? jobs : jobs };
      };`,
    error: "is not assignable to type 'string'",
  },
  'a code that the contract does not have': {
    source: `
      import { AppError } from '../errors.ts';
      export const error = new AppError('teapot', 'No.');`,
    error: 'Argument of type \'"teapot"\' is not assignable to parameter of type',
  },
};

/** Compiles sources that exist only here, with the settings of `npm run types`, as if they lay in src/server/api. */
function compile(sources: ReadonlyMap<string, string>): ts.Program {
  const configFile = join(root, 'tsconfig.json');
  const { config } = ts.readConfigFile(configFile, (path) => ts.sys.readFile(path)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => sources.has(path) || disk.fileExists(path),
    readFile: (path) => sources.get(path) ?? disk.readFile(path),
    getSourceFile(path, language, ...rest) {
      const planted = sources.get(path);
      if (planted === undefined) return disk.getSourceFile(path, language, ...rest);
      return ts.createSourceFile(path, planted, language, true);
    },
  };
  return ts.createProgram([...sources.keys()], { ...options, noUnusedLocals: false }, host);
}

const paths = new Map(Object.keys(PLANTED).map((what, index) => [what, join(folder, `planted-${index}.ts`)]));
const operationsFile = join(root, 'src', 'contract', 'operations.ts');
const program = compile(
  new Map([...paths].map(([what, path]) => [path, IMPORTS + (PLANTED[what]?.source ?? '')])),
);

for (const [what, { error }] of Object.entries(PLANTED)) {
  t.test(error === undefined ? what : `${what} does not compile`, async (t) => {
    const file = program.getSourceFile(paths.get(what) ?? '');
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    const messages = found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    t.equal(messages.length, error === undefined ? 0 : 1, messages.join('\n'));
    if (error !== undefined) t.ok(messages[0]?.includes(error), messages.join());
  });
}

t.test(
  'the parameters that handlers always find are those to which the contract gives a default',
  async (t) => {
    const declared: Record<string, string[]> = {};
    const checker = program.getTypeChecker();
    program.getSourceFile(operationsFile)?.forEachChild((node) => {
      if (!ts.isInterfaceDeclaration(node) || node.name.text !== 'DefaultedParameters') return;
      for (const member of checker.getTypeAtLocation(node).getProperties()) {
        const type = checker.getTypeOfSymbol(member);
        const parts = type.isUnion() ? type.types : [type];
        declared[member.name] = parts.map((part) => (part as ts.StringLiteralType).value).sort();
      }
    });
    const defaulted = contractOperations().map(({ operationId, parameters }) => {
      const names = parameters.filter(({ schema }) => schema.default !== undefined).map(({ name }) => name);
      t.equal(names.includes('limit'), operationId.startsWith('list'), `${operationId}: limit`);
      return [operationId, names.filter((name) => name !== 'limit').sort()] as const;
    });
    t.strictSame(declared, Object.fromEntries(defaulted.filter(([, names]) => names.length > 0)));
  },
);
