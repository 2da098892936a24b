// What a command line that was started by a tool may not do. A tool's processes carry the mark of their call; one that takes it off is
// still only a command that a person was asked about.

import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { OpName } from '../../contracts/ops.ts';

/** Answers only a person gives. */
const personOps: ReadonlySet<OpName> = new Set<OpName>([
  'approval.decide',
  'grant.revoke',
  'outcome.settle',
  'outbox.settle',
  'chat.bind',
  'panic.release',
  'audit.accept',
  'budget.allow',
  'command.run',
  'config.set',
  'dlq.clear',
  'dlq.retry',
  'health.fix',
  'recovery.run',
  'model.test',
  'provider.try',
  'provider.add',
  'session.configure',
  'turn.retry',
  'secret.set',
  'secret.delete',
  'memory.add',
  'memory.promote',
  'memory.reject',
  'memory.pin',
  'memory.forget',
  'memory.settle',
  'memory.import',
  'knowledge.add',
  'knowledge.remove',
  'schedule.create',
  'schedule.update',
  'skill.trust',
  'skill.configure',
  'skill.import',
  'skill.remove',
  'identity.set',
  'identity.revert',
  'prompt.set',
  'prompt.accept',
  'telegram.pair',
  'telegram.confirm',
  'telegram.refuse',
  'telegram.revoke',
  'telegram.pause',
  'telegram.resume',
  'workspace.trust',
  'workspace.forget',
]);

/** A person chooses the model, the folder and the files of a message. */
const personParams = ['model', 'workspace', 'attachments'] as const;

export function isInsideTool(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env['TRAYCLAW_CALL'] ?? '') !== '';
}

export function refusedInsideTool(what: string): AppError {
  return new AppError('forbidden', `${what} is for a person; this command was started by a tool.`, {
    data: { hint: 'Answer in the window or in a terminal of your own.' },
  });
}

/** The same Claw without those operations. */
export function withoutPersonOps(claw: Claw): Claw {
  return {
    op: (name, params, caller) => {
      const chosen = name === 'message.send' || name === 'session.create' ? personParams.filter((key) => Object.hasOwn(params, key)) : [];
      if (personOps.has(name)) return Promise.reject(refusedInsideTool(name));
      if (chosen.length > 0) return Promise.reject(refusedInsideTool(`${name} with ${chosen.join(' and ')}`));
      return claw.op(name, params, caller);
    },
    events: (query) => claw.events(query),
    onDelta: (listener) => claw.onDelta(listener),
    close: () => claw.close(),
  };
}
