import tseslint from 'typescript-eslint';

const oneGate = [
  {
    selector: "CallExpression[callee.property.name='transaction']",
    message: 'Use Database.inTransaction: SQLite has one gated writer, and MySQL needs its retries.',
  },
  {
    selector: "CallExpression[callee.property.name='createQueryRunner']",
    message: 'Use Database.inTransaction: a query runner goes round the gate of the one writer.',
  },
];

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'data', 'coverage', 'src/transport/grpc/generated'] },
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...oneGate],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/no-explicit-any': 'error',
      // Nest resolves a constructor's parameters by their runtime classes: `import type` of an injected class
      // compiles and fails at boot. So no rule here turns imports into type imports.
      '@typescript-eslint/consistent-type-imports': 'off',
      // A generator, a port's method or a test's fake may be async without awaiting anything itself.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/database/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // A migration is one list of tables, read from top to bottom.
    files: ['src/database/migrations/**'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // A `describe` holds all tests of a subject, and `expect` hands out matchers typed `any`.
      'max-lines': 'off',
      'no-console': 'off',
      'max-lines-per-function': 'off',
      'no-restricted-syntax': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { 'no-console': 'off', 'no-restricted-syntax': 'off' },
  },
);
