// Redaction of secrets by their place. Data: each gate with its removal and the tests that must fail without it.

import type { Gate } from '../gate.ts';

export const redactionGates: readonly Gate[] = [
  {
    name: 'secret/defined-tables',
    prevents: 'the passwords of rows whose columns an earlier statement names are sent to a model',
    file: 'core/guard/safety/redactor.ts',
    text: 'definedTables(whole, found.heads), ',
    instead: '',
    suites: ['core/guard/safety/command-rules.test.ts'],
    only: 'redacts a password by its place',
  },
  {
    name: 'secret/here-documents',
    prevents: 'a password that a here-document writes into its file is sent to a model',
    file: 'core/guard/safety/command-rules.ts',
    text: '...heredocRules(user),',
    instead: '',
    suites: ['core/guard/safety/command-rules.test.ts'],
    only: 'redacts a password by its place',
  },
];
