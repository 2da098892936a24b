// Every operation with its texts and commands, in the groups of the reference. Help and completion use it: the build turns this file into
// plain data, so that they load no schemas.

import type { OpForm } from './command-form.ts';
import { featureFamilies, featureHelp } from './features.ts';
import { opTable, type OpName } from './ops.ts';

/**
 * Families of operations, in the order of the reference, help and completion. The types require an entry for each family. Features add
 * theirs.
 */
const groups = {
  'Messages and turns': ['message', 'turn', 'command'],
  Sessions: ['session'],
  'Approvals and the gate': ['approval', 'grant', 'outcome', 'policy', 'sandbox', 'safety', 'workspace'],
  'Second thoughts': [],
  'Stop, budgets, undo': ['panic', 'budget', 'checkpoint'],
  'Tools and artifacts': ['tool', 'artifact'],
  'Context and rules': ['pack', 'rule'],
  'Memory and documents': ['memory', 'knowledge'],
  Skills: ['skill'],
  'Agents, identity, prompts': ['agent', 'helper', 'identity', 'prompt'],
  'Schedules, tasks, signals': ['schedule', 'heartbeat', 'task', 'signal'],
  'Channels and delivery': ['telegram', 'chat', 'outbox'],
  'Doors for other programs': [],
  Plugins: [],
  'MCP servers': [],
  'Models, settings, secrets': ['model', 'provider', 'config', 'secret'],
  'Activity, health, recovery': ['activity', 'running', 'audit', 'replay', 'usage', 'health', 'recovery', 'dlq', 'backup'],
} as const;

export const opGroups: Readonly<Record<string, readonly string[]>> = withFeatures(groups);

/** The groups and descriptions of the commands that features add. */
export const familyHelp: Readonly<Record<string, readonly [group: string, about: string]>> = featureHelp;

type FamilyOf<N extends string> = N extends `${infer Family}.${string}` ? Family : never;
type Grouped = (typeof groups)[keyof typeof groups][number] | keyof typeof featureFamilies;
type Ungrouped = Exclude<FamilyOf<OpName>, Grouped>;

/** An operation without a group would have no command. In that case this type becomes the name of its family, which causes a type error. */
type Forms = [Ungrouped] extends [never] ? Readonly<Record<OpName, OpForm>> : Ungrouped;

export const opForms: Forms = formsOf(Object.values(opGroups).flat());

/** The operations that have commands and a result to show. */
export type CommandOp = {
  [N in OpName]: (typeof opTable)[N] extends { readonly commands: object; readonly follows?: never } ? N : never;
}[OpName];

/** The operations among them without a form that shows the result; they need a hand-written view. */
export type ViewedOp = { [N in CommandOp]: (typeof opTable)[N] extends { readonly shows: unknown } ? never : N }[CommandOp];

function formsOf(families: readonly string[]): Record<OpName, OpForm> {
  const all = families.flatMap((family) => Object.entries(opTable).filter(([name]) => name.startsWith(`${family}.`)));
  return Object.fromEntries(all.map(([name, { params: _params, result: _result, ...form }]) => [name, form])) as Record<OpName, OpForm>;
}

function withFeatures(spine: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> {
  const all: Record<string, readonly string[]> = { ...spine };
  for (const [family, group] of Object.entries(featureFamilies)) all[group] = [...(all[group] ?? []), family];
  return all;
}
