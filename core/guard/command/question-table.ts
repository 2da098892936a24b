// Commands that only ask a program something, known by all their words: its version, its help, what a package manager knows of the
// installed packages, and the states of services. Excludes programs that first fetch or start the version a project names (go, cargo, rustc, pnpm, yarn), or read options for their
// own start from the project (mvn, gradle, ansible).

import { areWords } from './argument-reader.ts';
import { isReader } from './read-command.ts';

interface Question {
  /** Matches the words after the program, joined by blanks. */
  readonly words: RegExp;
  readonly reads: string;
}

const version = (flags: string): Question => ({ words: new RegExp(`^(?:${flags})$`), reads: 'shows its version' });
const help: Question = { words: /^--help$/, reads: 'shows its help' };
const name = String.raw`(?:@[\w.-]+/)?[A-Za-z0-9][\w.-]*`;
const packages = (words: string): Question => ({ words: new RegExp(`^(?:${words})$`), reads: 'shows installed packages' });
const npmFlags = '(?: --depth[= ][0-9]+| --all| -a| --json| --long| -l| --prod| --production| --omit=dev| -g| --global)*';
const npmLooks = packages(
  [
    `(?:ls|list|ll|la)${npmFlags}(?: ${name})*${npmFlags}`,
    '(?:prefix|root)(?: -g| --global)?',
    `(?:explain|why) ${name}`,
    String.raw`pkg get(?: [A-Za-z][\w.-]*)*`,
    'run(?: --json)?',
  ].join('|'),
);
const pipLooks = packages(`list(?: --format=(?:columns|freeze|json)| --not-required| --user)*|show(?: -f| --files)?(?: ${name})+|check`);

const serviceFlag = '(?:--user|--system|--no-pager|--all|-al?|--full|-l|--failed|--plain|-q|--quiet|--no-legend|--(?:type|state)=[a-z,-]+)';
/** Without `status`, `cat` and `show`: logs hold the words of strangers, and settings of services hold keys. */
const services: Question = {
  words: new RegExp(
    String.raw`^(?:${serviceFlag} )*(?:is-(?:active|enabled|failed|system-running)|list-(?:units|unit-files|timers|sockets)|--failed)(?: ${serviceFlag}| [\w@][\w@.:*-]*)*$`,
  ),
  reads: 'shows the states of services',
};
const aptLooks = packages(`list --installed(?: ${name})*`);
const aptCacheLooks = packages(`(?:policy|show|depends|rdepends)(?: ${name})+`);

const questions: ReadonlyMap<string, readonly Question[]> = new Map(
  (
    [
      ['node', [version('--version|-v'), help]],
      ['npm', [version('--version|-v'), help, npmLooks]],
      ['python python3', [version('--version|-V'), help]],
      ['pip pip3', [version('--version|-V'), help, pipLooks]],
      ['git', [version('--version|version(?: --build-options)?'), help]],
      ['make cmake gcc g++ cc c++ clang clang++ ld bash jq rg curl wget rsync sqlite3', [version('--version'), help]],
      ['docker vim psql mysql ffmpeg gh zsh fish', [version('--version')]],
      ['perl php ruby', [version('--version|-v')]],
      ['java javac', [version('--version|-version')]],
      ['ssh tmux', [version('-V')]],
      ['systemctl', [version('--version'), help, services]],
      ['apt', [version('--version|-v'), help, aptLooks]],
      ['apt-cache', [version('--version|-v'), help, aptCacheLooks]],
      ['openssl', [version('version')]],
      ['kubectl', [version('version --client(?: -o (?:json|yaml))?')]],
    ] as const
  ).flatMap(([names, asked]) => names.split(' ').map((one) => [one, asked] as const)),
);

/** Keep package managers from asking a server, or from telling it, whether a newer version of them exists. */
const quietPackages: Readonly<Record<string, string>> = { npm_config_update_notifier: 'false', PIP_DISABLE_PIP_VERSION_CHECK: '1' };

/** Returns what the command shows, or null if it may do more. */
export function readQuestion([program = '', ...args]: readonly string[]): string | null {
  if (args.length === 0) return null;
  const asked = questions.get(program) ?? (isReader(program) ? [version('--version'), help] : []);
  return asked.find(({ words }) => areWords(args, words))?.reads ?? null;
}

export const environmentOfQuestion = (program: string): Readonly<Record<string, string>> =>
  /^(?:npm|pip3?)$/.test(program) ? quietPackages : {};
