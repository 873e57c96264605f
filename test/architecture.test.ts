import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import {
  circularParts,
  circularSiblings,
  importsBesideDoors,
  packageOf,
  partOf,
  problemsOf,
  readSource,
} from './_architecture.ts';
import type { Rules, Source } from './_architecture.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The parts that each part of src may import. A new part is placed here first. */
const mayImport = {
  fieldledger: ['main', 'compile-cache'],
  'compile-cache': [],
  // Only here the products meet: what belongs to one imports nothing of the others, but the demo fills a server's database.
  main: ['client', 'cli', 'demo', 'command-line'],
  cli: [
    'server',
    'listen',
    'operator-pages',
    'access',
    'webhooks',
    'backoffice',
    'invoice-pdf',
    'store',
    'contract',
    'command-line',
  ],
  server: [
    'http-server',
    'malformed-requests',
    'publication',
    'operator-pages',
    'portal',
    'api',
    'invoice-pdf',
    'store',
    'contract',
  ],
  // The public port and the one for operators keep to the same rules.
  'http-server': ['malformed-requests', 'unread-answers'],
  // Both know an address's bytes or network.
  'unread-answers': ['access'],
  'malformed-requests': ['api', 'contract'],
  publication: ['api', 'contract'],
  'operator-pages': ['http-server', 'malformed-requests', 'api', 'store'],
  // The two faces of the service don't know each other.
  portal: ['access', 'webhooks', 'backoffice', 'invoice-pdf', 'store', 'contract'],
  api: ['access', 'backoffice', 'invoice-pdf', 'store', 'contract'],
  demo: ['cli', 'access', 'backoffice', 'store', 'contract', 'command-line'],
  access: ['store', 'contract'],
  // A company's calendar day is a matter of the company.
  // It issues no document that can't be printed.
  backoffice: ['access', 'typefaces', 'store', 'contract'],
  webhooks: ['store', 'contract', 'command-line'],
  'invoice-pdf': ['typefaces', 'store', 'contract'],
  typefaces: [],
  store: ['contract', 'sqlite-look', 'command-line'],
  contract: [],
  config: ['setting-values', 'command-line'],
  'setting-values': [],
  listen: ['access'],
  log: [],
  // Processes of PDFs and the thread of passwords.
  'memory-usage': [],
  metrics: ['contract'],
  // The codes of errors are the contract's.
  errors: ['contract'],
  // Integrators run it: it knows the contract and nothing of the service.
  client: ['contract', 'command-line', 'sqlite-look'],
  // Both products have commands, and make files whole.
  'command-line': ['contract'],
  // A file is looked into before it is written, by the service and by a copy's reader.
  'sqlite-look': [],
  // Programs that integrators start from: of ours they know what the package gives to everybody.
  examples: [],
  // Builds the reference, and is no part of the service.
  reference: [],
  // Builds what a release hands out, and is none either.
  release: [],
};

/** Which part of src each package belongs to: only there its name, its types and its errors are known. */
const owners = {
  'proxy-addr': ['server'],
  negotiator: ['api'],
  express: ['server', 'api', 'publication', 'operator-pages', 'portal'],
  'openapi-backend': ['api'],
  // "Did you mean", of a parameter, of an event and of a column.
  'fastest-levenshtein': ['errors'],
  helmet: ['portal'],
  // The API reads the errors that the contract's validators report.
  ajv: ['contract', 'api'],
  'ajv-formats': ['contract'],
  // Formats and check digits of VAT numbers.
  stdnum: ['contract'],
  'better-sqlite3': ['store'],
  kysely: ['store'],
  // How easily a password is guessed.
  '@zxcvbn-ts/core': ['access'],
  '@zxcvbn-ts/language-common': ['access'],
  '@zxcvbn-ts/language-en': ['access'],
  pg: ['store'],
  pino: ['log'],
  'prom-client': ['metrics'],
  commander: ['command-line', 'client', 'cli', 'demo'],
  'cli-progress': ['command-line'],
  hucre: ['client'],
  'ipaddr.js': ['webhooks', 'access'],
  // Which names are public.
  tldts: ['webhooks'],
  pdfkit: ['invoice-pdf'],
  // Processes that print, and a thread that judges passwords.
  tinypool: ['invoice-pdf', 'access'],
  fontkit: ['typefaces'],
  pngjs: ['invoice-pdf'],
  'jpeg-js': ['invoice-pdf'],
  'jsonc-parser': ['backoffice'],
  '@expo-google-fonts/source-sans-3': ['typefaces'],
  'dejavu-fonts-ttf': ['typefaces'],
  yaml: ['publication'],
  'openapi-fetch': ['client'],
  '@modelcontextprotocol/server': ['client'],
  tar: ['release'],
  fieldledger: ['examples'],
};

const contract = JSON.parse(read('generated/openapi.json')) as {
  paths: Record<string, Record<string, { operationId?: string }>>;
};
const operationIds = Object.values(contract.paths)
  .flatMap((item) => Object.values(item))
  .flatMap(({ operationId }) => operationId ?? []);
const rules: Rules = {
  mayImport,
  leaves: ['config', 'setting-values', 'log', 'metrics', 'memory-usage', 'errors'],
  owners,
  operationIds,
};

function readTree(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|js)$/.test(path))
    .map((path) => readSource(`${folder}/${path}`, read(`${folder}/${path}`)));
}

const src = readTree('src');
const test = readTree('test');
const manifest = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

t.test('every file keeps to the layout, the names and the budgets', async (t) => {
  t.strictSame(
    [...src, ...test].flatMap((source) => problemsOf(source, rules)),
    [],
  );
});

t.test('whatever is done on somebody’s authority is done in an authorised transaction', async (t) => {
  const opening = src
    .filter(({ path }) => /^src\/server\/(portal|access|webhooks|cli)\//.test(path))
    .flatMap(({ path }) => [...read(path).matchAll(/\.transaction\(/g)].map(() => path));
  t.strictSame(opening, [
    // These find out who somebody is: by a password, a link, or the tokens that a password was given for.
    'src/server/access/administrators.ts',
    'src/server/access/invitations.ts',
    'src/server/access/sessions.ts',
    'src/server/access/sessions.ts',
    // A start makes the key of signing secrets, on nobody's authority.
    'src/server/webhooks/secret-key.ts',
  ]);
});

t.test('imports run one way', async (t) => {
  t.strictSame(circularParts({ ...mayImport, errors: [] }), []);
});

const inStore = src.filter(({ path }) => path.startsWith('src/server/store/'));

t.test('no files or rooms of the store import each other in a circle', async (t) => {
  t.strictSame(circularSiblings(inStore), []);
});

/** The files of a room by which the others use it. In the other rooms each file is a subject of its own. */
const doors = {
  'src/server/store/engines': [
    'engine.ts',
    'open-engine.ts',
    // The counters share the pool.
    'postgres.ts',
    'notifications.ts',
    'without-index.ts',
    'serving-lock.ts',
  ],
  'src/server/store/lists': ['lists.ts', 'pages.ts'],
  // A search follows the index that the migration makes.
  'src/server/store/migrations': ['migrate.ts', 'schema-check.ts', '0002-records.ts'],
};

t.test('rooms of the store are used by their doors', async (t) => {
  t.strictSame(importsBesideDoors(src, doors), []);
});

/** The packages that some files import. */
function packagesOf(sources: Source[]): Set<string> {
  const names = sources
    .flatMap(({ imports }) => imports)
    .filter((name) => !name.startsWith('.') && !isBuiltin(name));
  return new Set(names.map(packageOf));
}

t.test('the service imports only what package.json declares, and nothing is declared in vain', async (t) => {
  const service = src.filter(({ path }) => !/^src\/(release|client\/examples)\//.test(path));
  t.strictSame([...packagesOf(service)].sort(), Object.keys(manifest.dependencies).sort());
  t.strictSame([...packagesOf(src)].sort(), Object.keys(owners).sort());
});

t.test('the tests import only what package.json declares', async (t) => {
  const declared = { ...manifest.dependencies, ...manifest.devDependencies };
  t.strictSame(
    [...packagesOf(test)].filter((name) => !(name in declared)),
    [],
  );
});

t.test('every development dependency is used', async (t) => {
  const commands = Object.values(manifest.scripts).join('\n');
  const settings = ['Makefile', '.eslint.config.js', '.redocly.yaml', '.spectral.yaml', '.taprc']
    .map(read)
    .join('\n');
  const tests = test.map(({ path }) => read(path)).join('\n');
  const isUsed = (name: string) => {
    const { bin = {} } = JSON.parse(read(`node_modules/${name}/package.json`)) as {
      bin?: Record<string, string>;
    };
    const words = [name, ...(typeof bin === 'string' ? [] : Object.keys(bin))];
    const isMentioned = new RegExp(`(^|[^\\w-])(${words.join('|')})($|[^\\w-])`, 'm');
    const typed = name.replace('@types/', '');
    return typed === name
      ? isMentioned.test(commands + settings + tests)
      : typed === 'node' || typed in manifest.dependencies;
  };
  t.strictSame(
    Object.keys(manifest.devDependencies).filter((name) => !isUsed(name)),
    [],
  );
});

t.test('the checks bite', async (t) => {
  const inspect = (path: string, text: string) => problemsOf(readSource(path, text), rules);
  const lines = (count: number) => 'x();\n'.repeat(count);

  t.test('a clean file has no problem', async (t) => {
    t.strictSame(
      inspect('src/server/api/pages.ts', "import { list } from '../store/lists.ts';\nexport const a = list;"),
      [],
    );
    t.strictSame(inspect('src/server/store/keys.ts', "import { AppError } from '../errors.ts';"), []);
    t.strictSame(
      inspect('src/contract/records.ts', "import type { paths } from '../../generated/openapi.ts';"),
      [],
    );
    t.strictSame(
      inspect('src/server/api/operations/getInvoice.ts', "import { sql } from '../pages.ts';"),
      [],
    );
  });

  const planted: [problem: string, path: string, text: string][] = [
    ['store imports api', 'src/server/store/keys.ts', "import { a } from '../api/api.ts';"],
    ['store imports api', 'src/server/store/keys.ts', "import type { A } from '../api/api.ts';"],
    ['store imports api', 'src/server/store/keys.ts', "export { a } from '../api/api.ts';"],
    ['store imports api', 'src/server/store/keys.ts', "const a = await import('../api/api.ts');"],
    ['api imports portal', 'src/server/api/api.ts', "import { a } from '../portal/pages.ts';"],
    ['portal imports api', 'src/server/portal/pages.ts', "import { a } from '../api/api.ts';"],
    ['server imports cli', 'src/server/server.ts', "import { a } from './cli/serve.ts';"],
    ['log imports store', 'src/server/log.ts', "import { a } from './store/keys.ts';"],
    ['imports test/_server.ts', 'src/server/api/api.ts', "import { a } from '../../../test/_server.ts';"],
    [
      'imports generated/openapi.ts',
      'src/server/api/api.ts',
      "import { a } from '../../../generated/openapi.ts';",
    ],
    [
      'billing is a part of src that nobody placed',
      'src/server/billing/sums.ts',
      "import { a } from '../errors.ts';",
    ],
    ['imports kysely, which belongs to store', 'src/server/api/api.ts', "import { sql } from 'kysely';"],
    [
      'imports ajv, which belongs to contract and api',
      'src/server/store/keys.ts',
      "import { A } from 'ajv/dist/2020.js';",
    ],
    [
      'imports @acme/fonts, which has no owner',
      'src/server/api/api.ts',
      "import.meta.resolve('@acme/fonts/a.ttf');",
    ],
    [
      'imports @acme/money, which has no owner',
      'src/server/api/api.ts',
      "import { m } from '@acme/money/core';",
    ],
    ['has 301 lines, more than 300', 'src/server/api/api.ts', lines(301)],
    ['has 61 lines, more than 60', 'src/server/api/operations/getJob.ts', lines(61)],
    ['has 401 lines, more than 400', 'test/server/api/pages.test.ts', lines(401)],
    ['load has 61 lines, more than 60', 'src/server/api/api.ts', `function load() {\n${lines(59)}}`],
    ['load has 61 lines, more than 60', 'src/server/api/api.ts', `const load = () => {\n${lines(59)}};`],
    ['load has 61 lines, more than 60', 'src/server/api/api.ts', `class A { load() {\n${lines(59)}} }`],
    ['has a default export', 'src/server/api/api.ts', 'export default 1;'],
    ['has a default export', 'src/server/api/api.ts', 'export default function a() {}'],
    ['has a default export', 'src/server/api/api.ts', 'const a = 1; export { a as default };'],
    ['has enum Kind', 'src/server/api/api.ts', 'enum Kind { A }'],
    ['has export *', 'src/server/api/api.ts', "export * from './pages.ts';"],
    ['utils says nothing', 'src/utils/strings.ts', ''],
    ['date-helpers says nothing', 'src/server/api/date-helpers.ts', ''],
    ['apiKeys is not kebab-case', 'src/server/access/apiKeys.ts', ''],
    ['get-job is no operation', 'src/server/api/operations/get-job.ts', ''],
  ];
  for (const [problem, path, text] of planted) {
    t.test(`${problem}, in ${path}`, async (t) => {
      t.strictSame(inspect(path, text), [`${path}: ${problem}`]);
    });
  }

  t.test('a circle in the table of imports is found', async (t) => {
    t.strictSame(circularParts({ a: ['b'], b: ['c'], c: ['b'], d: ['a'] }), ['b', 'c']);
  });

  t.test('a circle within a folder is found, of files and of folders', async (t) => {
    const sources = Object.entries({
      'src/server/store/lists/lists.ts': './pages.ts',
      'src/server/store/lists/pages.ts': './lists.ts',
      'src/server/store/lists/ids.ts': '../keys/keys.ts',
      'src/server/store/keys/keys.ts': '../lists/ids.ts',
      'src/server/store/schema.ts': './keys/keys.ts',
    }).map(([path, name]) => ({ path, imports: [name] }));
    t.strictSame(circularSiblings(sources), [
      'src/server/store/lists/lists.ts',
      'src/server/store/lists/pages.ts',
      'src/server/store/lists',
      'src/server/store/keys',
    ]);
  });

  t.test('an import beside the doors of a room is found', async (t) => {
    const sources = [
      {
        path: 'src/server/api/pages.ts',
        imports: ['../store/lists/lists.ts', '../store/lists/plans.ts', 'kysely'],
      },
      { path: 'src/server/store/lists/lists.ts', imports: ['./plans.ts'] },
    ];
    t.strictSame(importsBesideDoors(sources, doors), [
      'src/server/api/pages.ts imports src/server/store/lists/plans.ts',
    ]);
  });

  t.test('a part and a package are named by the first words of their paths', async (t) => {
    t.equal(partOf('src/server/api/operations/getJob.ts'), 'api');
    t.equal(partOf('src/server/server.ts'), 'server');
    t.equal(packageOf('@redocly/cli/bin/cli.js'), '@redocly/cli');
    t.equal(packageOf('ajv/dist/2020.js'), 'ajv');
  });
});
