// The table of git commands that only read: the flags that keep each harmless, and what it may show. A flag that is not listed needs
// approval, as does every command that is not.

/** A git command that only reads. */
export interface GitLook {
  /** content: shows the content of tracked files, not only their names. */
  readonly shows: 'content' | 'names';
  readonly flags: string;
  /** Operands are accepted only with one of these flags. Without it, an operand would create something. */
  readonly operandsAfter?: readonly string[];
  /** One of these flags must be given. Without it, the command changes something. */
  readonly only?: readonly string[];
  /** There must be exactly one operand, of this form. */
  readonly operand?: RegExp;
}

/** Flags that show content, or answer questions about it. */
export const contentFlags: readonly string[] =
  '-p -u --patch -U --unified --color-words --word-diff -W --function-context --check -S -G'.split(' ');

/** Flags with which a comparison shows only names and numbers, unless a flag of `contentFlags` is given as well. */
export const nameFlags: readonly string[] =
  '-s --no-patch --raw --stat --numstat --shortstat --summary --name-only --name-status --dirstat --compact-summary --quiet'.split(' ');

const diffFlags = `-p, -u, --patch, -s, --no-patch, -U N, --unified=N, --raw, --minimal, --patience, --histogram, --diff-algorithm=NAME,
  --stat[=WIDTH], --numstat, --shortstat, --summary, --name-only, --name-status, --color[=WHEN], --no-color, --color-words,
  --word-diff[=MODE], --no-renames, --check, --full-index, --abbrev[=N], -M, --find-renames, -R, --relative, -a, --text,
  --ignore-space-at-eol, -b, --ignore-space-change, -w, --ignore-all-space, --ignore-blank-lines, -W, --function-context, --exit-code,
  --quiet, --no-ext-diff, --no-textconv, --compact-summary, --dirstat, -z, --diff-filter=LETTERS, -S TEXT, -G TEXT, --pickaxe-regex,
  --no-prefix`;

/** Flags that decide how commits are shown, not which. */
export const viewFlags: ReadonlySet<string> = new Set(
  `-p -u --patch -U --unified -s --no-patch --raw --minimal --patience --histogram --diff-algorithm --stat --numstat --shortstat --summary
    --name-only --name-status --color --no-color --color-words --word-diff --no-renames --check --full-index --abbrev -M --find-renames -a
    --text --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space --ignore-blank-lines -W --function-context --no-ext-diff
    --no-textconv --compact-summary --no-prefix --oneline --decorate --no-decorate --date --format --pretty --abbrev-commit
    --no-abbrev-commit --no-notes`.split(/\s+/),
);

const historyFlags = `--oneline, --graph, --decorate[=FORM], --no-decorate, --all, --branches, --tags, --remotes, -n N, --max-count=N,
  -NUM, --skip=N, --since=DATE, --after=DATE, --until=DATE, --before=DATE, --author=TEXT, --committer=TEXT, --grep=TEXT, -i,
  --regexp-ignore-case, -E, --extended-regexp, -F, --fixed-strings, --all-match, --invert-grep, --merges, --no-merges, --first-parent,
  --reverse, --follow, --date=FORM, --format=FORMAT, --pretty[=FORMAT], --abbrev-commit, --no-abbrev-commit, --topo-order, --date-order,
  --cherry-pick, --left-right, --boundary, --name-only, --name-status, --full-history, --simplify-merges, --no-notes`;

/** Names and numbers of a comparison, not the content. */
const rawFlags = `-r, -t, -m, -M, -z, --root, --no-commit-id, --raw, --name-only, --name-status, --stat, --numstat, --shortstat, --summary,
  --quiet, --exit-code, --cached, --no-renames, --diff-filter=LETTERS, --abbrev[=N]`;

export const gitLooks: Readonly<Record<string, GitLook>> = {
  status: {
    shows: 'names',
    flags: `-s, --short, -b, --branch, --show-stash, --porcelain[=VERSION], --long, -u[MODE], --untracked-files[=MODE], --ignored[=MODE],
      -z, --column[=FORM], --no-column, --ahead-behind, --no-ahead-behind, --renames, --no-renames, --ignore-submodules[=WHEN]`,
  },
  diff: { shows: 'content', flags: `${diffFlags}, --cached, --staged, --merge-base, --no-index, --ignore-submodules[=WHEN]` },
  log: { shows: 'content', flags: `${historyFlags}, ${diffFlags}` },
  show: { shows: 'content', flags: `${historyFlags}, ${diffFlags}` },
  grep: {
    shows: 'content',
    flags: `-i, --ignore-case, -n, --line-number, -l, --name-only, --files-with-matches, -L, --files-without-match, -c, --count, -w,
      --word-regexp, -v, --invert-match, -E, --extended-regexp, -F, --fixed-strings, -G, --basic-regexp, -P, --perl-regexp, -h, -H, -o,
      --only-matching, -q, --quiet, -e PATTERN, --and, --or, --not, --all-match, -A N, --after-context=N, -B N, --before-context=N, -C N,
      --context=N, -NUM, --heading, --break, --color[=WHEN], --no-color, --column, -W, --function-context, -p, --show-function, -a,
      --text, -I, -m N, --max-count=N, --max-depth=N, --full-name, -z, --null, -r, --recursive`,
  },
  blame: { shows: 'content', flags: '-L RANGE, -w, -s, -e, --show-email, -l, -t, --date=FORM, --root, -p, --porcelain' },
  branch: {
    shows: 'names',
    operandsAfter: ['--list', '--contains', '--merged', '--no-merged'],
    flags: `-a, --all, -r, --remotes, --list, -v, --verbose, --show-current, --contains, --merged, --no-merged, --no-color,
      --color[=WHEN], --column[=FORM], --no-column, --sort=KEY, --format=FORMAT, -i, --ignore-case, --no-abbrev`,
  },
  tag: {
    shows: 'names',
    operandsAfter: ['-l', '--list', '--contains', '--merged', '--no-merged', '--points-at'],
    flags: '-l, --list, -n[NUM], --sort=KEY, --contains, --merged, --no-merged, --points-at, --column[=FORM], -i, --ignore-case',
  },
  'for-each-ref': {
    shows: 'names',
    flags: '--format=FORMAT, --sort=KEY, --count=N, --contains, --no-contains, --merged, --no-merged, --ignore-case',
  },
  // The value of one setting that is not a secret. A second operand would set it.
  config: {
    shows: 'names',
    operand:
      /^(?:user\.(?:name|email)|remote\.[\w-]+\.url|branch\.[\w/-]+\.(?:remote|merge)|init\.defaultbranch|core\.(?:autocrlf|eol|filemode|ignorecase))$/i,
    flags: '--get, --local, --global',
  },
  'rev-parse': {
    shows: 'names',
    flags:
      '--abbrev-ref, --short[=N], --verify, -q, --quiet, --show-toplevel, --show-prefix, --is-inside-work-tree, --git-dir, --absolute-git-dir, --git-common-dir, --show-cdup, --is-bare-repository, --symbolic-full-name',
  },
  'ls-files': {
    shows: 'names',
    flags: `-c, --cached, -d, --deleted, -m, --modified, -o, --others, -i, --ignored, -s, --stage, -u, --unmerged, -t, -v, -z,
      --exclude-standard, --directory, --full-name, --error-unmatch, -x PATTERN, --exclude=PATTERN, --abbrev[=N]`,
  },
  describe: { shows: 'names', flags: '--tags, --all, --long, --always, --abbrev=N, --match=GLOB, --exact-match' },
  remote: { shows: 'names', operandsAfter: [], flags: '-v, --verbose' },
  'remote show': { shows: 'names', operandsAfter: [], flags: '' },
  'remote get-url': { shows: 'names', flags: '--push, --all' },
  'stash list': { shows: 'names', operandsAfter: [], flags: '--oneline, -n N, --max-count=N, -NUM, --date=FORM, --format=FORMAT' },
  'worktree list': { shows: 'names', operandsAfter: [], flags: '-v, --verbose, --porcelain, -z' },
  // An operand may be a command that deletes entries.
  reflog: { shows: 'names', operandsAfter: [], flags: '--oneline, -n N, --max-count=N, -NUM, --date=FORM, --all' },
  'reflog show': { shows: 'names', operandsAfter: [], flags: '--oneline, -n N, --max-count=N, -NUM, --date=FORM' },
  // A second operand would set it.
  'symbolic-ref': { shows: 'names', operand: /^[A-Za-z][\w/.-]*$/, flags: '--short, -q, --quiet' },
  shortlog: { shows: 'names', flags: '-n, --numbered, -s, --summary, -e, --email, -c, --committer, --no-merges, --all, --since=DATE' },
  'rev-list': {
    shows: 'names',
    flags: `--count, --all, --branches, --tags, --remotes, -n N, --max-count=N, -NUM, --skip=N, --since=DATE, --until=DATE,
      --author=TEXT, --merges, --no-merges, --max-parents=N, --first-parent, --reverse, --left-right, --oneline,
      --abbrev-commit`,
  },
  'merge-base': { shows: 'names', flags: '-a, --all, --is-ancestor, --independent, --octopus' },
  'ls-tree': { shows: 'names', flags: '-r, -d, -t, -l, --long, -z, --name-only, --name-status, --full-name, --full-tree, --abbrev[=N]' },
  'diff-tree': { shows: 'names', flags: rawFlags },
  'diff-index': { shows: 'names', flags: rawFlags },
  'diff-files': { shows: 'names', flags: rawFlags },
  'name-rev': { shows: 'names', flags: '--name-only, --tags, --always, --refs=GLOB' },
  cherry: { shows: 'names', flags: '-v, --abbrev[=N]' },
  'check-attr': { shows: 'names', flags: '-a, --all, --cached, -z' },
  'check-ref-format': { shows: 'names', flags: '--branch, --normalize, --allow-onelevel' },
  clean: { shows: 'names', only: ['-n', '--dry-run'], flags: '-n, --dry-run, -d, -x, -X' },
  apply: {
    shows: 'names',
    only: ['--check', '--stat', '--numstat', '--summary'],
    flags: '--check, --stat, --numstat, --summary, -v, -p N',
  },
  'show-ref': { shows: 'names', flags: '--head, --heads, --tags, -d, --dereference, -s, --hash[=N], --abbrev[=N], --verify, -q, --quiet' },
  'cat-file': { shows: 'names', operandsAfter: ['-t', '-s', '-e'], flags: '-t, -s, -e' },
  'check-ignore': { shows: 'names', flags: '-q, --quiet, -v, --verbose, -n, --non-matching, --no-index' },
  'count-objects': { shows: 'names', operandsAfter: [], flags: '-v, --verbose, -H, --human-readable' },
};

/** Git commands that use only the repository, whatever their flags. */
export const localGit: ReadonlySet<string> = new Set([
  ...Object.keys(gitLooks).map((name) => name.split(' ')[0] ?? ''),
  ...'add am apply checkout cherry-pick clean commit config init merge mv rebase reset restore revert rm stash switch'.split(' '),
]);
