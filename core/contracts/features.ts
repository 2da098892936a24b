// The list of feature contracts. Their events and operations are added to the tables from here, and their commands to help and the
// reference. Features of the first version are added to the tables directly; settings are listed in config.ts.

import type { AllOf } from '../base/all-of.ts';
import { a2aContract } from './features/a2a.ts';
import { channelContract } from './features/channels.ts';
import { doorContract } from './features/doors.ts';
import { engineContract } from './features/engine.ts';
import { evalContract } from './features/evals.ts';
import { governorContract } from './features/governor.ts';
import { mcpContract } from './features/mcp.ts';
import { opinionContract } from './features/opinions.ts';
import { pipelineContract } from './features/pipelines.ts';
import { planContract } from './features/plan.ts';
import { pluginContract } from './features/plugins.ts';
import { priceContract } from './features/prices.ts';
import { projectContract } from './features/project.ts';
import { reportContract } from './features/report.ts';
import { savedPromptContract } from './features/saved.ts';
import { skillStoreContract } from './features/skill-store.ts';
import { telemetryContract } from './features/telemetry.ts';
import { valueContract } from './features/values.ts';
import { verifyContract } from './features/verify.ts';
import { workContract } from './features/work.ts';

const contracts = [
  pluginContract,
  mcpContract,
  telemetryContract,
  governorContract,
  verifyContract,
  opinionContract,
  valueContract,
  doorContract,
  a2aContract,
  channelContract,
  engineContract,
  priceContract,
  workContract,
  pipelineContract,
  evalContract,
  projectContract,
  savedPromptContract,
  reportContract,
  skillStoreContract,
  planContract,
] as const;

type Contract = (typeof contracts)[number];
type Table = 'events' | 'ops' | 'families' | 'help';
type Part<T extends Table, C = Contract> = C extends { readonly [K in T]: infer Entries } ? Entries : never;

export const featureEvents = joined('events');
export const featureOps = joined('ops');
/** The group of the reference for each operation family, keyed by the first word of the operation. The group may be new. */
export const featureFamilies = joined('families');
/** Keyed by the first word of a command: its group in help, and its description. */
export const featureHelp = joined('help');

function joined<T extends Table>(table: T): AllOf<Part<T>> {
  const parts: readonly Readonly<Partial<Record<Table, object>>>[] = contracts;
  return Object.assign({}, ...parts.map((contract) => contract[table])) as AllOf<Part<T>>;
}
