// The gates of remote machines, services and buses.

import type { Gate } from '../gate.ts';

const ssh = ['core/features/ssh/ssh.test.ts'];
const machine = ['core/features/machine/machine.test.ts'];

export const remoteGates: readonly Gate[] = [
  {
    name: 'machine/unit-files',
    prevents: 'keys in the file of a unit are read without approval',
    file: 'core/features/machine/services.ts',
    text: "paths: [placeOf('the file of the unit', '/etc/systemd')]",
    instead: 'paths: []',
    suites: ['core/features/machine/machine.test.ts'],
  },
  {
    name: 'ssh/host-key',
    prevents: 'a credential is sent to a machine whose key is not the trusted one',
    file: 'core/features/ssh/connection.ts',
    text: 'return fingerprint === attempt.trusted;',
    instead: 'return true;',
    suites: ssh,
  },
  {
    name: 'ssh/untrusted-key',
    prevents: 'a call runs before a person trusted the key of the machine',
    file: 'core/features/ssh/machine-access.ts',
    text: '...(refused === null ? {} : { refused }),',
    instead: '',
    suites: ssh,
    only: 'before a person trusted',
  },
  {
    name: 'ssh/stop-group',
    prevents: 'a stop leaves a command running on machines with Dropbear',
    file: 'core/features/ssh/remote-line.ts',
    text: '\\${g:-$PPID}',
    instead: '$PPID',
    suites: ['core/features/ssh/odd-servers.test.ts'],
    only: 'takes its connection along',
  },
  {
    name: 'ssh/panic-closes',
    prevents: 'a forwarded port or a command on a machine outlives the panic stop',
    file: 'core/features/ssh/remote-work.ts',
    text: "panic.signal.addEventListener('abort', onPanic, { once: true });",
    instead: '',
    suites: ssh,
  },
  {
    name: 'ssh/own-work',
    prevents: 'a conversation reads what another one runs on a machine',
    file: 'core/features/ssh/remote-work.ts',
    text: '.filter((job) => job.sessionId === sessionId)',
    instead: '',
    suites: ssh,
  },
  {
    name: 'ssh/undo-changed',
    prevents: 'an undo overwrites a later change on a machine',
    file: 'core/features/ssh/remote-file.ts',
    text: 'if (replaces !== undefined && (before === null || sha256(before) !== replaces)) {',
    instead: 'if (replaces !== undefined && before === null) {',
    suites: ssh,
  },
  {
    name: 'machine/unit-asks',
    prevents: 'a service is stopped without a question',
    file: 'core/features/machine/services.ts',
    text: "if (isLook(args)) return { ...base, class: 'read', command: null };",
    instead: "return { ...base, class: 'read', command: null };",
    suites: machine,
    only: 'asks with the exact command',
  },
  {
    name: 'machine/bus-bounds',
    prevents: 'a reserved address of a bus is used',
    file: 'core/features/machine/buses.ts',
    text: 'at >= ADDRESS_MIN && at <= ADDRESS_MAX',
    instead: 'at >= 0 || at <= ADDRESS_MAX + ADDRESS_MIN',
    suites: machine,
    only: 'enforce their bounds',
  },
];
