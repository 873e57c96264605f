/*
 * Says which file may import which, for dependency-cruiser (`npm run lint:imports`). A part is a folder or a file.
 */

/** The parts of src, each of which may import those below it alone, so that they can't form a circle. */
const parts = [
  'fieldledger',
  // Only here the products meet.
  'main',
  'compile-cache',
  'release',
  // It fills a server's database by the server's own moves.
  'demo',
  'examples',
  'client',
  'server/reference',
  'server/commands',
  'server/server',
  // A door of its own, on a port of its own.
  'server/feed',
  'server/operator-pages',
  'server/portal',
  'server/publication',
  'server/api',
  'server/features/overview',
  'server/features/account',
  'server/features/notices',
  'server/features/people',
  'server/features/sign-in',
  'server/features/feed-tokens',
  'server/features/usage',
  'server/features/keys',
  'server/features/documents',
  'server/features/hand-over',
  'server/features/companies',
  'server/features/webhooks',
  'server/views',
  'server/cli',
  'server/backoffice',
  'server/invoice-pdf',
  'server/e-invoice',
  'server/printed-document',
  'server/typefaces',
  'server/logos',
  'server/access',
  'server/sending',
  'server/store',
  'server/connections',
  'server/process',
  'tables',
  'command-line',
  'sqlite-look',
  'errors',
  'contract',
];

/** Parts that know nothing of others, though they stand above them. */
const strangers = {
  client: ['server'],
  examples: ['server'],
  'server/portal': ['server/api', 'server/publication'],
  'server/feed': ['server/portal', 'server/publication'],
  'server/publication': ['server/features', 'server/store'],
  'server/invoice-pdf': ['server/sending', 'server/access'],
  'server/backoffice': ['server/sending'],
};

/** The folders and files of the store: each imports only those that stand below it. */
const rooms = [
  'verify',
  'copy',
  'accounts',
  'backup',
  'records',
  'distribute',
  'stored-secrets',
  'stored-tables',
  'lists',
  'outbox',
  'rate-counters',
  'machines',
  'migrations',
  'engines',
  'foreign',
  'search-columns',
  'statuses',
  'batches',
  'dialects',
  'tables',
].map((name) => `server/store/${name}`);

/** The files of a room by which the rest of src uses it. In the other rooms each file is a subject of its own. */
const doors = {
  'server/store/engines': ['engine', 'open-engine', 'serving-lock'],
  'server/store/lists': ['lists'],
  'server/store/migrations': ['migrate', 'schema-check'],
};

/** Which parts a package belongs to: only there its name, its types and its errors are known. */
const owners = {
  'proxy-addr': ['server/server'],
  negotiator: ['server/api'],
  express: [
    'server/server',
    'server/api',
    'server/publication',
    'server/operator-pages',
    'server/portal',
    'server/feed',
  ],
  'openapi-backend': ['server/api', 'server/feed'],
  // "Did you mean", of a parameter, of an event and of a column.
  'fastest-levenshtein': ['errors'],
  helmet: ['server/portal'],
  // The API reads the errors that the contract's validators report.
  ajv: ['contract', 'server/api'],
  'ajv-formats': ['contract'],
  stdnum: ['contract'],
  'better-sqlite3': ['server/store'],
  kysely: ['server/store', 'server/features'],
  '@zxcvbn-ts': ['server/features/sign-in'],
  otpauth: ['server/features/sign-in'],
  uqr: ['server/views', 'server/printed-document'],
  '@myriaddreamin/typst-ts-node-compiler': ['server/invoice-pdf'],
  '@napi-rs/image': ['server/logos'],
  pg: ['server/store'],
  pino: ['server/process'],
  nodemailer: ['server/features/notices'],
  'prom-client': ['server/process'],
  commander: ['command-line', 'client', 'server/cli', 'server/commands', 'server/features', 'demo'],
  hucre: ['tables'],
  'ipaddr.js': ['server/sending', 'server/connections'],
  tldts: ['server/sending'],
  // Processes that print, and a thread that judges passwords.
  tinypool: ['server/invoice-pdf', 'server/features'],
  'jsonc-parser': ['server/backoffice'],
  yaml: ['server/publication'],
  '@modelcontextprotocol/server': ['client'],
  tar: ['release'],
  esbuild: ['release'],
};

const inParts = (names) => `^src/(${names.join('|')})(/|[.])`;
const inPackages = (names) => `(^|/)node_modules/(@types/)?(${names.join('|')})/`;
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });
/** Lets each of a list import those below it alone. */
const downwards = (list) =>
  list
    .slice(1)
    .map((part, index) =>
      forbid(
        `${part} imports what is below it`,
        { path: inParts([part]) },
        { path: inParts(list.slice(0, index + 1)) },
      ),
    );

export default {
  forbidden: [
    ...downwards(parts),
    ...downwards(rooms),
    forbid('every part is placed', { path: '^src/', pathNot: inParts(parts) }, {}),
    forbid('every room is placed', { path: inParts(['server/store']), pathNot: inParts(rooms) }, {}),
    ...Object.entries(strangers).map(([part, others]) =>
      forbid(`${part} knows nothing of them`, { path: inParts([part]) }, { path: inParts(others) }),
    ),
    forbid(
      'pages and commands query nothing themselves',
      { path: '-(page|command)[.]ts$' },
      { path: inPackages(['kysely']) },
    ),
    forbid(
      'the rest stays out',
      { path: '^src/' },
      { dependencyTypesNot: ['core'], path: '^(?!src/|generated/|node_modules/)' },
    ),
    forbid(
      'the contract says its types',
      { path: '^src/', pathNot: inParts(['contract', 'client']) },
      { path: '^generated/' },
    ),
    ...Object.entries(doors).map(([room, files]) =>
      forbid(
        `${room} is used by its doors`,
        { path: '^src/', pathNot: inParts([room]) },
        { path: inParts([room]), pathNot: inParts(files.map((file) => `${room}/${file}`)) },
      ),
    ),
    ...Object.entries(owners).map(([name, own]) =>
      forbid(`${name} has an owner`, { path: '^src/', pathNot: inParts(own) }, { path: inPackages([name]) }),
    ),
    forbid(
      'every package has an owner',
      { path: '^src/' },
      { path: '^node_modules/', pathNot: inPackages(Object.keys(owners)) },
    ),
    forbid(
      'no circle',
      { path: '^src/' },
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    forbid(
      'no circle in the store, of types either',
      { path: inParts(['server/store']) },
      { circular: true },
    ),
    forbid(
      'a name says something',
      { path: '(^|[/-])_?(utils?|common|libs?|helpers?|misc|shared)[-./]' },
      {},
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
