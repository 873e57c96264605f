import tseslint from 'typescript-eslint';

/** The shape that keeps a file readable in one sitting. */
const budgets = (linesMax) => ({
  'max-lines': ['error', { max: linesMax }],
  'max-lines-per-function': ['error', { max: 60 }],
  complexity: ['error', { max: 12 }],
  'max-depth': ['error', { max: 3 }],
  'max-params': ['error', { max: 5 }],
});

const restrictedSyntax = [
  { selector: 'ExportAllDeclaration', message: 'Name what is exported: no barrel files.' },
  {
    selector: 'ImportDeclaration[source.value=/^[^.]/] > ImportNamespaceSpecifier',
    message: 'Import by name.',
  },
];

export default tseslint.config(
  { ignores: ['generated/**', 'data/**', 'release/**', '.tap/**', 'node_modules/**'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      ...budgets(300),
      // Node strips types file by file: an inline `type` in a value import would leave the import itself behind.
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'separate-type-imports', disallowTypeAnnotations: true },
      ],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'all' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // What waits on PostgreSQL answers at once on SQLite, behind the same asynchronous signature.
      '@typescript-eslint/require-await': 'off',
      // Spreading a string into its code points is what a limit on characters means.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // Kysely, Express and openapi-backend are typed with generics that name a type only once.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      'no-restricted-exports': [
        'error',
        { restrictDefaultExports: { direct: true, named: true, defaultFrom: true, namedFrom: true } },
      ],
      'no-restricted-syntax': ['error', ...restrictedSyntax],
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx', 'hack'] }],
      'no-console': 'error',
      eqeqeq: ['error', 'always'],
      'prefer-template': 'error',
      'object-shorthand': ['error', 'always'],
      'func-style': ['error', 'declaration', { allowArrowFunctions: true }],
    },
  },
  {
    files: ['src/server/api/operations/*.ts'],
    rules: { 'max-lines': ['error', { max: 60 }] },
  },
  {
    // Whatever is done on somebody's authority is checked in the transaction that does it.
    files: ['src/server/{portal,access,webhooks,cli}/**/*.ts'],
    ignores: [
      // These find out who somebody is: by a password, a link, a code, or the tokens that a password was given for.
      'src/server/access/{administrators,choose-company,invitations,portal-links,sessions}.ts',
      // Whoever asks for a link proves nothing yet; its mail does.
      'src/server/access/mailed-links.ts',
      // A command of the operator or a change of the feed does it, on nobody else's authority.
      'src/server/access/companies.ts',
      // A start makes the key of signing secrets, on nobody's authority.
      'src/server/webhooks/secret-key.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...restrictedSyntax,
        {
          selector: "CallExpression[callee.property.name='transaction']",
          message: 'Let an authorised transaction do it, which checks the authority.',
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      ...budgets(400),
      // A test file is a list of sentences; its callback is as long as the list.
      'max-lines-per-function': 'off',
      // tap queues subtests and waits for every one of them, whether the file awaits its promise or not.
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', package: '@tapjs/test', name: 'test' }] },
      ],
    },
  },
  {
    // Programs to start from speak as simple programs do.
    files: ['src/client/examples/**/*.ts', 'src/examples/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // It has to be understood by every Node that may meet it, down to 12, so that the refusal can be read there.
    files: ['src/fieldledger.js', 'src/client/*.js'],
    languageOptions: { ecmaVersion: 2020, sourceType: 'module' },
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'ChainExpression', message: 'Node 12 has no optional chaining.' },
        { selector: "LogicalExpression[operator='??']", message: 'Node 12 has no nullish coalescing.' },
        { selector: 'ImportDeclaration[source.value=/^node:/]', message: 'Node 12 has no node: scheme.' },
        {
          selector: 'Program > ExpressionStatement > AwaitExpression',
          message: 'Node 12 has no top-level await.',
        },
      ],
    },
  },
);
