// ESLint checks the .svelte files only; oxlint checks everything else. `{@html}` is an error here because it is a security gate.

import svelte from 'eslint-plugin-svelte';
import typescript from 'typescript-eslint';

// ESLint reads its configuration from a default export.
export default [
  { ignores: ['dist/**', 'node_modules/**'] },
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte'],
    languageOptions: { parserOptions: { parser: typescript.parser } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'svelte/no-at-html-tags': 'error',
      'svelte/no-target-blank': 'error',
      'svelte/button-has-type': 'error',
      'svelte/no-inspect': 'error',
      'svelte/valid-compile': 'error',
      'max-lines': ['error', { max: 400 }],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
];
