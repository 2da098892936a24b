// The operations on plugins as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

export const pluginForms = {
  'plugin.list': {
    about: 'list the plugins: your own features, where each comes from, and whether it is loaded',
    commands: { 'plugins list': { example: '' } },
  },
  'plugin.approve': {
    about: 'approve a plugin as its files are now; it is loaded from the next start on, until they change',
    forPerson: true,
    commands: {
      'plugins approve': {
        takes: ['path', 'sha256'],
        words: { path: 'its file or folder', sha256: 'the hash that `plugins list` shows' },
        paths: ['path'],
        example: 'weather.mjs 27ba4764e2d8e1bd4e2a3c3f6e6c8fd5b1a7e4f7d3f2c6f0a9b8c7d6e5f4a3b2',
      },
    },
  },
  'plugin.call': {
    about: 'call an operation of a plugin',
    forPerson: true,
    commands: {
      'plugins call': {
        takes: ['operation', 'params?'],
        words: { operation: 'such as weather.report', params: 'its parameters as JSON' },
        example: 'weather.report \'{"city":"Oslo"}\'',
      },
    },
  },
} as const satisfies OpForms<'plugin'>;
