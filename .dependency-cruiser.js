/*
 * Says which file may import which, for dependency-cruiser (`npm run lint:imports`). A part is a folder or a file.
 */

/**
 * The parts of src, each with those that it may import beside itself and the leaves. It may import only parts that stand
 * below it, so they can't form a circle. A new part is placed here first.
 */
const parts = Object.entries({
  fieldledger: ['main', 'compile-cache'],
  'compile-cache': [],
  // Only here the products meet.
  main: ['client', 'server/cli', 'demo', 'command-line'],
  release: [],
  // It fills a server's database by the server's own moves.
  demo: ['server/cli', 'server/access', 'server/backoffice', 'server/store', 'command-line', 'contract'],
  'server/cli': [
    'server/server',
    'server/feed',
    'server/listen',
    'server/operator-pages',
    'server/notices',
    'server/hand-over',
    'server/access',
    'server/webhooks',
    'server/backoffice',
    'server/e-invoice',
    'server/invoice-pdf',
    'server/logos',
    'server/store',
    'command-line',
    'contract',
  ],
  'server/server': [
    'server/exchange',
    'server/operator-pages',
    'server/http-server',
    'server/malformed-requests',
    'server/publication',
    'server/portal',
    'server/api',
    'server/invoice-pdf',
    'server/store',
    'contract',
  ],
  // A door of its own, on a port of its own.
  'server/feed': [
    'server/operator-pages',
    'server/http-server',
    'server/malformed-requests',
    'server/api',
    'server/access',
    'server/backoffice',
    'server/store',
    'contract',
  ],
  'server/operator-pages': ['server/http-server', 'server/malformed-requests', 'server/api', 'server/store'],
  // The public port and the one for operators keep to the same rules.
  'server/http-server': ['server/malformed-requests', 'server/unread-answers'],
  'server/malformed-requests': ['server/api', 'contract'],
  'server/unread-answers': ['server/access'],
  'server/listen': ['server/access'],
  'server/publication': ['server/api', 'contract'],
  // The two faces of the service don't know each other.
  'server/portal': [
    'server/exchange',
    'server/notices',
    'server/hand-over',
    'server/access',
    'server/webhooks',
    'server/backoffice',
    'server/invoice-pdf',
    'server/store',
    'tables',
    'contract',
  ],
  'server/notices': [
    'server/portal/views/html',
    'server/portal/views/formats',
    'server/access',
    'server/webhooks',
    'server/store',
    'contract',
  ],
  // Pages and mails escape and say times alike.
  'server/portal/views/formats': ['server/portal/views/html', 'server/store'],
  'server/portal/views/html': [],
  // Documents go to the access point as deliveries go to webhooks.
  'server/hand-over': [
    'server/webhooks',
    'server/e-invoice',
    'server/invoice-pdf',
    'server/store',
    'contract',
  ],
  'server/api': ['server/exchange', 'server/access', 'server/invoice-pdf', 'server/store', 'contract'],
  // One request and its answer, as server, API and portal know it.
  'server/exchange': ['server/access', 'contract'],
  // A company's calendar day is a matter of the company. No document is issued, and no logo kept, that can't be printed, and
  // none for Peppol that Peppol refuses.
  'server/backoffice': [
    'server/e-invoice',
    'server/access',
    'server/typefaces',
    'server/logos',
    'server/store',
    'contract',
  ],
  // Whoever loses access may lose their webhooks with it.
  'server/access': ['server/webhooks', 'server/store', 'contract'],
  'server/webhooks': ['server/store', 'command-line', 'contract'],
  'server/invoice-pdf': ['server/e-invoice', 'server/typefaces', 'server/logos', 'server/store', 'contract'],
  'server/e-invoice': [
    'server/invoice-pdf/means-of-payment',
    'server/invoice-pdf/wording',
    'server/invoice-pdf/printed-document',
    'contract',
  ],
  // Page and e-invoice say the same of the same document.
  'server/invoice-pdf/means-of-payment': ['server/invoice-pdf/printed-document', 'contract'],
  'server/invoice-pdf/wording': ['server/invoice-pdf/printed-document', 'contract'],
  'server/invoice-pdf/printed-document': ['server/store', 'contract'],
  'server/typefaces': [],
  'server/logos': [],
  'server/store': ['sqlite-look', 'command-line', 'contract'],
  // Builds the reference, and is no part of the service.
  'server/reference': [],
  'server/config': ['command-line'],
  'server/setting-values': ['command-line'],
  'server/vendor-look': [],
  'server/log': [],
  'server/metrics': ['contract'],
  // Processes of PDFs and the thread of passwords.
  'server/memory-usage': [],
  'server/ids': [],
  // Seals signing secrets, those of second factors, and notices that are shown once.
  'server/secret-box': [],
  // Business systems start from them.
  examples: ['client'],
  // Integrators run it: it knows the contract and nothing of the service.
  client: ['sqlite-look', 'command-line', 'tables', 'contract'],
  // Both products have commands, and make files whole.
  'command-line': ['contract'],
  // What spreadsheets open, for commands and pages.
  tables: ['contract'],
  // A file is looked into before it is written, by the service and by a copy's reader.
  'sqlite-look': [],
  errors: ['contract'],
  contract: [],
});

/** Parts that every part of the server, the demo and the commands may import. */
const leaves = [
  'server/config',
  'server/setting-values',
  'server/vendor-look',
  'server/log',
  'server/metrics',
  'server/memory-usage',
  'server/secret-box',
  'server/ids',
];

/** The folders and files of the store: each imports only those that stand below it. */
const rooms = [
  'verify',
  'copy',
  'company-data',
  'deliveries',
  'keys',
  'accounts',
  'backup',
  'records',
  'distribute',
  'stored-secrets',
  'stored-tables',
  'lists',
  'due-rows',
  'failing-webhooks',
  'machines',
  'migrations',
  'engines',
  'foreign',
  'search-columns',
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
  kysely: ['server/store'],
  '@zxcvbn-ts': ['server/access'],
  otpauth: ['server/access'],
  // The QR code of a second factor.
  uqr: ['server/portal', 'server/invoice-pdf'],
  pg: ['server/store'],
  pino: ['server/log'],
  nodemailer: ['server/notices'],
  'prom-client': ['server/metrics'],
  commander: ['command-line', 'client', 'server/cli', 'demo'],
  hucre: ['tables'],
  'ipaddr.js': ['server/webhooks', 'server/access'],
  tldts: ['server/webhooks'],
  pdfkit: ['server/invoice-pdf'],
  // Processes that print, and a thread that judges passwords.
  tinypool: ['server/invoice-pdf', 'server/access', 'server/hand-over'],
  fontkit: ['server/typefaces'],
  'bidi-js': ['server/typefaces'],
  linebreak: ['server/typefaces'],
  wawoff2: ['server/typefaces'],
  pngjs: ['server/logos'],
  'jpeg-js': ['server/logos'],
  'jsonc-parser': ['server/backoffice'],
  yaml: ['server/publication'],
  '@modelcontextprotocol/server': ['client'],
  tar: ['release'],
  esbuild: ['release'],
};

const inParts = (names) => `^src/(${names.join('|')})(/|[.])`;
const inPackages = (names) => `(^|/)node_modules/(@types/)?(${names.join('|')})/`;
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

export default {
  forbidden: [
    ...parts.map(([part, allowed], index) => {
      const below = parts.slice(index).map(([name]) => name);
      const own = [...allowed.filter((name) => below.includes(name)), part, 'errors'];
      const common = /^(server|demo)\b/.test(part) ? leaves : [];
      const pathNot = inParts([...own, ...common]);
      return forbid(`${part} imports its own parts`, { path: inParts([part]) }, { path: '^src/', pathNot });
    }),
    forbid('every part is placed', { path: '^src/', pathNot: inParts(parts.map(([name]) => name)) }, {}),
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
    ...rooms
      .slice(1)
      .map((room, index) =>
        forbid(
          `${room} imports what is below it`,
          { path: inParts([room]) },
          { path: inParts(rooms.slice(0, index + 1)) },
        ),
      ),
    forbid('every room is placed', { path: inParts(['server/store']), pathNot: inParts(rooms) }, {}),
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
