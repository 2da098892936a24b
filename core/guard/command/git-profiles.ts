// The commands of git that only look, with the flags that leave it so. Whether git itself is harmless in a repository is judged apart;
// here nothing that names a program, a file to write, or another repository is understood.

import { flagTable, readArguments, type FlagTable, type GivenArguments } from './argument-reader.ts';

export interface GitForm {
  readonly family: readonly string[];
  /** Paths, revisions or both: git tells them apart by what exists, so all count as paths. */
  readonly operands: readonly string[];
  /** It shows what tracked files hold, not only their names. */
  readonly showsContent: boolean;
}

interface Subcommand {
  readonly table: FlagTable;
  readonly showsContent: boolean;
  readonly accepts?: (given: GivenArguments) => boolean;
}

const diffFlags = `-p, -u, --patch, -s, --no-patch, -U N, --unified=N, --raw, --minimal, --patience, --histogram, --diff-algorithm=NAME,
  --stat[=WIDTH], --numstat, --shortstat, --summary, --name-only, --name-status, --color[=WHEN], --no-color, --color-words, --word-diff[=MODE],
  --no-renames, --check, --full-index, --abbrev[=N], -M, --find-renames, -R, --relative, -a, --text, --ignore-space-at-eol, -b,
  --ignore-space-change, -w, --ignore-all-space, --ignore-blank-lines, -W, --function-context, --exit-code, --quiet, --no-ext-diff,
  --no-textconv, --compact-summary, --dirstat, -z, --diff-filter=LETTERS, -S TEXT, -G TEXT, --pickaxe-regex, --no-prefix`;

const historyFlags = `--oneline, --graph, --decorate[=FORM], --no-decorate, --all, --branches, --tags, --remotes, -n N, --max-count=N, -NUM,
  --skip=N, --since=DATE, --after=DATE, --until=DATE, --before=DATE, --author=TEXT, --committer=TEXT, --grep=TEXT, -i,
  --regexp-ignore-case, -E, --extended-regexp, -F, --fixed-strings, --all-match, --invert-grep, --merges, --no-merges,
  --first-parent, --reverse, --follow, --date=FORM, --format=FORMAT, --pretty[=FORMAT], --abbrev-commit, --no-abbrev-commit, --topo-order,
  --date-order, --cherry-pick, --left-right, --boundary, --name-only, --name-status, --full-history, --simplify-merges, --no-notes`;

const subcommands: ReadonlyMap<string, Subcommand> = new Map<string, Subcommand>([
  [
    'status',
    {
      table:
        flagTable(`-s, --short, -b, --branch, --show-stash, --porcelain[=VERSION], --long, -u[MODE], --untracked-files[=MODE], --ignored[=MODE],
        -z, --column[=FORM], --no-column, --ahead-behind, --no-ahead-behind, --renames, --no-renames, --ignore-submodules[=WHEN]`),
      showsContent: false,
    },
  ],
  ['diff', { table: flagTable(`${diffFlags}, --cached, --staged, --merge-base, --ignore-submodules[=WHEN]`), showsContent: true }],
  ['log', { table: flagTable(`${historyFlags}, ${diffFlags}`), showsContent: true, accepts: namesNoProgram }],
  ['show', { table: flagTable(`${historyFlags}, ${diffFlags}`), showsContent: true, accepts: namesNoProgram }],
  ['blame', { table: flagTable('-L RANGE, -w, -s, -e, --show-email, -l, -t, --date=FORM, --root, -p, --porcelain'), showsContent: true }],
  [
    'branch',
    {
      table: flagTable(`-a, --all, -r, --remotes, --list, -v, --verbose, --show-current, --contains, --merged, --no-merged, --no-color,
        --color[=WHEN], --column[=FORM], --no-column, --sort=KEY, -i, --ignore-case, --no-abbrev`),
      showsContent: false,
      // A name without these would make a branch.
      accepts: (given) => given.operands.length === 0 || given.has('--list', '--contains', '--merged', '--no-merged'),
    },
  ],
  [
    'tag',
    {
      table: flagTable('-l, --list, -n[NUM], --sort=KEY, --contains, --merged, --no-merged, --column[=FORM], -i, --ignore-case'),
      showsContent: false,
      accepts: (given) => given.operands.length === 0 || given.has('-l', '--list'),
    },
  ],
  [
    'rev-parse',
    {
      table: flagTable(
        '--abbrev-ref, --short[=N], --verify, -q, --quiet, --show-toplevel, --show-prefix, --is-inside-work-tree, --git-dir',
      ),
      showsContent: false,
    },
  ],
  [
    'ls-files',
    {
      table: flagTable(`-c, --cached, -d, --deleted, -m, --modified, -o, --others, -i, --ignored, -s, --stage, -u, --unmerged, -t, -v, -z,
        --exclude-standard, --directory, --full-name, --error-unmatch, -x PATTERN, --exclude=PATTERN, --abbrev[=N]`),
      showsContent: false,
    },
  ],
  ['describe', { table: flagTable('--tags, --all, --long, --always, --abbrev=N, --match=GLOB, --exact-match'), showsContent: false }],
]);

/** Formats that show signatures start the program that checks them. */
function namesNoProgram(given: GivenArguments): boolean {
  return given.flags.every(({ flag, value }) => (flag !== '--format' && flag !== '--pretty') || !/%G|%\(/.test(value ?? ''));
}

/** What a git command line (without `git`) looks at, or null when it may do more than look. */
export function readGit(args: readonly string[]): GitForm | null {
  const rest = args[0] === '--no-pager' ? args.slice(1) : args;
  const [name = '', ...given] = rest;
  const subcommand = subcommands.get(name);
  const read = subcommand === undefined ? null : readArguments(given, subcommand.table);
  if (subcommand === undefined || read === null || subcommand.accepts?.(read) === false) return null;
  return { family: ['git', name], operands: read.operands.flatMap(pathsIn), showsContent: subcommand.showsContent };
}

/** `HEAD:notes/a.md` names a path after the colon; `:(top)x` and `:/x` one from the top of the repository. */
function pathsIn(operand: string): readonly string[] {
  const colon = operand.indexOf(':');
  if (colon < 0) return [operand];
  const path = operand.slice(colon + 1).replace(/^(?:\([^)]*\)|[/!^]+)/, '');
  return path === '' ? [operand] : [operand, path];
}

/**
 * What keeps git from writing to its index (`git status` heeds the first, `git diff` the setting), from starting a pager in a terminal,
 * and from asking a monitor for changes, running hooks or taking a mere folder for a repository, whatever lies there by then.
 */
export const quietGit: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_CONFIG_COUNT: '4',
  GIT_CONFIG_KEY_0: 'diff.autoRefreshIndex',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
  GIT_CONFIG_KEY_2: 'core.hooksPath',
  GIT_CONFIG_VALUE_2: '/dev/null',
  GIT_CONFIG_KEY_3: 'safe.bareRepository',
  GIT_CONFIG_VALUE_3: 'explicit',
};
