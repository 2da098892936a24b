// Turns the raw argument text of a call into checked arguments, once. Enforces the size limit and words the errors; runs nothing.

import { hash } from 'node:crypto';
import { canonicalJson, isPlainObject, parseJson } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { assertNamed, type NameChecks } from '../../contracts/named-things.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import type { SendableTool } from './sendable-tool.ts';

export const argsBytesMax = 1_000_000;

export interface ParsedCall {
  readonly tool: ToolDefinition;
  readonly name: string;
  /**
   * The arguments as parsed by the tool's schema, with defaults filled in. Frozen, so that the arguments that were judged are the ones that
   * run.
   */
  readonly args: unknown;
  /** The text as received, or `{}` if it was empty. */
  readonly argsJson: string;
  /** SHA-256 (hex) of the canonical JSON of the arguments as received. */
  readonly argsHash: string;
}

interface ReadingOfCalls {
  readonly sendable: SendableTool;
  readonly names: NameChecks | null;
}

/** Fails with `arguments_too_large` or `invalid_arguments`; the latter names every wrong key. */
export function parseCall(tool: ToolDefinition, argsJson: string, { sendable, names }: ReadingOfCalls): Result<ParsedCall, AppError> {
  if (argsJson.length > argsBytesMax || Buffer.byteLength(argsJson) > argsBytesMax) {
    return err(
      new AppError('arguments_too_large', `The arguments of ${tool.name} are larger than ${argsBytesMax} bytes.`, {
        data: { tool: tool.name },
        hint: 'Send less at once: write large content in several calls.',
      }),
    );
  }
  const text = argsJson.trim() === '' ? '{}' : argsJson;
  const json = parseJson(text);
  if (!json.ok) return err(invalid(tool.name, `is not valid JSON (${json.error})`, []));
  try {
    const given = sendable.fromModel(json.value);
    const checked = tool.input.safeParse(given);
    if (!checked.success) {
      const told = sendable.schema.parameters['properties'];
      const problems = describeIssues(checked.error.issues, { given, whole: 'the arguments as a whole', told });
      return err(invalid(tool.name, problems.join('; '), problems));
    }
    if (names !== null) assertNamed(tool.input, checked.data, names);
    const argsHash = hash('sha256', canonicalJson(json.value), 'hex');
    return ok({ tool, name: tool.name, args: frozen(checked.data), argsJson: text, argsHash });
  } catch (cause) {
    if (isAppError(cause)) return err(invalid(tool.name, cause.told().replace(/\.$/, ''), []));
    // Only text nested thousands of levels deep gets here: the recursion overflows the stack.
    if (cause instanceof RangeError) return err(invalid(tool.name, 'are nested too deeply', []));
    throw cause;
  }
}

function frozen(value: unknown): unknown {
  if (!Array.isArray(value) && !(isPlainObject(value) && Object.getPrototypeOf(value) === Object.prototype)) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

function invalid(tool: string, what: string, problems: readonly string[]): AppError {
  return new AppError('invalid_arguments', `Wrong arguments for ${tool}: ${what}.`, {
    data: { tool, ...(problems.length === 0 ? {} : { problems: [...problems] }) },
    hint: 'Correct the named keys and call again.',
  });
}
