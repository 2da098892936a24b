// `trayclaw mcp serve`: TrayClaw as a server of the Model Context Protocol. On standard input and output, nothing else is written. If an
// instance is running, this process is only its client.

import { AppError } from '../../contracts/errors.ts';
import { scopeIncludes, wrongScope } from '../../contracts/features/doors.ts';
import { cliCaller } from './caller.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { isInsideTool, refusedInsideTool } from './person-only.ts';
import { serve } from './serve.ts';

interface Given {
  readonly http?: string;
  readonly scope?: readonly string[];
}

export async function mcpServe(context: CommandContext, { http, scope }: Given): Promise<number> {
  // Refused inside a tool, because this command answers approvals.
  if (isInsideTool(context.io.env)) throw refusedInsideTool('mcp serve');
  if (http !== undefined) {
    if (scope !== undefined) throw new AppError('invalid_params', 'With --http, each client uses the scopes of its own token.');
    context.output.note(`Clients connect to /mcp with a token of: ${context.program} doors token create --door mcp`);
    return serve(context, { port: http });
  }
  const scopes = scope ?? ['all', 'approvals'];
  for (const one of scopes) {
    const wrong = wrongScope('mcp', one);
    if (wrong !== null) throw new AppError('invalid_params', `--scope ${one} ${wrong}.`);
  }
  const ended = new AbortController();
  const stopListening = context.io.onInterrupt(() => ended.abort());
  try {
    return await context.withClaw('live', async ({ claw }) => {
      const { stdin: input, stdout: output } = context.io;
      const may = (what: string): boolean => scopes.some((one) => scopeIncludes(one, what));
      await context.parts.serveMcp({ claw, caller: cliCaller, input, output, may, ended: ended.signal });
      return exitCodes.done;
    });
  } finally {
    stopListening();
  }
}
