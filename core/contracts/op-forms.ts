// Every operation with its words and its commands, in the groups the reference lists them in. Plain data: help and completion read it
// without a schema.

import { agentForms, skillForms } from './agent-forms.ts';
import { careForms } from './care-forms.ts';
import { cautionForms } from './caution-forms.ts';
import { channelForms } from './channel-forms.ts';
import type { OpForm } from './command-form.ts';
import { boundForms, gateForms } from './gate-forms.ts';
import { memoryForms } from './memory-forms.ts';
import type { OpName } from './ops.ts';
import { pluginForms } from './plugin-forms.ts';
import { scheduleForms } from './schedule-forms.ts';
import { sessionForms } from './session-forms.ts';
import { settingForms } from './setting-forms.ts';
import { contextForms, messageForms, toolForms } from './turn-forms.ts';

export const opGroups = {
  'Messages and turns': messageForms,
  Sessions: sessionForms,
  'Approvals and the gate': gateForms,
  'Second thoughts': cautionForms,
  'Stop, budgets, undo': boundForms,
  'Tools and artifacts': toolForms,
  'Context and rules': contextForms,
  'Memory and documents': memoryForms,
  Skills: skillForms,
  'Agents, identity, prompts': agentForms,
  'Schedules, tasks, signals': scheduleForms,
  'Channels and delivery': channelForms,
  Plugins: pluginForms,
  'Models, settings, secrets': settingForms,
  'Activity, health, recovery': careForms,
} as const;

const forms = {
  ...messageForms,
  ...sessionForms,
  ...gateForms,
  ...cautionForms,
  ...boundForms,
  ...toolForms,
  ...contextForms,
  ...memoryForms,
  ...skillForms,
  ...agentForms,
  ...scheduleForms,
  ...channelForms,
  ...pluginForms,
  ...settingForms,
  ...careForms,
} as const;

export const opForms: Readonly<Record<OpName, OpForm>> = forms;

/** The operations that are commands and have a result to show. */
export type CommandOp = {
  [N in OpName]: (typeof forms)[N] extends { readonly commands: object; readonly follows?: never } ? N : never;
}[OpName];
