// The completions for each position of a command line, from the same table as the commands. Shell-independent.

import type { OpName } from '../../../contracts/ops.ts';
import type { Entry } from '../kernel/entries.ts';
import { argumentsOf, optionsOf, type Fields } from '../kernel/options.ts';
import { takesLast } from '../short-ids.ts';

/** The completions at a position: some of these words, ids and names of this kind, or a file. */
export interface Offer {
  readonly words: readonly string[];
  readonly names: string | null;
  readonly isFile: boolean;
}

export interface Place {
  /** The words up to this position; empty at the beginning. */
  readonly path: string;
  readonly below: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly { readonly label: string; readonly about: string; readonly value: Offer | null }[];
  /** By position. The last one repeats if it takes several. */
  readonly args: readonly Offer[];
  readonly repeatsLast: boolean;
}

const nothing: Offer = { words: [], names: null, isFile: false };
const file: Offer = { ...nothing, isFile: true };

/** The kind of name that a parameter takes. */
const namesByParameter: Readonly<Record<string, string>> = {
  sessionId: 'session',
  agentId: 'agent',
  scheduleId: 'schedule',
  grantId: 'grant',
  memoryId: 'memory',
  otherId: 'memory',
};

/** The options of every command. */
export const globals: Place['options'] = [
  { label: '--home', about: 'the data folder', value: file },
  { label: '--json', about: 'print one JSON document', value: null },
  { label: '--fields', about: 'print these fields of the result only', value: nothing },
  { label: '--quiet', about: 'no progress', value: null },
  { label: '--help', about: 'explain the command', value: null },
];

export function placesOf(entries: readonly Entry[], fieldsOf: (op: OpName) => Fields): Place[] {
  const all = entries.flatMap(withAlias);
  const empty = { options: [], args: [], repeatsLast: false };
  const groups = new Map<string, Map<string, string>>([['', new Map()]]);
  for (const { path, about } of all) {
    for (const [at, name] of path.entries()) {
      const above = path.slice(0, at).join(' ');
      const below = groups.get(above) ?? new Map<string, string>();
      groups.set(above, below.set(name, at === path.length - 1 ? about : (below.get(name) ?? '')));
    }
  }
  const places = [...groups].map(([path, below]) => ({ ...empty, path, below: [...below].map(([name, about]) => ({ name, about })) }));
  return [...places, ...all.map((entry) => placeOf(entry, fieldsOf))];
}

/** An alias leads to the same position. */
function withAlias(entry: Entry): Entry[] {
  const { alias } = entry.form;
  return alias === undefined ? [entry] : [entry, { ...entry, path: [...entry.path.slice(0, -1), alias] }];
}

function placeOf(entry: Entry, fieldsOf: (op: OpName) => Fields): Place {
  const op = 'op' in entry.source ? entry.source.op : null;
  const fields = op === null ? {} : fieldsOf(op);
  const { words = {} } = entry.form;
  const takes = argumentsOf(entry, fields);
  const args = takes.map(({ name, field, isPath }) => (isPath ? file : offerOf(op, name, choicesIn(field.choices, words[name]))));
  const own = optionsOf(entry, fields).map(({ flags, label, parameter, field, about, isPath }) => {
    const takesValue = flags.includes('<');
    const value = isPath ? file : offerOf(op, parameter ?? `${label.slice(2)}Id`, field.choices);
    return { label, about, value: takesValue ? value : null };
  });
  return { path: entry.path.join(' '), below: [], options: own, args, repeatsLast: takes.at(-1)?.isVariadic === true };
}

function offerOf(op: OpName | null, name: string, choices: readonly string[]): Offer {
  const isSkill = name === 'name' && op?.startsWith('skill.') === true;
  const isApproval = name === 'id' && op === null;
  const names = isSkill ? 'skill' : isApproval ? 'approval' : (namesByParameter[name] ?? null);
  return { words: [...choices, ...(takesLast(op, name) ? ['last'] : [])], names, isFile: false };
}

/** The choices in the description of an argument of a handwritten command, such as `bash, zsh or fish`. */
function choicesIn(choices: readonly string[], about = ''): readonly string[] {
  if (choices.length > 0) return choices;
  return /^[a-z]+(?:, [a-z]+)* or [a-z]+$/.test(about) ? about.split(/, | or /) : [];
}
