// Binds an approval of a command to the files and settings that determine its effect, as one hash, and describes later changes. Pure.

import { hash } from 'node:crypto';
import { relative } from 'node:path';
import { canonicalJson } from '../../base/json.ts';
import { bindingsOf, type CallFacts, type CommandBinding } from '../../contracts/tools.ts';
import { isInside } from '../../base/inside-folder.ts';

const SHOWN_MAX = 3;

/**
 * Returns the bindings of a command that was understood. Returns an empty list for any other line, and null for a call without a command.
 */
export function callBindings({ command }: CallFacts): readonly CommandBinding[] | null {
  return command === null ? null : bindingsOf(command);
}

/** The hash does not depend on the order. */
export function bindingsHash(bindings: readonly CommandBinding[]): string {
  const lines = bindings.map((binding) => canonicalJson(binding)).sort();
  return hash('sha256', lines.join('\n'), 'hex');
}

/** Describes each change. "what it runs" means that the earlier value was not recorded. */
export function changedBindings(
  before: readonly CommandBinding[] | undefined,
  now: readonly CommandBinding[],
  workspace: string,
): readonly string[] {
  if (before === undefined) return ['what it runs'];
  const key = ({ kind, name }: CommandBinding): string => `${kind} ${name}`;
  const old = new Map(before.map((binding) => [key(binding), binding.sha256]));
  const fresh = new Map(now.map((binding) => [key(binding), binding.sha256]));
  const changed = now.filter((binding) => old.get(key(binding)) !== binding.sha256);
  const gone = before.filter((binding) => !fresh.has(key(binding)));
  const names = namesOf([...changed, ...gone], workspace);
  return names.length === 0 ? ['what it runs'] : names;
}

/** Returns the distinct names, of which only the first few are listed. */
export function namesOf(bindings: readonly CommandBinding[], workspace: string): readonly string[] {
  const names = [...new Set(bindings.map((binding) => showBinding(binding, workspace)))];
  return names.length <= SHOWN_MAX ? names : [...names.slice(0, SHOWN_MAX), `${names.length - SHOWN_MAX} more`];
}

function showBinding({ kind, name }: CommandBinding, workspace: string): string {
  if (kind === 'environment') return 'its environment';
  if (kind === 'program') return `the program ${name}`;
  return isInside(name, workspace) ? relative(workspace, name) || name : name;
}
