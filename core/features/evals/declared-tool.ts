// A tool of a case. It validates its arguments against the schema it declares and returns the result that the case defines.

import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { toAppError } from '../../contracts/errors.ts';
import type { EvalTool } from '../../contracts/features/evals.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';

type Args = Readonly<Record<string, unknown>>;

export function declaredTool({ name, description, parameters, returns, untrusted }: EvalTool): ToolDefinition {
  return defineTool({
    name,
    description,
    input: argumentsOf(parameters),
    schema: parameters,
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => `use ${name}`,
    run: (args) =>
      Promise.resolve({
        forModel: answerTo(returns, args),
        ...(untrusted ? { untrusted: [{ kind: 'web' as const, where: `https://${name}.invalid/` }] } : {}),
      }),
  });
}

/** Why a schema cannot be used; null if it can. */
export function schemaFault(parameters: EvalTool['parameters']): string | null {
  try {
    argumentsOf(parameters);
    return null;
  } catch (cause) {
    return toAppError(cause).message;
  }
}

function argumentsOf(parameters: EvalTool['parameters']): z.ZodType<Args> {
  const form = z.fromJSONSchema(parameters);
  return z.record(z.string(), z.unknown()).superRefine((args, context) => {
    const checked = form.safeParse(args);
    for (const { message, path } of checked.success ? [] : checked.error.issues) context.addIssue({ code: 'custom', message, path });
  });
}

function answerTo(returns: EvalTool['returns'], args: Args): string {
  if (typeof returns === 'string') return returns;
  const fits = (wanted: Args): boolean => Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(args[key], value));
  return returns.find((one) => one.args === undefined || fits(one.args))?.text ?? 'There is nothing.';
}
