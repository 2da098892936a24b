// Programs whose arguments are a little language: find's expressions, sed's line ranges, jq's filters, echo and printf. Only the
// words known to read are understood.

import { flagTable, readArguments } from './argument-reader.ts';
import { walksOf } from './place-profiles.ts';
import { withoutInput, type Profile, type Reading } from './profile.ts';

/** find's words by what follows them: nothing, one text, one number or one path. */
type FindWord = 'alone' | 'text' | 'number' | 'path';

const findWords: ReadonlyMap<string, FindWord> = new Map([
  ...words(
    'alone',
    `! ( ) , -a -and -o -or -not -true -false -print -print0 -ls -prune -quit -empty -depth -mount -xdev -daystart -noleaf
     -readable -writable -executable -nouser -nogroup`,
  ),
  ...words(
    'text',
    `-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -size -perm -user -group -printf -fstype
     -mtime -atime -ctime -mmin -amin -cmin -links -inum -uid -gid`,
  ),
  ...words('number', '-maxdepth -mindepth'),
  ...words('path', '-newer -anewer -cnewer -samefile'),
]);

function words(kind: FindWord, names: string): [string, FindWord][] {
  return names.split(/\s+/).map((name) => [name, kind]);
}

const find: Profile = {
  program: 'find',
  read(args) {
    const start = args.findIndex((word) => word.startsWith('-') || word === '(' || word === ')' || word === '!' || word === ',');
    const roots = start < 0 ? args : args.slice(0, start);
    const expression = start < 0 ? [] : args.slice(start);
    const read = readExpression(expression);
    if (read === null) return null;
    const places = roots.length === 0 ? ['.'] : roots;
    const depth = read.depths.length === 0 ? {} : { depthMax: Math.max(...read.depths) };
    const walks = walksOf(places, { shows: 'names', entersHidden: true, ...depth });
    return { reads: 'finds files', files: [...places, ...read.files], walks };
  },
};

function readExpression(expression: readonly string[]): { files: string[]; depths: number[] } | null {
  const files: string[] = [];
  const depths: number[] = [];
  const pending = [...expression].reverse();
  for (let word = pending.pop(); word !== undefined; word = pending.pop()) {
    const kind = findWords.get(word);
    if (kind === undefined) return null;
    if (kind === 'alone') continue;
    const value = pending.pop();
    if (value === undefined || (kind === 'number' && !/^\d{1,4}$/.test(value))) return null;
    if (kind === 'path') files.push(value);
    if (word === '-maxdepth') depths.push(Number(value));
  }
  return { files, depths };
}

const linesOnly = /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/;

const sed: Profile = {
  program: 'sed',
  read([flag, script = '', ...files]) {
    if (flag !== '-n' || !linesOnly.test(script) || files.some((file) => file.startsWith('-'))) return null;
    return { reads: 'prints lines of files', files, walks: [] };
  },
};

const jqFlags = flagTable(
  `-c, --compact-output, -r, --raw-output, -R, --raw-input, -s, --slurp, -n, --null-input, -e, --exit-status, -S, --sort-keys, -a,
   --ascii-output, -j, --join-output, -M, --monochrome-output, -C, --color-output, --tab, --stream, --seq`,
);
// Words that read other files or the environment.
const jqReaches = /\b(?:import|include|env|ENV|modulemeta|get_search_list|input_filename|debug|stderr)\b|\$__/;

const jq: Profile = {
  program: 'jq',
  read(args) {
    const given = readArguments(args, jqFlags);
    const [filter, ...files] = given?.operands ?? [];
    if (given === null || filter === undefined || jqReaches.test(filter)) return null;
    // Its own reading of `--` differs between versions.
    if (args.includes('--') || files.some((file) => file.startsWith('-'))) return null;
    return { reads: 'reads JSON', files, walks: [] };
  },
};

const print = (program: string): Profile => ({ program, read: (): Reading => ({ reads: 'prints text', files: [], walks: [] }) });

const printf: Profile = {
  program: 'printf',
  read: ([format]) => (format === undefined || format.startsWith('-') ? null : { reads: 'prints text', files: [], walks: [] }),
};

export const expressionProfiles: readonly Profile[] = [find, sed, jq, print('echo'), printf].map((profile) => ({
  ...profile,
  read: (args) => {
    const reading = profile.read(args);
    return reading === null ? null : { ...reading, files: withoutInput(reading.files) };
  },
}));
