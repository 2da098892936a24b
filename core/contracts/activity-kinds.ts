// The few kinds of events by which a person searches the log. Plain data, so that the window can use it without the schemas.

import type { EventType } from './events.ts';

export const activityKinds = ['message', 'model', 'tool', 'decision', 'approval', 'file', 'turn', 'helper', 'memory', 'system'] as const;
export type ActivityKind = (typeof activityKinds)[number];

/** The outcome of a call, a decision of the gate, a person's answer, a model request, or a turn. */
export const activityOutcomes = [
  'ok',
  'error',
  'denied',
  'cancelled',
  'timeout',
  'skipped',
  'unknown',
  'allowed',
  'asked',
  'approved',
  'withdrawn',
  'over_budget',
  'stopped',
] as const;
export type ActivityOutcome = (typeof activityOutcomes)[number];

type Family<T extends string> = T extends `${infer Name}.${string}` ? Name : never;

/** The event types and families of each kind. An event type takes precedence over its family. Anything not listed is a system event. */
const places: Readonly<Partial<Record<ActivityKind, readonly (EventType | Family<EventType>)[]>>> = {
  message: [
    'user.message',
    'assistant.message',
    'turn.steered',
    'telegram.message_held',
    'telegram.message_passed',
    'telegram.preview_sent',
    'channel.message_taken',
    'channel.command_answered',
    'channel.message_held',
    'channel.message_passed',
    'channel.preview_sent',
    'outbound',
    'peer.task_accepted',
  ],
  model: [
    'pack.built',
    'model',
    'skill.selected',
    'skill.expanded',
    'summary',
    'embedding.used',
    'door.answered',
    'opinion',
    'value.given',
    'eval.case_finished',
    'peer',
  ],
  tool: ['verification.finished', 'tool'],
  decision: [
    'brain.decided',
    'plan.drafted',
    'observation.recorded',
    'reflection.recorded',
    'policy.decided',
    'taint.marked',
    'hook.ran',
    'rule',
    'plugin.approved',
    'plugin.revoked',
    'door',
    'mcp',
    'project',
    'governor.assessed',
    'work.chosen',
    'plan.approved',
    'call.verified',
  ],
  approval: ['turn.waiting', 'approval', 'grant', 'telegram.asked', 'telegram.question_closed', 'channel.asked', 'channel.question_closed'],
  file: ['checkpoint', 'work.copied'],
  turn: ['turn', 'budget', 'dead_letter', 'pipeline', 'work'],
  helper: ['a2a'],
  memory: ['memory'],
};
const kinds: ReadonlyMap<string, ActivityKind> = new Map(
  activityKinds.flatMap((kind) => (places[kind] ?? []).map((name) => [name, kind] as const)),
);

/** Event types of a later version count as system events unless their family is known. */
export function activityKindOf(type: string): ActivityKind {
  return kinds.get(type) ?? kinds.get(type.split('.')[0] ?? type) ?? 'system';
}
