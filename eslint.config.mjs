import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { walls } from './eslint.walls.mjs';

const TYPESCRIPT = ['**/*.ts'];
const SCRIPTS = ['**/*.{js,mjs,cjs}'];

export default defineConfig(
  { ignores: ['**/dist', '**/node_modules', '**/coverage', 'test/histories'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },

  {
    files: TYPESCRIPT,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // `async` without `await` turns a throw into a rejection: a promise's caller expects no other.
      '@typescript-eslint/require-await': 'off',
    },
  },
  // Plumbing that serves graphs of any state (`AnyGraph`) holds their schemas as `any` and hands them on.
  {
    files: ['src/**'],
    rules: { '@typescript-eslint/no-unsafe-argument': 'off' },
  },
  {
    files: ['src/{graph,activities,client,testing}/**'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
  },
  {
    files: SCRIPTS,
    extends: [tseslint.configs.recommended],
  },
  {
    files: ['jest.config.js'],
    languageOptions: { sourceType: 'commonjs' },
  },

  // Sizes are a hard look, not a verdict.
  {
    files: [...TYPESCRIPT, ...SCRIPTS],
    rules: {
      'max-lines': ['warn', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['warn', { max: 40, skipBlankLines: true, skipComments: true }],
    },
  },
  // A test looks at what has no type (parsed JSON, matchers, untyped state) and throws what a user might.
  {
    files: ['test/**'],
    rules: {
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  // A type test names values to look at their types.
  { files: ['test/types/**'], rules: { '@typescript-eslint/no-unused-vars': 'off' } },

  { files: ['src/**'], rules: { 'no-console': 'error' } },
  ...walls,
);
