// The part of the table of known commands that shows something of the machine: its names, users, memory, disks, clock and limits.

import type { Reader } from './reader-form.ts';

export const machineReaders: Readonly<Record<string, Reader>> = {
  which: { reads: 'shows which program a name means', operands: 'program names', flags: '-a' },
  uname: {
    reads: 'shows the name of the system',
    operands: 'none',
    flags: `-a, --all, -s, --kernel-name, -n, --nodename, -r, --kernel-release, -v, --kernel-version, -m, --machine, -p, --processor, -i,
      --hardware-platform, -o, --operating-system`,
  },
  id: {
    reads: 'shows users and groups',
    operands: 'text',
    flags: '-g, --group, -G, --groups, -n, --name, -r, --real, -u, --user, -z, --zero',
  },
  groups: { reads: 'shows users and groups', operands: 'text', flags: '' },
  arch: { reads: 'shows the name of the system', operands: 'none', flags: '' },
  // An operand would set the name.
  hostname: { reads: 'shows the name of the system', operands: 'none', flags: '-a, -A, -d, -f, --fqdn, -i, -I, -s, --short, -y' },
  free: {
    reads: 'shows the memory in use',
    operands: 'none',
    flags: '-b, --bytes, -k, --kibi, -m, --mebi, -g, --gibi, -h, --human, --si, -l, --lohi, -t, --total, -w, --wide',
  },
  lscpu: { reads: 'shows the processors', operands: 'none', flags: '-a, --all, -b, --online, -e, -J, --json, -p, -x, --hex' },
  lsblk: {
    reads: 'shows disks',
    operands: 'none',
    flags:
      '-a, --all, -b, --bytes, -d, --nodeps, -f, --fs, -J, --json, -l, --list, -m, --perms, -n, --noheadings, -o LIST, -p, --paths, -t',
  },
  locale: { reads: 'shows the language settings', operands: 'text', flags: '-a, --all-locales, -c, -k, -m, --charmaps' },
  getconf: { reads: 'shows limits of the system', operands: 'program names', flags: '-a' },
  lsmod: { reads: 'shows the modules of the system', operands: 'none', flags: '' },
  lsb_release: {
    reads: 'shows the name of the system',
    operands: 'none',
    flags: '-a, -c, -d, -i, -r, -s, -v',
    // It is a script.
    starts: ['getopt', 'cut', 'tr'],
  },
  whereis: { reads: 'shows where a program is', operands: 'text', flags: '-b, -m, -s' },
  cal: { reads: 'prints a calendar', operands: 'text', flags: '-1, -3, -y, -j, -m' },
  ncal: { reads: 'prints a calendar', operands: 'text', flags: '-1, -3, -y, -j, -b, -M' },
  whoami: { reads: 'shows the user', operands: 'none', flags: '' },
  nproc: { reads: 'shows the number of processors', operands: 'none', flags: '--all, --ignore=N' },
  uptime: { reads: 'shows how long the machine runs', operands: 'none', flags: '-p, --pretty, -s, --since' },
  date: {
    reads: 'shows the time',
    // Any other operand sets the clock.
    operands: 'date format',
    flags: `-d TEXT, --date=TEXT, -I[FORM], --iso-8601[=FORM], -R, --rfc-email, --rfc-3339=FORM, -r FILE, --reference=FILE, -u, --utc,
      --universal, --debug`,
  },
};
