// Commands that only ask a program something, known by all their words: its version, its help, and what a package manager knows of the
// installed packages. Excludes programs that first fetch or start the version a project names (go, cargo, rustc, pnpm, yarn), or read options for their
// own start from the project (mvn, gradle, ansible).

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
      ['openssl', [version('version')]],
      ['kubectl', [version('version --client(?: -o (?:json|yaml))?')]],
    ] as const
  ).flatMap(([names, asked]) => names.split(' ').map((one) => [one, asked] as const)),
);

/** Keep package managers from asking a server, or from telling it, whether a newer version of them exists. */
const quietPackages: Readonly<Record<string, string>> = { npm_config_update_notifier: 'false', PIP_DISABLE_PIP_VERSION_CHECK: '1' };

/** Returns what the command shows, or null if it may do more. */
export function readQuestion([program = '', ...args]: readonly string[]): string | null {
  if (args.length === 0 || args.some((word) => /\s/.test(word))) return null;
  const words = args.join(' ');
  const asked = questions.get(program) ?? (isReader(program) ? [version('--version'), help] : []);
  return asked.find((question) => question.words.test(words))?.reads ?? null;
}

export const environmentOfQuestion = (program: string): Readonly<Record<string, string>> =>
  /^(?:npm|pip3?)$/.test(program) ? quietPackages : {};
