// Turns the raw argument text of a call into checked arguments, once. Owns the size limit and the wording of what is wrong;
// runs nothing.

import { hash } from 'node:crypto';
import type * as z from 'zod';
import { canonicalJson, isPlainObject, parseJson } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import type { SendableTool } from './sendable-tool.ts';

export const argsBytesMax = 1_000_000;
const ISSUES_SHOWN_MAX = 8;

export interface ParsedCall {
  readonly tool: ToolDefinition;
  readonly name: string;
  /** What the tool's schema made of the arguments, defaults filled in. */
  readonly args: unknown;
  /** The text as it came, or `{}` where it was empty. */
  readonly argsJson: string;
  /** SHA-256 (hex) of the canonical JSON of the arguments as they came. */
  readonly argsHash: string;
}

/** Fails with `arguments_too_large` or `invalid_arguments`; the latter names every wrong key. */
export function parseCall(tool: ToolDefinition, argsJson: string, sendable: SendableTool): Result<ParsedCall, AppError> {
  if (argsJson.length > argsBytesMax || Buffer.byteLength(argsJson) > argsBytesMax) {
    return err(
      new AppError('arguments_too_large', `The arguments of ${tool.name} are larger than ${argsBytesMax} bytes.`, {
        data: { tool: tool.name, hint: 'Send less at once: write large content in several calls.' },
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
      const problems = describeIssues(checked.error.issues, { value: given, keys: sendable.schema.parameters['properties'] });
      return err(invalid(tool.name, problems.join('; '), problems));
    }
    const argsHash = hash('sha256', canonicalJson(json.value), 'hex');
    return ok({ tool, name: tool.name, args: checked.data, argsJson: text, argsHash });
  } catch (cause) {
    // Only text nested thousands of levels deep gets here: recursion runs out of stack.
    if (cause instanceof RangeError) return err(invalid(tool.name, 'are nested too deeply', []));
    throw cause;
  }
}

function invalid(tool: string, what: string, problems: readonly string[]): AppError {
  return new AppError('invalid_arguments', `Wrong arguments for ${tool}: ${what}.`, {
    data: { tool, ...(problems.length === 0 ? {} : { problems: [...problems] }), hint: 'Correct the named keys and call again.' },
  });
}

function describeIssues(issues: readonly z.core.$ZodIssue[], given: Given): string[] {
  const lines = issues.slice(0, ISSUES_SHOWN_MAX).flatMap((issue) => describeIssue(issue, given));
  if (issues.length > ISSUES_SHOWN_MAX) lines.push(`and ${issues.length - ISSUES_SHOWN_MAX} more`);
  return lines;
}

interface Given {
  readonly value: unknown;
  /** The keys a model is told of. */
  readonly keys: unknown;
}

function describeIssue(issue: z.core.$ZodIssue, given: Given): string[] {
  const where = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const isTold = where === '' && isPlainObject(given.keys) && Object.hasOwn(given.keys, key);
      if (isTold) return `"${shorten(key)}" does not go with the other arguments; leave it out`;
      return `"${shorten(where === '' ? key : `${where}.${key}`)}" is not a known key`;
    });
  }
  if (where === '') return [`the arguments as a whole: ${plainMessage(issue.message)}`];
  if (issue.code === 'invalid_type' && valueAt(given.value, issue.path) === undefined) {
    return [`"${where}" is missing (expected ${issue.expected})`];
  }
  return [`"${where}": ${plainMessage(issue.message)}`];
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = given;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isPlainObject(value) && Object.hasOwn(value, key)) value = value[String(key)];
    else return undefined;
  }
  return value;
}

function plainMessage(message: string): string {
  return shorten(message.replace(/^Invalid input: /, ''));
}

function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
