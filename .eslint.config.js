import * as parser from '@typescript-eslint/parser';

// What is looked for by the shape of the syntax; all other rules are oxlint's (.oxlintrc.json).
const restrictedSyntax = [
  { selector: 'ExportAllDeclaration', message: 'Name what is exported: no barrel files.' },
  {
    selector: 'ImportDeclaration[source.value=/^[^.]/] > ImportNamespaceSpecifier',
    message: 'Import by name.',
  },
];

export default [
  { ignores: ['generated/**', 'data/**', 'release/**', '.tap/**', 'node_modules/**'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    languageOptions: { parser },
    rules: {
      'no-restricted-syntax': ['error', ...restrictedSyntax],
    },
  },
  {
    // Whatever is done on somebody's authority is checked in the transaction that does it.
    files: ['src/server/{portal,access,features,cli,commands}/**/*.ts'],
    ignores: [
      // These find out who somebody is: by a password, a link, a code, or the tokens that a password was given for.
      'src/server/features/{people/{invitations,portal-links},sign-in/{choose-company,sessions,sign-in}}.ts',
      // Whoever asks for a link proves nothing yet; its mail does.
      'src/server/features/people/mailed-links.ts',
      // A command of the operator does it, on nobody else's authority.
      'src/server/features/{companies/erase,feed-tokens/stored-feed-tokens}.ts',
      // The code in a mail's address is the authority.
      'src/server/features/notices/stopping.ts',
      // Workers write what they did and counted, on nobody's authority.
      'src/server/features/{keys/key-ends,usage/key-usage,webhooks/webhook-outages,webhooks/deliveries/{deliveries-purge,results}}.ts',
      // A start makes the key of signing secrets, on nobody's authority.
      'src/server/features/webhooks/secret-key.ts',
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
];
