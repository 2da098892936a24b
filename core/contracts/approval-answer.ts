// The state of an approval after its decision, for all code that keeps approvals in step with the log. Pure.

import type { EventOf } from './events.ts';
import type { Approval } from './policy.ts';

export const answerStates = { approve: 'approved', deny: 'denied', withdraw: 'withdrawn' } as const;

type Answer = Pick<Approval, 'state' | 'scope' | 'decidedBy' | 'decidedAtMs'>;

export function answerOf({ body, atMs }: Pick<EventOf<'approval.decided'>, 'body' | 'atMs'>): Answer {
  return { state: answerStates[body.decision], scope: body.scope, decidedBy: body.by, decidedAtMs: atMs };
}
