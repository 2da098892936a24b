// Programs that tell what is where: folders, sizes, kinds of files, names behind links, and facts of the machine. Flags that follow
// links into other folders, write, or take names of files out of files are left out.

import type { GivenArguments } from './argument-reader.ts';
import { createReader, filesOf, nothingOf, textOf, type FolderWalk, type Profile, type Reading, type ReaderForm } from './profile.ts';

/** Its operands, or the folder it runs in. */
export function placesOf({ operands }: GivenArguments): readonly string[] {
  return operands.length === 0 ? ['.'] : operands;
}

export function walksOf(roots: readonly string[], form: Omit<FolderWalk, 'root'>): readonly FolderWalk[] {
  return roots.map((root) => ({ ...form, root }));
}

function listed(given: GivenArguments, isDeep: boolean): Pick<Reading, 'files' | 'walks'> {
  const files = placesOf(given);
  return { files, walks: isDeep ? walksOf(files, { shows: 'names', entersHidden: true }) : [] };
}

/** Operands with a folder in them are looked at; a bare name is only compared. */
function lookedUp({ operands }: GivenArguments): Pick<Reading, 'files' | 'walks'> {
  return { files: operands.filter((name) => name.includes('/')), walks: [] };
}

const forms: Readonly<Record<string, ReaderForm>> = {
  ls: {
    reads: 'lists files',
    flags: `-a, --all, -A, --almost-all, --author, -b, --escape, --block-size=SIZE, -B, --ignore-backups, -c, -C, --color[=WHEN], -d,
      --directory, -f, -F, --classify[=WHEN], --file-type, --format=WORD, --full-time, -g, --group-directories-first, -G,
      --no-group, -h, --human-readable, --si, --hide=PATTERN, --hyperlink[=WHEN], --indicator-style=WORD, -i, --inode, -I PATTERN,
      --ignore=PATTERN, -k, --kibibytes, -l, -m, -n, --numeric-uid-gid, -N, --literal, -o, -p, -q, --hide-control-chars,
      --show-control-chars, -Q, --quote-name, --quoting-style=WORD, -r, --reverse, -R, --recursive, -s, --size, -S, --sort=WORD,
      --time=WORD, --time-style=STYLE, -t, -T N, --tabsize=N, -u, -U, -v, -w N, --width=N, -x, -X, -1, --zero`,
    operands: (given) => listed(given, given.has('-R', '--recursive')),
  },
  tree: {
    reads: 'lists files',
    flags:
      '-a, -d, -f, -i, -L N, -P PATTERN, -I PATTERN, --noreport, --dirsfirst, -p, -s, -h, -u, -g, -D, -F, -q, -N, -Q, -n, -C, -r, -t, -v',
    operands: (given) => listed(given, true),
  },
  du: {
    reads: 'adds up the sizes of files',
    flags: `-0, --null, -a, --all, --apparent-size, -B SIZE, --block-size=SIZE, -b, --bytes, -c, --total, -d N, --max-depth=N, -h,
      --human-readable, --inodes, -k, -l, --count-links, -m, -P, --no-dereference, -S, --separate-dirs, --si, -s, --summarize, -t N,
      --threshold=N, --time[=WORD], --time-style=STYLE, --exclude=PATTERN, -x, --one-file-system`,
    operands: (given) => listed(given, true),
  },
  df: {
    reads: 'shows free space on disks',
    flags: `-a, --all, -B SIZE, --block-size=SIZE, -h, --human-readable, -H, --si, -i, --inodes, -k, -l, --local, --no-sync,
      --output[=LIST], -P, --portability, --total, -t TYPE, --type=TYPE, -T, --print-type, -x TYPE, --exclude-type=TYPE`,
    operands: filesOf,
  },
  stat: {
    reads: 'shows size, times and owner of files',
    flags: '-f, --file-system, -c FORMAT, --format=FORMAT, --printf=FORMAT, -t, --terse',
    operands: filesOf,
  },
  file: {
    reads: 'tells what kind of files these are',
    flags: '-b, --brief, -i, --mime, --mime-type, --mime-encoding, -h, --no-dereference, -k, --keep-going, -r, --raw, -0, --print0, -N',
    operands: filesOf,
  },
  realpath: {
    reads: 'shows where paths lead',
    flags: `-e, --canonicalize-existing, -m, --canonicalize-missing, -L, --logical, -P, --physical, -q, --quiet, --relative-to=FILE,
      --relative-base=FILE, -s, --strip, --no-symlinks, -z, --zero`,
    operands: filesOf,
  },
  readlink: {
    reads: 'shows where links lead',
    flags: `-f, --canonicalize, -e, --canonicalize-existing, -m, --canonicalize-missing, -n, --no-newline, -q, --quiet, -s, --silent, -v,
      --verbose, -z, --zero`,
    operands: filesOf,
  },
  which: { reads: 'shows which program a name means', flags: '-a', operands: lookedUp },
  uname: {
    reads: 'shows the name of the system',
    flags: `-a, --all, -s, --kernel-name, -n, --nodename, -r, --kernel-release, -v, --kernel-version, -m, --machine, -p, --processor,
      -i, --hardware-platform, -o, --operating-system`,
    operands: nothingOf,
  },
  id: {
    reads: 'shows users and groups',
    flags: '-g, --group, -G, --groups, -n, --name, -r, --real, -u, --user, -z, --zero',
    operands: textOf,
  },
  whoami: { reads: 'shows the user', flags: '', operands: nothingOf },
  nproc: { reads: 'shows the number of processors', flags: '--all, --ignore=N', operands: nothingOf },
  uptime: { reads: 'shows how long the machine runs', flags: '-p, --pretty, -s, --since', operands: nothingOf },
  date: {
    reads: 'shows the time',
    flags: `-d TEXT, --date=TEXT, -I[FORM], --iso-8601[=FORM], -R, --rfc-email, --rfc-3339=FORM, -r FILE, --reference=FILE, -u, --utc,
      --universal, --debug`,
    // Any other operand sets the clock.
    operands: ({ operands }) => (operands.every((format) => format.startsWith('+')) ? { files: [], walks: [] } : null),
  },
};

export const placeProfiles: readonly Profile[] = Object.entries(forms).map(([program, form]) => createReader(program, form));
