// The operations on slash commands; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps, id, none, sessionName } from './define-ops.ts';
import { workspacePath } from './workspace-ops.ts';

const line = z.string().min(1).max(100_000);

export const commandOps = defineOps({
  'command.list': {
    params: none,
    result: z.object({
      commands: z.array(
        z.object({
          name: z.string(),
          about: z.string(),
          /** For example `/budget [amount] [turn|session|day]`. */
          usage: z.string(),
          op: z.string(),
          parameters: z.array(
            z.object({ name: z.string(), kind: z.string(), isOptional: z.boolean(), choices: z.array(z.string()).optional() }),
          ),
        }),
      ),
    }),
    about: 'list the slash commands of the message field',
  },
  /** Completions of the line. The `line` of each completion is the whole completed line. */
  'command.complete': {
    params: z.strictObject({ line: z.string().max(1000), sessionId: sessionName.optional() }),
    result: z.object({ completions: z.array(z.object({ line: z.string(), label: z.string(), about: z.string() })) }),
    about: 'complete a slash command',
  },
  /** Runs a slash command for a person. Its calls pass the gate like any other; `waiting` means that one of them waits for an approval. */
  'command.run': {
    /** `workspace` is the folder of the session that the command may begin. */
    params: z.strictObject({ line, sessionId: id.optional(), workspace: workspacePath.optional() }),
    result: z.object({
      command: z.string(),
      /** Markdown for the person. */
      text: z.string(),
      /** The session to show from now on; null if there is none yet. */
      sessionId: z.string().nullable(),
      /** The turn that the command started; null if it started none. */
      turnId: z.string().nullable(),
      waiting: z.boolean(),
      /** Whether the turn answers later, so that a person wants to watch it. */
      follow: z.boolean(),
      /** A file to save, if the command created one. */
      file: z.object({ name: z.string(), mediaType: z.string(), text: z.string() }).nullable(),
    }),
    about: 'run a slash command; what it starts passes the gate like any call',
    forPerson: true,
  },
});
