// Reads a program's arguments by a list of its known flags: short ones in bundles, long ones by their whole name. A flag that is not on the
// list, an abbreviation or a missing value means that the arguments are not understood.

export interface FlagTable {
  readonly flags: ReadonlyMap<string, FlagForm>;
  /** `-5` is a number of lines. */
  readonly hasNumber: boolean;
}

export interface FlagForm {
  /** none: takes no value. needed: attached, after `=` or the next argument. attached: only attached or after `=`, may be missing. */
  readonly value: 'none' | 'needed' | 'attached';
  /** The kind of value: `FILE` a path that is read, `N` a number, anything else text. */
  readonly kind: string;
}

export interface GivenFlag {
  readonly flag: string;
  readonly value: string | null;
}

export interface GivenArguments {
  readonly flags: readonly GivenFlag[];
  readonly operands: readonly string[];
  /** Values of flags that name files. */
  readonly files: readonly string[];
  has(...names: readonly string[]): boolean;
}

const numberValue = /^[+-]?\d+(?:\.\d+)?[A-Za-z]{0,3}$/;
const wholeNumber = /^-\d+$/;

/**
 * A table from its text, as a manual prints it: `-a, --all, -n N, --lines=N, --color[=WHEN], -f FILE, -I[FORM], -NUM`. A word in capitals is
 * a value; in brackets it is optional and is then never the next argument.
 */
export function flagTable(text: string): FlagTable {
  const flags = new Map<string, FlagForm>();
  let hasNumber = false;
  for (const item of text.split(/[\s]*,[\s]*/)) {
    if (item === '') continue;
    const form = /^(--?[A-Za-z0-9@.][A-Za-z0-9-]*?)(?:\[=?([A-Z]+)\]|[ =]([A-Z]+))?$/.exec(item);
    if (item === '-NUM') hasNumber = true;
    else if (form?.[1] !== undefined) flags.set(form[1], formOf(form[2], form[3]));
    else throw new TypeError(`no flag: ${item}`);
  }
  return { flags, hasNumber };
}

/** The tables of all entries that have one as text. */
export function flagTables(known: Readonly<Record<string, { readonly flags?: string | RegExp }>>): ReadonlyMap<string, FlagTable> {
  return new Map(
    Object.entries(known).flatMap(([name, { flags }]) => (typeof flags === 'string' ? [[name, flagTable(flags)] as const] : [])),
  );
}

function formOf(attached: string | undefined, needed: string | undefined): FlagForm {
  if (attached !== undefined) return { value: 'attached', kind: attached };
  return needed === undefined ? { value: 'none', kind: '' } : { value: 'needed', kind: needed };
}

export function readArguments(args: readonly string[], table: FlagTable): GivenArguments | null {
  const given: GivenFlag[] = [];
  const operands: string[] = [];
  const pending = [...args].reverse();
  for (let argument = pending.pop(); argument !== undefined; argument = pending.pop()) {
    if (argument === '--') {
      operands.push(...pending.reverse());
      break;
    }
    if (!argument.startsWith('-') || argument === '-') {
      operands.push(argument);
      continue;
    }
    const found = argument.startsWith('--') ? longFlag(argument, pending, table) : shortFlags(argument, pending, table);
    if (found === null) return null;
    given.push(...found);
  }
  return givenArguments(given, operands, table);
}

function givenArguments(flags: readonly GivenFlag[], operands: readonly string[], table: FlagTable): GivenArguments {
  const names = new Set(flags.map(({ flag }) => flag));
  const files = flags.flatMap(({ flag, value }) => (value !== null && table.flags.get(flag)?.kind === 'FILE' ? [value] : []));
  return { flags, operands, files, has: (...wanted) => wanted.some((name) => names.has(name)) };
}

function longFlag(argument: string, pending: string[], table: FlagTable): GivenFlag[] | null {
  const cut = argument.indexOf('=');
  const flag = cut < 0 ? argument : argument.slice(0, cut);
  const form = table.flags.get(flag);
  if (form === undefined) return null;
  if (cut < 0) return form.value === 'needed' ? withNext(flag, form, pending) : [{ flag, value: null }];
  return form.value === 'none' ? null : checked(flag, form, argument.slice(cut + 1));
}

function shortFlags(argument: string, pending: string[], table: FlagTable): GivenFlag[] | null {
  if (table.hasNumber && wholeNumber.test(argument)) return [{ flag: '-NUM', value: argument.slice(1) }];
  const found: GivenFlag[] = [];
  for (let at = 1; at < argument.length; at++) {
    const flag = `-${argument[at]}`;
    const form = table.flags.get(flag);
    if (form === undefined) return null;
    const rest = argument.slice(at + 1);
    if (form.value === 'none') {
      found.push({ flag, value: null });
      continue;
    }
    const valued = rest === '' ? lastShort(flag, form, pending) : checked(flag, form, rest);
    return valued === null ? null : [...found, ...valued];
  }
  return found;
}

function lastShort(flag: string, form: FlagForm, pending: string[]): GivenFlag[] | null {
  return form.value === 'attached' ? [{ flag, value: null }] : withNext(flag, form, pending);
}

/** Some programs take a word that looks like a flag for a flag even where a value is due, so its meaning is unknown. */
function withNext(flag: string, form: FlagForm, pending: string[]): GivenFlag[] | null {
  const value = pending.pop();
  const isFlagLike = value !== undefined && /^-./.test(value) && !(form.kind === 'N' && wholeNumber.test(value));
  return value === undefined || isFlagLike ? null : checked(flag, form, value);
}

function checked(flag: string, form: FlagForm, value: string): GivenFlag[] | null {
  if (form.kind === 'N' && !numberValue.test(value)) return null;
  // `-f=x` is the file `=x` to some programs, and `x` to others.
  return form.kind === 'FILE' && value.startsWith('=') ? null : [{ flag, value }];
}
