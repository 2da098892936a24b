// Code loaded into the program: only as a person approved it, and never code that the agent could have written. Data, as in the other
// areas.

import type { Gate } from '../gate.ts';

const suites = ['tests/program/plugins.test.ts'];
const load = 'core/features/plugins/load-plugins.ts';
const ops = 'core/features/plugins/ops.ts';
const imports = 'core/features/plugins/load-plugins.ts';

export const pluginGates: readonly Gate[] = [
  {
    name: 'plugin/approved',
    prevents: 'a plugin runs without approval, or after a change',
    file: load,
    text: 'if (approved !== content.sha256) {',
    instead: 'if (false) {',
    suites,
    only: 'only once a person approved',
  },
  {
    name: 'plugin/changed',
    prevents: 'a plugin runs with another content than a person approved',
    file: load,
    text: 'if (approved !== content.sha256) {',
    instead: 'if (approved === null) {',
    suites,
    only: 'only once a person approved',
  },
  {
    name: 'plugin/written-by-the-agent',
    prevents: 'a plugin is loaded from where a tool may write',
    file: load,
    text: 'if (written !== undefined)',
    instead: 'if (written === null)',
    suites,
    only: 'where the agent may write',
  },
  {
    name: 'plugin/as-shown',
    prevents: 'an approval holds for a content the person was not shown',
    file: ops,
    text: 'if (sha256 !== given.sha256) {',
    instead: 'if (false) {',
    suites,
    only: 'only once a person approved',
  },
  {
    name: 'plugin/person-behind-the-door',
    prevents: 'a plugin is approved through a door without a person',
    file: ops,
    text: 'if (!doors[channel].isPersonal)',
    instead: 'if (false)',
    suites,
    only: 'without a person behind it',
  },
  {
    name: 'plugin/person-only',
    prevents: 'a command line that a tool started approves a plugin',
    file: 'core/contracts/features/plugins.ts',
    text: "It is loaded from the next start on.',\n    forPerson: true,",
    instead: "It is loaded from the next start on.',",
    suites: ['tests/program/plugins.test.ts'],
    only: 'a command line started by a tool',
  },
  {
    name: 'plugin/other-files',
    prevents: 'a file brings others along that its hash does not cover',
    file: 'core/features/plugins/plugin-content.ts',
    text: 'if (outside !== null)',
    instead: "if (outside === '')",
    suites,
    only: 'a file that imports others|import nothing outside',
  },
  {
    name: 'plugin/imported-later',
    prevents: 'a file that a running plugin imports later is changed first',
    file: imports,
    text: 'if (files.get(file) !== hashOf(source))',
    instead: 'if (false)',
    suites,
    only: 'imports later',
  },
  {
    name: 'plugin/native-later',
    prevents: 'native code that a running plugin loads later is changed first',
    file: imports,
    text: "if (file?.endsWith('.node') === true)",
    instead: 'if (false)',
    suites,
    only: 'imports later',
  },
  {
    name: 'plugin/imported-path',
    prevents: 'a link or a computed path leads an import out of what was hashed',
    file: imports,
    text: 'if (leaves)',
    instead: 'if (false)',
    suites,
    only: 'imports by path only',
  },
];
