// The table of known commands: for each program, the flags that keep it harmless and the meaning of its operands. Flags follow the manuals
// of GNU coreutils 9, diffutils 3, grep 3, ripgrep 13, git and their equivalents on other systems. Flags that write, run another program
// (rg --pre), follow links into other folders (grep -R, ls -L) or read file names from files are omitted; a command with a flag that is not
// listed here needs approval.

import { machineReaders } from './machine-table.ts';
import type { Reader } from './reader-form.ts';

/** A command that runs code defined by the project. */
export interface ProjectTool {
  /** Files that determine what runs. */
  readonly bindings: readonly string[];
  /** Files that could make it run something else. If one exists, the command needs approval. */
  readonly refusedBy?: readonly string[];
  /** A table, or, if the program takes no bundles (such as Go, with one dash or two), a pattern that matches each whole flag. */
  readonly flags: string | RegExp;
}

const checksums = { reads: 'computes checksums of files', flags: '-b, --binary, -t, --text, --tag, -z, --zero' };

const grep: Reader = {
  reads: 'searches in files',
  operands: 'pattern, then files',
  flags: `-E, --extended-regexp, -F, --fixed-strings, -G, --basic-regexp, -P, --perl-regexp, -e PATTERN, --regexp=PATTERN, -f FILE,
    --file=FILE, -i, --ignore-case, --no-ignore-case, -v, --invert-match, -w, --word-regexp, -x, --line-regexp, -c, --count,
    --color[=WHEN], --colour[=WHEN], -L, --files-without-match, -l, --files-with-matches, -m N, --max-count=N, -o, --only-matching, -q,
    --quiet, --silent, -s, --no-messages, -b, --byte-offset, -H, --with-filename, -h, --no-filename, --label=LABEL, -n, --line-number, -T,
    --initial-tab, -z, --null-data, -Z, --null, -A N, --after-context=N, -B N, --before-context=N, -C N, --context=N, -a, --text,
    --binary-files=TYPE, -I, --exclude=GLOB, --exclude-dir=GLOB, --include=GLOB, -r, --recursive, --line-buffered, -U, --binary, -NUM`,
};

const decompressors = 'gzip bzip2 xz lzma lzip lzop zstd compress'.split(' ');

const gunzip: Reader = {
  reads: 'unpacks files to its output',
  operands: 'compressed files',
  flags: '-c, --stdout, -d, --decompress, -k, --keep, -l, --list, -t, --test, -v, --verbose, -q, --quiet, -n, --no-name, -N, --name',
  only: ['-c', '--stdout', '-l', '--list', '-t', '--test'],
  starts: ['gzip'],
};

const listing: Reader = {
  reads: 'lists files',
  operands: 'folders listed',
  flags: `-a, --all, -A, --almost-all, --author, -b, --escape, --block-size=SIZE, -B, --ignore-backups, -c, -C, --color[=WHEN], -d,
    --directory, -f, -F, --classify[=WHEN], --file-type, --format=WORD, --full-time, -g, --group-directories-first, -G, --no-group, -h,
    --human-readable, --si, --hide=PATTERN, --hyperlink[=WHEN], --indicator-style=WORD, -i, --inode, -I PATTERN, --ignore=PATTERN, -k,
    --kibibytes, -l, -m, -n, --numeric-uid-gid, -N, --literal, -o, -p, -q, --hide-control-chars, --show-control-chars, -Q, --quote-name,
    --quoting-style=WORD, -r, --reverse, -R, --recursive, -s, --size, -S, --sort=WORD, --time=WORD, --time-style=STYLE, -t, -T N,
    --tabsize=N, -u, -U, -v, -w N, --width=N, -x, -X, -1, --zero`,
};

const testReader: Reader = { reads: 'compares texts and looks whether files exist', operands: 'test expression' };

const packages = {
  reads: 'lists installed packages',
  operands: 'text' as const,
  flags: '-l, --list, -s, --status, -L, --listfiles, -S, --search',
  only: ['-l', '--list', '-s', '--status', '-L', '--listfiles', '-S', '--search', '-W', '--show'],
};

const awkReader: Reader = { reads: 'prints fields of lines', operands: 'awk program' };

export const readers: Readonly<Record<string, Reader>> = {
  cat: {
    reads: 'prints files',
    flags: `-A, --show-all, -b, --number-nonblank, -e, -E, --show-ends, -n, --number, -s, --squeeze-blank, -t, -T, --show-tabs, -u, -v,
      --show-nonprinting`,
  },
  tac: { reads: 'prints files, last line first', flags: '-b, --before, -r, --regex, -s TEXT, --separator=TEXT' },
  head: {
    reads: 'prints the beginning of files',
    flags: '-n N, --lines=N, -c N, --bytes=N, -q, --quiet, --silent, -v, --verbose, -z, --zero-terminated, -NUM',
  },
  tail: {
    reads: 'prints the end of files',
    // `+9f` is an old form of "from line 9, and follow the file".
    operands: 'files, no line number',
    flags: '-n N, --lines=N, -c N, --bytes=N, -q, --quiet, --silent, -v, --verbose, -z, --zero-terminated, -NUM',
  },
  wc: {
    reads: 'counts lines, words and bytes',
    flags: '-c, --bytes, -m, --chars, -l, --lines, -L, --max-line-length, -w, --words, --total=WHEN',
  },
  nl: {
    reads: 'numbers lines',
    flags: `-b STYLE, --body-numbering=STYLE, -d CC, --section-delimiter=CC, -f STYLE, --footer-numbering=STYLE, -h STYLE,
      --header-numbering=STYLE, -i N, --line-increment=N, -l N, --join-blank-lines=N, -n FORM, --number-format=FORM, -p, --no-renumber,
      -s TEXT, --number-separator=TEXT, -v N, --starting-line-number=N, -w N, --number-width=N`,
  },
  shuf: {
    reads: 'puts lines in a random order',
    flags: '-e, --echo, -i RANGE, --input-range=RANGE, -n N, --head-count=N, -r, --repeat, -z, --zero-terminated',
  },
  sort: {
    reads: 'sorts lines',
    flags: `-b, --ignore-leading-blanks, -d, --dictionary-order, -f, --ignore-case, -g, --general-numeric-sort, -i, --ignore-nonprinting,
      -M, --month-sort, -h, --human-numeric-sort, -n, --numeric-sort, -R, --random-sort, -r, --reverse, --sort=WORD, -V, --version-sort,
      -c, --check[=WORD], -C, -k KEY, --key=KEY, -m, --merge, -s, --stable, -t SEP, --field-separator=SEP, -u, --unique, -z,
      --zero-terminated, --parallel=N, --debug`,
  },
  uniq: {
    reads: 'leaves out repeated lines',
    // A second operand is the output file.
    operands: 'at most one file',
    flags: `-c, --count, -d, --repeated, -D, --all-repeated[=METHOD], -f N, --skip-fields=N, --group[=METHOD], -i, --ignore-case, -s N,
      --skip-chars=N, -u, --unique, -z, --zero-terminated, -w N, --check-chars=N`,
  },
  cut: {
    reads: 'prints columns of files',
    flags: `-b LIST, --bytes=LIST, -c LIST, --characters=LIST, -d DELIM, --delimiter=DELIM, -f LIST, --fields=LIST, -n, --complement, -s,
      --only-delimited, --output-delimiter=TEXT, -z, --zero-terminated`,
  },
  tr: {
    reads: 'replaces characters of its input',
    operands: 'text',
    flags: '-c, -C, --complement, -d, --delete, -s, --squeeze-repeats, -t',
  },
  fold: { reads: 'breaks long lines', flags: '-b, --bytes, -s, --spaces, -w N, --width=N' },
  expand: { reads: 'replaces tabs by blanks', flags: '-i, --initial, -t LIST, --tabs=LIST' },
  unexpand: { reads: 'replaces blanks by tabs', flags: '-a, --all, --first-only, -t LIST, --tabs=LIST' },
  pr: { reads: 'prints files in pages', flags: '-a, -d, -h TEXT, -l N, -m, --merge, -n, -t, --omit-header, -w N' },
  column: { reads: 'prints lines in columns', flags: '-t, --table, -s TEXT, --separator=TEXT' },
  cmp: {
    reads: 'compares two files',
    flags: '-b, --print-bytes, -i SKIP, --ignore-initial=SKIP, -l, --verbose, -n N, --bytes=N, -s, --quiet, --silent',
  },
  comm: { reads: 'compares sorted files', flags: '-1, -2, -3, --check-order, --nocheck-order, --total, -z, --zero-terminated' },
  diff: {
    reads: 'compares files',
    // Two folders are compared file by file, and links in them are followed.
    operands: 'files, no folders',
    flags: `--normal, -q, --brief, -s, --report-identical-files, -c, -C N, --context[=NUM], -u, -U N, --unified[=NUM], -e, --ed, -n,
      --rcs, -y, --side-by-side, -W N, --width=N, --left-column, --suppress-common-lines, -p, --show-c-function, --label=LABEL, -t,
      --expand-tabs, -T, --initial-tab, -i, --ignore-case, -E, --ignore-tab-expansion, -Z, --ignore-trailing-space, -b,
      --ignore-space-change, -w, --ignore-all-space, -B, --ignore-blank-lines, -I RE, --ignore-matching-lines=RE, -a, --text,
      --strip-trailing-cr, -d, --minimal, --speed-large-files, --color[=WHEN], --no-dereference`,
  },
  od: {
    reads: 'prints the bytes of files',
    flags: `-A RADIX, --address-radix=RADIX, -t TYPE, --format=TYPE, -v, --output-duplicates, -j N, --skip-bytes=N, -N N, --read-bytes=N,
      -c, -x, -b, -d, -o`,
  },
  hexdump: { reads: 'prints the bytes of files', flags: '-C, --canonical, -n N, --length=N, -s N, --skip=N, -v, -x, -c, -b, -d, -o' },
  rev: { reads: 'reverses lines', flags: '' },
  paste: { reads: 'joins lines of files', flags: '-d LIST, --delimiters=LIST, -s, --serial, -z, --zero-terminated' },
  join: {
    reads: 'joins lines of files',
    flags: '-a N, -e TEXT, -i, --ignore-case, -j N, -o FORMAT, -t CHAR, -v N, -1 N, -2 N, --check-order, --nocheck-order, --header, -z',
  },
  strings: {
    reads: 'prints texts in files',
    // `@x` reads arguments from the file x, also in place of a value.
    operands: 'files, no lists',
    flags: '-a, --all, -f, --print-file-name, -n N, --bytes=N, -t RADIX, --radix=RADIX, -e FORM, --encoding=FORM, -w',
  },
  nm: {
    reads: 'lists the symbols of programs',
    operands: 'files, no lists',
    flags: `-A, -a, -C, --demangle, -D, --dynamic, -g, --extern-only, -n, --numeric-sort, -P, -p, -r, -S, --print-size, -u,
      --undefined-only, --defined-only`,
  },
  readelf: {
    reads: 'shows the parts of programs',
    operands: 'files, no lists',
    flags: `-a, -h, --file-header, -l, --program-headers, --segments, -S, --section-headers, --sections, -e, --headers, -s, --syms,
      --symbols, --dyn-syms, -n, --notes, -r, --relocs, -d, --dynamic, -V, --version-info, -A, -I, -W, --wide`,
  },
  objdump: {
    reads: 'shows the parts of programs',
    operands: 'files, no lists',
    flags: '-a, -C, --demangle, -d, --disassemble, -f, --file-headers, -h, --section-headers, --headers, -p, -r, -R, -t, --syms, -T, -x',
  },
  size: { reads: 'shows the sizes of programs', operands: 'files, no lists', flags: '-A, -B, -d, -o, -x, -t' },
  xxd: {
    reads: 'prints the bytes of files',
    // A second operand is the output file, and -r writes.
    operands: 'at most one file',
    flags: '-a, -b, -c N, -e, -g N, -i, -l N, -p, -ps, -o N, -s N, -u, -d',
    // `-pl 5 x` reads the file `5` and writes `x`.
    shortFlags: 'one a word',
  },
  fmt: {
    reads: 'fills lines',
    flags: '-c, --crown-margin, -s, --split-only, -t, --tagged-paragraph, -u, --uniform-spacing, -w N, --width=N',
  },
  iconv: {
    reads: 'prints files in another encoding',
    flags: '-f ENCODING, --from-code=ENCODING, -t ENCODING, --to-code=ENCODING, -c, -s, --silent',
  },
  zcat: { reads: 'unpacks files to its output', operands: 'compressed files', flags: '', starts: ['gzip'] },
  gzip: gunzip,
  gunzip,
  bzcat: { reads: 'unpacks files to its output', flags: '' },
  xz: {
    reads: 'lists the files of an archive',
    flags: '-l, --list, -t, --test, -q, --quiet, -v, --verbose',
    only: ['-l', '--list', '-t', '--test'],
  },
  xzcat: { reads: 'unpacks files to its output', flags: '' },
  zstdcat: { reads: 'unpacks files to its output', flags: '' },
  tar: {
    reads: 'lists the files of an archive',
    // A member is a name in the archive. An archive whose name has a colon is on another machine.
    operands: 'archive members',
    flags: '-t, --list, -f FILE, --file=FILE, -v, --verbose, -z, --gzip, -j, --bzip2, -J, --xz, --zstd, --wildcards, --full-time',
    only: ['-t', '--list'],
    starts: decompressors,
  },
  unzip: {
    reads: 'reads an archive',
    operands: 'archive members',
    flags: '-l, -v, -p, -t, -q, -Z, -1',
    only: ['-l', '-v', '-p', '-t', '-Z'],
  },
  zipinfo: { reads: 'lists the files of an archive', operands: 'archive members', flags: '-1, -2, -s, -m, -l, -v, -h, -t, -z' },
  base32: { reads: 'encodes or decodes files', operands: 'at most one file', flags: '-d, --decode, -i, --ignore-garbage, -w N, --wrap=N' },
  base64: { reads: 'encodes or decodes files', operands: 'at most one file', flags: '-d, --decode, -i, --ignore-garbage, -w N, --wrap=N' },
  seq: { reads: 'prints numbers', operands: 'text', flags: '-s TEXT, --separator=TEXT, -w, --equal-width, -f FORMAT, --format=FORMAT' },
  md5sum: checksums,
  sha1sum: checksums,
  sha224sum: checksums,
  sha256sum: checksums,
  sha384sum: checksums,
  sha512sum: checksums,
  b2sum: { ...checksums, flags: `${checksums.flags}, -l N, --length=N` },
  cksum: { ...checksums, flags: '' },
  sum: { ...checksums, flags: '-r, -s, --sysv' },
  basename: { reads: 'prints the last part of names', operands: 'text', flags: '-a, --multiple, -s SUFFIX, --suffix=SUFFIX, -z, --zero' },
  dirname: { reads: 'prints the folders of names', operands: 'text', flags: '-z, --zero' },
  pwd: { reads: 'prints the folder it runs in', operands: 'none', flags: '-L, -P' },
  test: testReader,
  '[': testReader,
  expr: { reads: 'computes', operands: 'text', flags: '' },
  bc: { reads: 'computes', flags: '-l, --mathlib, -q, --quiet, -s, --standard, -w, --warn' },
  factor: { reads: 'computes', operands: 'text', flags: '' },
  numfmt: {
    reads: 'prints numbers',
    operands: 'text',
    flags: '--from=UNIT, --to=UNIT, --from-unit=N, --to-unit=N, --padding=N, --format=FORMAT, --suffix=TEXT, --grouping, --header[=N]',
  },
  true: { reads: 'does nothing', operands: 'text', flags: '' },
  false: { reads: 'does nothing', operands: 'text', flags: '' },
  ls: listing,
  dir: listing,
  tree: {
    reads: 'lists files',
    operands: 'folders walked',
    flags: `-a, -d, -f, -i, -L N, -P PATTERN, -I PATTERN, --noreport, --dirsfirst, -p, -s, -h, -u, -g, -D, -F, -q, -N, -Q, -n, -C, -r,
      -t, -v`,
    // `-Po x y` takes the pattern `x` and writes `y`.
    shortFlags: 'values apart',
  },
  du: {
    reads: 'adds up the sizes of files',
    operands: 'folders walked',
    flags: `-0, --null, -a, --all, --apparent-size, -B SIZE, --block-size=SIZE, -b, --bytes, -c, --total, -d N, --max-depth=N, -h,
      --human-readable, --inodes, -k, -l, --count-links, -m, -P, --no-dereference, -S, --separate-dirs, --si, -s, --summarize, -t N,
      --threshold=N, --time[=WORD], --time-style=STYLE, --exclude=PATTERN, -x, --one-file-system`,
  },
  df: {
    reads: 'shows free space on disks',
    flags: `-a, --all, -B SIZE, --block-size=SIZE, -h, --human-readable, -H, --si, -i, --inodes, -k, -l, --local, --no-sync,
      --output[=LIST], -P, --portability, --total, -t TYPE, --type=TYPE, -T, --print-type, -x TYPE, --exclude-type=TYPE`,
  },
  stat: {
    reads: 'shows size, times and owner of files',
    flags: '-f, --file-system, -c FORMAT, --format=FORMAT, --printf=FORMAT, -t, --terse',
  },
  file: {
    reads: 'tells what kind of files these are',
    flags: '-b, --brief, -i, --mime, --mime-type, --mime-encoding, -h, --no-dereference, -k, --keep-going, -r, --raw, -0, --print0, -N',
  },
  realpath: {
    reads: 'shows where paths lead',
    flags: `-e, --canonicalize-existing, -m, --canonicalize-missing, -L, --logical, -P, --physical, -q, --quiet, --relative-to=FILE,
      --relative-base=FILE, -s, --strip, --no-symlinks, -z, --zero`,
  },
  readlink: {
    reads: 'shows where links lead',
    flags: `-f, --canonicalize, -e, --canonicalize-existing, -m, --canonicalize-missing, -n, --no-newline, -q, --quiet, -s, --silent, -v,
      --verbose, -z, --zero`,
  },
  ...machineReaders,
  grep,
  // A script where grep is a program.
  egrep: { ...grep, starts: ['grep'] },
  fgrep: { ...grep, starts: ['grep'] },
  rg: {
    reads: 'searches in files',
    operands: 'pattern, then files without hidden ones',
    flags: `-A N, --after-context=N, -B N, --before-context=N, -C N, --context=N, -b, --byte-offset, -s, --case-sensitive, --color=WHEN,
      --column, --no-column, -c, --count, --count-matches, --crlf, -E FORM, --encoding=FORM, -e PATTERN, --regexp=PATTERN, -f FILE,
      --file=FILE, --files, -l, --files-with-matches, --files-without-match, -F, --fixed-strings, -g GLOB, --glob=GLOB, --iglob=GLOB,
      --heading, --no-heading, --hidden, -i, --ignore-case, --include-zero, -v, --invert-match, --json, -n, --line-number, -N,
      --no-line-number, -x, --line-regexp, -M N, --max-columns=N, -m N, --max-count=N, --max-depth=N, --maxdepth=N, --max-filesize=N, -U,
      --multiline, --multiline-dotall, --no-config, --no-filename, -I, --no-ignore, --no-messages, -0, --null, --one-file-system, -o,
      --only-matching, --passthru, -P, --pcre2, -p, --pretty, -q, --quiet, -r TEXT, --replace=TEXT, -S, --smart-case, --sort=KEY,
      --sortr=KEY, --stats, -a, --text, -j N, --threads=N, --trim, -t TYPE, --type=TYPE, --type-list, -T TYPE, --type-not=TYPE, -u,
      --unrestricted, --vimgrep, -H, --with-filename, -w, --word-regexp`,
  },
  find: { reads: 'finds files', operands: 'find expression' },
  sed: { reads: 'prints lines of files', operands: 'sed script' },
  awk: awkReader,
  gawk: awkReader,
  mawk: awkReader,
  jq: {
    reads: 'reads JSON',
    operands: 'jq filter, then files',
    flags: `-c, --compact-output, -r, --raw-output, -R, --raw-input, -s, --slurp, -n, --null-input, -e, --exit-status, -S, --sort-keys,
      -a, --ascii-output, -j, --join-output, -M, --monochrome-output, -C, --color-output, --tab, --indent N,
      --stream, --seq`,
  },
  sqlite3: {
    reads: 'reads a database',
    operands: 'database, then queries',
    flags: `-readonly, -safe, -init TEXT, -batch, -bail, -header, -noheader, -nullvalue TEXT, -separator TEXT, -ascii, -box, -column, -csv, -html, -json, -line, -list,
      -markdown, -quote, -table, -tabs`,
    shortFlags: 'one a word',
  },
  xargs: { reads: 'passes on words of its input', operands: 'command for any words' },
  timeout: { reads: 'runs a command for a limited time', operands: 'time limit, then command' },
  nice: { reads: 'runs a command at a lower priority', operands: 'priority, then command' },
  env: { reads: 'runs a command in another language or time zone', operands: 'variables, then command' },
  printenv: { reads: 'prints variables', operands: 'variable names', flags: '' },
  dpkg: { ...packages, starts: ['dpkg-query'] },
  'dpkg-query': { ...packages, flags: `${packages.flags}, -W, --show, -f FORMAT, --showformat=FORMAT` },
  echo: { reads: 'prints text', operands: 'text' },
  printf: { reads: 'prints text', operands: 'print format' },
};

export const projectTools: Readonly<Record<string, ProjectTool>> = {
  'cargo test': {
    bindings: ['Cargo.toml', 'Cargo.lock', 'build.rs', '.cargo/config.toml', '.cargo/config', 'rust-toolchain', 'rust-toolchain.toml'],
    refusedBy: ['.cargo/config.toml', '.cargo/config', 'rust-toolchain', 'rust-toolchain.toml'],
    flags: `--release, --lib, --bins, --tests, --examples, --doc, --all-targets, --workspace, --all, -p NAME, --package=NAME, --no-run,
      --no-fail-fast, -q, --quiet, -v, --verbose, --all-features, --no-default-features, --features=LIST, -F LIST, --locked, --offline,
      --frozen, --test=NAME, --bin=NAME, -j N, --jobs=N, --color=WHEN`,
  },
  'go test': {
    bindings: ['go.mod', 'go.sum', 'go.work', 'go.work.sum', 'vendor/modules.txt'],
    flags: /^--?(?:v|short|race|cover|failfast|(?:run|count|timeout|bench|parallel|skip)=[^=]*)$/,
  },
  pytest: {
    bindings: ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini', 'conftest.py', '.pytest.ini'],
    flags: `-q, --quiet, -v, --verbose, -x, --exitfirst, -k EXPRESSION, -m MARKS, -s, --lf, --last-failed, --ff, --failed-first,
      --maxfail=N, --tb=STYLE, --co, --collect-only, --durations=N, --no-header, --no-summary, --color=WHEN, -l, --showlocals`,
  },
  make: {
    bindings: ['GNUmakefile', 'makefile', 'Makefile'],
    flags: '-k, --keep-going, -s, --silent, -j N, --jobs=N, -B, --always-make',
  },
};
