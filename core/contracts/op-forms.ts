// Every operation with its words and its commands, in the groups the reference lists them in. Help and completion read it: the build turns
// this file into plain data, so that they load no schema.

import type { OpForm } from './command-form.ts';
import { featureFamilies, featureHelp } from './features.ts';
import { opTable, type OpName } from './ops.ts';

/** Families of operations, in the order of the reference, of help and of completion. Types ask for each. Features add theirs. */
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

/** The words and places of the commands that features add. */
export const familyHelp: Readonly<Record<string, readonly [group: string, about: string]>> = featureHelp;

type FamilyOf<N extends string> = N extends `${infer Family}.${string}` ? Family : never;
type Grouped = (typeof groups)[keyof typeof groups][number] | keyof typeof featureFamilies;
type Ungrouped = Exclude<FamilyOf<OpName>, Grouped>;

/** An operation in no group would have no command: then this is the name of its family, and the types do not fit. */
type Forms = [Ungrouped] extends [never] ? Readonly<Record<OpName, OpForm>> : Ungrouped;

export const opForms: Forms = formsOf(Object.values(opGroups).flat());

/** The operations that are commands and have a result to show. */
export type CommandOp = {
  [N in OpName]: (typeof opTable)[N] extends { readonly commands: object; readonly follows?: never } ? N : never;
}[OpName];

/** Those of them that no form shows: a view by hand does. */
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
