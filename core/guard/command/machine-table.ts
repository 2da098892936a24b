// The part of the table of known commands that shows something of the machine: its names, users, memory, disks, clock and limits.

import type { Reader } from './reader-form.ts';

const processFields =
  'pid|ppid|pgid|sid|user|uid|group|comm|cmd|args|command|%cpu|%mem|pcpu|pmem|rss|vsz|stat|state|start|lstart|etime|etimes|time|nice|ni|pri|psr|nlwp|tty|wchan';
const someFields = `(?:${processFields})=?(?:,(?:${processFields})=?)*`;
const processFlags = '-?[AadFfHjLlruvwx]+';
const processView = String.raw`(?: --forest| --no-headers| --sort[= ][+-]?(?:${processFields})(?:,[+-]?(?:${processFields}))*)*`;
/**
 * In a line that ps does not understand in its newer form, it takes an `e` for the old flag that shows the environment of programs. So an
 * `e` stands only in whole words that every ps understands.
 */
const processWords = new RegExp(
  `^(?:(?:${processFlags}(?: ${processFlags})*)?${processView}|-(?:e|ef|fe|eF|efH|ejH|el|ely|eLf|efww)${processView}|(?:-[Ae]?o|-[Ae] -o|axo|ax -o) ${someFields}(?: -p \\d+(?:,\\d+)*)?${processView}|-f?p \\d+(?:,\\d+)*(?: -o ${someFields})?${processView})$`,
);

export const machineReaders: Readonly<Record<string, Reader>> = {
  ps: { reads: 'shows the programs at work', words: processWords },
  pgrep: {
    reads: 'shows the programs at work',
    operands: 'text',
    flags:
      '-a, --list-full, -c, --count, -f, --full, -i, --ignore-case, -l, --list-name, -n, --newest, -o, --oldest, -v, -x, --exact, -P LIST',
  },
  pidof: { reads: 'shows the programs at work', operands: 'text', flags: '-s, -x' },
  pstree: { reads: 'shows the programs at work', operands: 'text', flags: '-a, -A, -c, -l, -n, -p, -T, -t, -u, -U' },
  // Without an end it would run on.
  top: {
    reads: 'shows the programs at work',
    words: /^(?:-b -n ?[1-3]|-bn ?[1-3]|-n ?[1-3] -b|-l ?[1-3])(?: -c| -H| -i| -o [+-]?[%A-Za-z]+| -w \d+)*$/,
  },
  vmstat: { reads: 'shows the load of the machine', words: /^(?:-[asw](?: |$))*(?:\d \d)?$/ },
  who: {
    reads: 'shows who is signed in',
    operands: 'none',
    flags: '-a, --all, -b, --boot, -H, --heading, -m, -q, --count, -r, --runlevel, -u, --users',
  },
  w: { reads: 'shows who is signed in', operands: 'none', flags: '-h, --no-header, -s, --short, -f, --from' },
  users: { reads: 'shows who is signed in', operands: 'none', flags: '' },
  logname: { reads: 'shows the user', operands: 'none', flags: '' },
  tty: { reads: 'shows the terminal', operands: 'none', flags: '-s, --silent, --quiet' },
  // The names of other machines would be asked for in the network with -r, and -K ends connections.
  ss: {
    reads: 'shows the connections of this machine',
    operands: 'none',
    flags: `-a, --all, -e, --extended, -H, --no-header, -i, --info, -l, --listening, -m, --memory, -n, --numeric, -o, --options, -p,
      --processes, -s, --summary, -t, --tcp, -u, --udp, -w, --raw, -x, --unix, -4, --ipv4, -6, --ipv6`,
  },
  // Without -n, they ask for the names of other machines in the network.
  netstat: { reads: 'shows the connections of this machine', operands: 'none', flags: '-a, -i, -l, -n, -p, -r, -s, -t, -u', only: ['-n'] },
  lsof: {
    reads: 'shows the connections of this machine',
    words:
      /^(?=(?:.* )?-nP?i?\b|(?:.* )?-Pni?\b)(?=.*i)(?:(?:-n|-P|-nP|-Pn|-nPi|-Pni|-t|-i|-sTCP:LISTEN|(?:-i)?(?:TCP|UDP|tcp|udp)|(?:-i)?(?:TCP|UDP|tcp|udp)?:\d{1,5})(?: |$))+$/,
  },
  ip: {
    reads: 'shows the network of this machine',
    words:
      /^(?:-(?:4|6|s|d|o|j|json|p|br|brief|c|color) )*(?:a|addr|address|l|link|r|ro|route|n|neigh|neighbour|rule)(?: (?:show|list|ls)(?: (?:dev )?[\w.-]+)?)?$/,
  },
  ifconfig: { reads: 'shows the network of this machine', words: /^(?:-a|[a-z]\w*)?$/ },
  timedatectl: { reads: 'shows the time', words: /^(?:status|show)?$/ },
  hostnamectl: { reads: 'shows the name of the system', words: /^(?:status)?$/ },
  mount: { reads: 'shows disks', words: /^(?:-l)?$/ },
  findmnt: {
    reads: 'shows disks',
    operands: 'none',
    flags: '-a, --ascii, -D, --df, -J, --json, -l, --list, -n, --noheadings, -o LIST, -r, --raw, -t TYPE',
  },
  lspci: { reads: 'shows the parts of the machine', operands: 'none', flags: '-k, -m, -n, -t, -v' },
  lsusb: { reads: 'shows the parts of the machine', operands: 'none', flags: '-t, -v' },
  sw_vers: { reads: 'shows the name of the system', words: /^(?:--?product(?:Name|Version)|--?buildVersion)?$/ },
  vm_stat: { reads: 'shows the memory in use', words: /^$/ },
  'xcode-select': { reads: 'shows where a program is', words: /^(?:-p|--print-path)$/ },
  diskutil: { reads: 'shows disks', words: /^list(?: (?:internal|external|physical))*$/ },
  pmset: { reads: 'shows the power settings', words: /^-g(?: (?:batt|ps|custom|cap))?$/ },
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
