// Programs that print text files, or parts of them. Flags as in the manuals of GNU coreutils 9, diffutils 3 and their like on
// other systems; flags that write, run, follow links, or take names of files out of files are left out.

import { createReader, filesOf, nothingOf, textOf, type Profile, type ReaderForm } from './profile.ts';

const sums: ReaderForm = {
  reads: 'computes checksums of files',
  flags: '-b, --binary, -t, --text, --tag, -z, --zero',
  operands: filesOf,
};

const plainFiles = (reads: string, flags: string): ReaderForm => ({ reads, flags, operands: filesOf });

const forms: Readonly<Record<string, ReaderForm>> = {
  cat: plainFiles(
    'prints files',
    `-A, --show-all, -b, --number-nonblank, -e, -E, --show-ends, -n, --number, -s, --squeeze-blank, -t, -T, --show-tabs, -u, -v,
     --show-nonprinting`,
  ),
  head: plainFiles(
    'prints the beginning of files',
    '-n N, --lines=N, -c N, --bytes=N, -q, --quiet, --silent, -v, --verbose, -z, --zero-terminated, -NUM',
  ),
  tail: {
    reads: 'prints the end of files',
    flags: '-n N, --lines=N, -c N, --bytes=N, -q, --quiet, --silent, -v, --verbose, -z, --zero-terminated, -NUM',
    // `+9f` is an old way to say: from line 9 on, and never end.
    operands: (given) => (given.operands.some((operand) => operand.startsWith('+')) ? null : filesOf(given)),
  },
  wc: plainFiles(
    'counts lines, words and bytes',
    '-c, --bytes, -m, --chars, -l, --lines, -L, --max-line-length, -w, --words, --total=WHEN',
  ),
  nl: plainFiles(
    'numbers lines',
    `-b STYLE, --body-numbering=STYLE, -d CC, --section-delimiter=CC, -f STYLE, --footer-numbering=STYLE, -h STYLE,
     --header-numbering=STYLE, -i N, --line-increment=N, -l N, --join-blank-lines=N, -n FORM, --number-format=FORM, -p, --no-renumber,
     -s TEXT, --number-separator=TEXT, -v N, --starting-line-number=N, -w N, --number-width=N`,
  ),
  sort: plainFiles(
    'sorts lines',
    `-b, --ignore-leading-blanks, -d, --dictionary-order, -f, --ignore-case, -g, --general-numeric-sort, -i, --ignore-nonprinting,
     -M, --month-sort, -h, --human-numeric-sort, -n, --numeric-sort, -R, --random-sort, -r, --reverse, --sort=WORD, -V,
     --version-sort, -c, --check[=WORD], -C, -k KEY, --key=KEY, -m, --merge, -s, --stable, -t SEP, --field-separator=SEP, -u,
     --unique, -z, --zero-terminated, --debug`,
  ),
  uniq: {
    reads: 'leaves out repeated lines',
    flags: `-c, --count, -d, --repeated, -D, --all-repeated[=METHOD], -f N, --skip-fields=N, --group[=METHOD], -i, --ignore-case,
      -s N, --skip-chars=N, -u, --unique, -z, --zero-terminated, -w N, --check-chars=N`,
    // A second operand is the file it writes.
    operands: (given) => (given.operands.length <= 1 ? filesOf(given) : null),
  },
  cut: plainFiles(
    'prints columns of files',
    `-b LIST, --bytes=LIST, -c LIST, --characters=LIST, -d DELIM, --delimiter=DELIM, -f LIST, --fields=LIST, -n, --complement, -s,
     --only-delimited, --output-delimiter=TEXT, -z, --zero-terminated`,
  ),
  tr: {
    reads: 'replaces characters of its input',
    flags: '-c, -C, --complement, -d, --delete, -s, --squeeze-repeats, -t',
    operands: textOf,
  },
  fold: plainFiles('breaks long lines', '-b, --bytes, -s, --spaces, -w N, --width=N'),
  expand: plainFiles('replaces tabs by blanks', '-i, --initial, -t LIST, --tabs=LIST'),
  column: plainFiles('prints lines in columns', '-t, --table, -s TEXT, --separator=TEXT'),
  cmp: plainFiles(
    'compares two files',
    '-b, --print-bytes, -i SKIP, --ignore-initial=SKIP, -l, --verbose, -n N, --bytes=N, -s, --quiet, --silent',
  ),
  comm: plainFiles('compares sorted files', '-1, -2, -3, --check-order, --nocheck-order, --total, -z, --zero-terminated'),
  diff: {
    reads: 'compares files',
    flags: `--normal, -q, --brief, -s, --report-identical-files, -c, -C N, --context[=NUM], -u, -U N, --unified[=NUM], -e, --ed, -n, --rcs,
      -y, --side-by-side, -W N, --width=N, --left-column, --suppress-common-lines, -p, --show-c-function, --label=LABEL, -t,
      --expand-tabs, -T, --initial-tab, -i, --ignore-case, -E, --ignore-tab-expansion, -Z, --ignore-trailing-space, -b,
      --ignore-space-change, -w, --ignore-all-space, -B, --ignore-blank-lines, -I RE, --ignore-matching-lines=RE, -a, --text,
      --strip-trailing-cr, -d, --minimal, --speed-large-files, --color[=WHEN], --no-dereference`,
    // Two folders are compared file by file, and links in them are followed.
    operands: (given) => ({ ...filesOf(given), refusesFolders: true }),
  },
  od: plainFiles(
    'prints the bytes of files',
    '-A RADIX, --address-radix=RADIX, -t TYPE, --format=TYPE, -v, --output-duplicates, -j N, --skip-bytes=N, -N N, --read-bytes=N, -c, -x, -b, -d, -o',
  ),
  hexdump: plainFiles('prints the bytes of files', '-C, --canonical, -n N, --length=N, -s N, --skip=N, -v, -x, -c, -b, -d, -o'),
  rev: plainFiles('reverses lines', ''),
  md5sum: sums,
  sha1sum: sums,
  sha224sum: sums,
  sha256sum: sums,
  sha384sum: sums,
  sha512sum: sums,
  b2sum: { ...sums, flags: `${sums.flags}, -l N, --length=N` },
  cksum: { ...sums, flags: '' },
  basename: { reads: 'prints the last part of names', flags: '-a, --multiple, -s SUFFIX, --suffix=SUFFIX, -z, --zero', operands: textOf },
  dirname: { reads: 'prints the folders of names', flags: '-z, --zero', operands: textOf },
  pwd: { reads: 'prints the folder it runs in', flags: '-L, -P', operands: nothingOf },
  true: { reads: 'does nothing', flags: '', operands: textOf },
  false: { reads: 'does nothing', flags: '', operands: textOf },
};

export const textProfiles: readonly Profile[] = Object.entries(forms).map(([program, form]) => createReader(program, form));
