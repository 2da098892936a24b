// Commands that show something of the machine or of a database, and the arguments of readers. Data: each gate with its removal and the tests
// that must fail without it.

import type { Gate } from '../gate.ts';

export const machineGates: readonly Gate[] = [
  {
    name: 'reader/reaching-programs',
    prevents: 'what a program that a reader starts brings in counts as local',
    file: 'core/guard/command/foreign-program.ts',
    text: '.filter((name) => !reaching.test(name))',
    instead: '',
    suites: ['core/guard/command/foreign-program.test.ts'],
  },
  {
    name: 'reader/late-values',
    prevents: 'where flags end at the first file, the value of a later one is a secret that is read',
    file: 'core/guard/command/argument-reader.ts',
    text: 'late.push(next);',
    instead: 'late.length;',
    suites: ['core/guard/command/read-command.test.ts'],
  },
  {
    name: 'reader/encodings',
    prevents: 'a file outside the workspace is read as an encoding',
    file: 'core/guard/command/argument-reader.ts',
    text: "form.kind === 'ENCODING' && !encoding.test(value)",
    instead: 'false',
    suites: ['core/guard/command/read-command.test.ts'],
  },
  {
    name: 'reader/process-environment',
    prevents: 'a list of programs shows their environments, which hold keys',
    file: 'core/guard/command/machine-table.ts',
    text: "'-?[AadFfHjLlruvwx]+'",
    instead: "'-?[AadeFfHjLlruvwx]+'",
    suites: ['core/guard/command/machine-table.test.ts'],
  },
  {
    name: 'reader/connection-names',
    prevents: 'a list of connections asks a server in the network for names',
    file: 'core/guard/command/machine-table.ts',
    text: ", only: ['-n'] },",
    instead: ' },',
    suites: ['core/guard/command/machine-table.test.ts'],
  },
  {
    name: 'reader/query-views',
    prevents: 'a view of a database runs a command in a query that only reads',
    file: 'core/guard/command/read-command.ts',
    text: "const isSafe = given.has('-safe') && ",
    instead: 'const isSafe = ',
    suites: ['core/guard/command/machine-table.test.ts'],
  },
  {
    name: 'reader/query-start-file',
    prevents: 'a start file runs commands before a query that only reads',
    file: 'core/guard/command/read-command.ts',
    text: " && valuesOf(given, '-init').join() === '/dev/null'",
    instead: '',
    suites: ['core/guard/command/machine-table.test.ts'],
  },
  {
    name: 'reader/query-words',
    prevents: 'a query writes, or a command of the database program runs another program',
    file: 'core/guard/command/read-command.ts',
    text: 'queries.every((query) => sqlQuery.test(query))',
    instead: 'true',
    suites: ['core/guard/command/machine-table.test.ts'],
  },
];
