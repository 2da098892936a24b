// The untrusted sources a call may follow, as the gate receives them, and those of them that a grant was not given for. Marks nothing.

import type { CallTaint, TaintSource } from '../../contracts/tools.ts';

const SHOWN_MAX = 3;

export function taintKey({ kind, where }: TaintSource): string {
  return `${kind}:${where}`;
}

/** Returns the sources that led to a call and whose key is not in `seen`. */
export function unseenSources(derived: readonly TaintSource[], seen: readonly string[]): readonly TaintSource[] {
  return derived.filter((source) => !seen.includes(taintKey(source)));
}

/** Returns the distinct sources, those that led to the call first. */
export function allSources(taint: CallTaint): TaintSource[] {
  return [...new Map([...taint.derived, ...taint.session].map((source) => [taintKey(source), source])).values()];
}

/** For example "example.org and notes.md". */
export function nameSources(sources: readonly TaintSource[]): string {
  const names = [...new Set(sources.map(({ where }) => where))];
  const shown = names.length > SHOWN_MAX ? [...names.slice(0, SHOWN_MAX), `${names.length - SHOWN_MAX} more`] : names;
  const last = shown.at(-1) ?? 'elsewhere';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
}
