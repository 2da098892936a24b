// Restricts a command line that was started by a tool. A tool's processes carry the marker of their call. A process that removes the marker
// is still a command that a person approved.

import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import { opForms } from '../../contracts/op-forms.ts';

/** The parameters of a message that only a person chooses: model, folder and files. */
const personParams = ['model', 'workspace', 'attachments'] as const;

export function isInsideTool(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env['TRAYCLAW_CALL'] ?? '') !== '';
}

export function refusedInsideTool(what: string): AppError {
  return new AppError('forbidden', `${what} is for a person; this command was started by a tool.`, {
    hint: 'Answer in the window or in your own terminal.',
  });
}

/** The same Claw without the operations and parameters that are reserved for a person. */
export function withoutPersonOps(claw: Claw): Claw {
  return {
    op: (name, params, caller) => {
      const chosen = name === 'message.send' || name === 'session.create' ? personParams.filter((key) => Object.hasOwn(params, key)) : [];
      if (opForms[name].forPerson === true) return Promise.reject(refusedInsideTool(name));
      if (chosen.length > 0) return Promise.reject(refusedInsideTool(`${name} with ${chosen.join(' and ')}`));
      return claw.op(name, params, caller);
    },
    events: (query) => claw.events(query),
    onDelta: (listener) => claw.onDelta(listener),
    close: () => claw.close(),
  };
}
