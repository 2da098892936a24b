// Programs that search in files: GNU grep 3 and ripgrep 13. Flags that run another program (rg --pre, --search-zip), follow links
// (grep -R, rg --follow) or take names of files out of files are left out.

import type { GivenArguments } from './argument-reader.ts';
import { walksOf } from './place-profiles.ts';
import { createReader, type Profile, type ReaderForm, type Reading } from './profile.ts';

const grepFlags = `-E, --extended-regexp, -F, --fixed-strings, -G, --basic-regexp, -P, --perl-regexp, -e PATTERN, --regexp=PATTERN, -f FILE,
  --file=FILE, -i, --ignore-case, --no-ignore-case, -v, --invert-match, -w, --word-regexp, -x, --line-regexp, -c, --count,
  --color[=WHEN], --colour[=WHEN], -L, --files-without-match, -l, --files-with-matches, -m N, --max-count=N, -o, --only-matching, -q,
  --quiet, --silent, -s, --no-messages, -b, --byte-offset, -H, --with-filename, -h, --no-filename, --label=LABEL, -n, --line-number,
  -T, --initial-tab, -z, --null-data, -Z, --null, -A N, --after-context=N, -B N, --before-context=N, -C N, --context=N, -a, --text,
  --binary-files=TYPE, -I, --exclude=GLOB, --exclude-dir=GLOB, --include=GLOB, -r, --recursive, --line-buffered, -U, --binary, -NUM`;

const grep: ReaderForm = {
  reads: 'searches in files',
  flags: grepFlags,
  operands: (given) => {
    const files = withoutPattern(given, ['-e', '--regexp', '-f', '--file']);
    if (files === null) return null;
    if (!given.has('-r', '--recursive')) return { files, walks: [] };
    return goneThrough(files, true);
  },
};

const ripgrep: ReaderForm = {
  reads: 'searches in files',
  flags: `-A N, --after-context=N, -B N, --before-context=N, -C N, --context=N, -b, --byte-offset, -s, --case-sensitive, --color=WHEN,
    --column, --no-column, -c, --count, --count-matches, --crlf, -E FORM, --encoding=FORM, -e PATTERN, --regexp=PATTERN, -f FILE,
    --file=FILE, --files, -l, --files-with-matches, --files-without-match, -F, --fixed-strings, -g GLOB, --glob=GLOB, --iglob=GLOB,
    --heading, --no-heading, --hidden, -i, --ignore-case, --include-zero, -v, --invert-match, --json, -n, --line-number, -N,
    --no-line-number, -x, --line-regexp, -M N, --max-columns=N, -m N, --max-count=N, --max-depth=N, --maxdepth=N, --max-filesize=N,
    -U, --multiline, --multiline-dotall, --no-config, --no-filename, -I, --no-ignore, --no-messages, -0, --null, --one-file-system,
    -o, --only-matching, --passthru, -P, --pcre2, -p, --pretty, -q, --quiet, -r TEXT, --replace=TEXT, -S, --smart-case, --sort=KEY,
    --sortr=KEY, --stats, -a, --text, -j N, --threads=N, --trim, -t TYPE, --type=TYPE, --type-list, -T TYPE, --type-not=TYPE, -u,
    --unrestricted, --vimgrep, -H, --with-filename, -w, --word-regexp`,
  operands: (given) => {
    if (given.has('--type-list')) return { files: [], walks: [] };
    const files = withoutPattern(given, ['-e', '--regexp', '-f', '--file', '--files']);
    // A glob or a type that matches a hidden name brings it back.
    const showsHidden = given.has('--hidden', '-u', '--unrestricted', '-g', '--glob', '--iglob', '-t', '--type', '-T', '--type-not');
    return files === null ? null : goneThrough(files, showsHidden);
  },
};

/** The operands behind the pattern, or null when there is none and no flag gave one. */
function withoutPattern(given: GivenArguments, patternFlags: readonly string[]): readonly string[] | null {
  if (given.has(...patternFlags)) return given.operands;
  return given.operands.length === 0 ? null : given.operands.slice(1);
}

function goneThrough(operands: readonly string[], entersHidden: boolean): Pick<Reading, 'files' | 'walks'> {
  const files = operands.length === 0 ? ['.'] : operands;
  return { files, walks: walksOf(files, { shows: 'content', entersHidden }) };
}

export const searchProfiles: readonly Profile[] = [
  createReader('grep', grep),
  createReader('egrep', grep),
  createReader('fgrep', grep),
  createReader('rg', ripgrep),
];
