// The steps of a composed skill: a `steps.yaml` next to its SKILL.md that lists tools and other skills in order. Reads the file, and
// determines the next call from the results so far. Performs nothing.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type SkillFinding, skillNameSchema } from '../../contracts/features/skills.ts';

export const STEPS_FILE = 'steps.yaml';
const BYTES_MAX = 100_000;
const STEPS_MAX = 20;
/** The maximum number of characters that a step's result may add to the arguments of a later step. */
const FILLED_CHARS_MAX = 200_000;

const word = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be a short name in small letters, digits and _');
const values = z.record(z.string(), z.unknown());

const stepSchema = z
  .strictObject({
    tool: z.string().min(1).max(64).optional(),
    skill: skillNameSchema.optional(),
    /** The arguments of a tool, or the input of a skill. `{{input.x}}` and `{{step}}` are replaced. */
    with: values.default({}),
    /** The name by which later steps refer to the result. */
    as: word.optional(),
  })
  .refine(({ tool, skill }) => (tool === undefined) !== (skill === undefined), 'name either a tool or a skill');

const stepsSchema = z
  .strictObject({
    /** The inputs: names and their meanings. */
    input: z.record(word, z.string().max(500)).default({}),
    steps: z.array(stepSchema).min(1).max(STEPS_MAX),
    /** The output; defaults to the result of the last step. */
    output: z.string().max(20_000).optional(),
  })
  .check(({ value, issues }) => {
    for (const message of strayNames(value)) issues.push({ code: 'custom', message, input: value, path: ['steps'] });
  });
export type SkillSteps = z.infer<typeof stepsSchema>;
type SkillStep = SkillSteps['steps'][number];

/** Null for a skill without steps; a sentence if the file is invalid. */
export function readSteps(folder: string, files: readonly { readonly path: string }[]): Result<SkillSteps, string> | null {
  if (!files.some(({ path }) => path === STEPS_FILE)) return null;
  const path = join(folder, STEPS_FILE);
  try {
    if (statSync(path).size > BYTES_MAX) return err(`${STEPS_FILE} is larger than ${BYTES_MAX} bytes.`);
    const given: unknown = parse(readFileSync(path, 'utf8'), { uniqueKeys: false, logLevel: 'silent' });
    const parsed = stepsSchema.safeParse(given);
    return parsed.success ? ok(parsed.data) : err(describeIssues(parsed.error.issues, { given, whole: STEPS_FILE }).join('; '));
  } catch (cause) {
    return err(`${STEPS_FILE} cannot be read: ${cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)}`);
  }
}

export function lintSteps(steps: Result<SkillSteps, string> | null): SkillFinding[] {
  return steps === null || steps.ok ? [] : [{ rule: 'steps-form', severity: 'error', message: steps.error, line: null }];
}

export function skillsOf(steps: Result<SkillSteps, string> | null): string[] {
  return steps?.ok === true ? steps.value.steps.flatMap(({ skill }) => (skill === undefined ? [] : [skill])) : [];
}

export interface StepDone {
  readonly text: string;
  readonly isError: boolean;
}

export type NextStep =
  | { readonly kind: 'call'; readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'end'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Returns the next step after the results so far. */
export function nextStep(name: string, steps: SkillSteps, input: Readonly<Record<string, unknown>>, done: readonly StepDone[]): NextStep {
  const failed = done.findIndex(({ isError }) => isError);
  if (failed >= 0) {
    const step = steps.steps[failed];
    const what = step === undefined ? '' : ` (${nameOf(step)})`;
    return {
      kind: 'failed',
      message: `The skill ${name} stopped at step ${failed + 1} of ${steps.steps.length}${what}: ${done[failed]?.text ?? ''}`,
    };
  }
  const slots = new Map<string, unknown>(Object.entries(input).map(([key, value]) => [`input.${key}`, value]));
  for (const [index, { text }] of done.entries()) {
    const as = steps.steps[index]?.as;
    if (as !== undefined) slots.set(as, text);
  }
  const step = steps.steps[done.length];
  if (step === undefined)
    return { kind: 'end', text: steps.output === undefined ? (done.at(-1)?.text ?? '') : textOf(fill(steps.output, slots)) };
  const filled = fill(step.with, slots) as Readonly<Record<string, unknown>>;
  if (JSON.stringify(filled).length > FILLED_CHARS_MAX)
    return {
      kind: 'failed',
      message: `The skill ${name} stopped before step ${done.length + 1} (${nameOf(step)}): its arguments would be too large.`,
    };
  if (step.tool !== undefined) return { kind: 'call', tool: step.tool, args: filled };
  return { kind: 'call', tool: 'skill', args: { action: 'run', name: step.skill, input: filled } };
}

function nameOf({ tool, skill }: SkillStep): string {
  return tool ?? `skill ${skill ?? ''}`;
}

const slot = /\{\{\s*([a-z][a-z0-9_.]*)\s*\}\}/g;

/** A text that consists of a single slot becomes its value, so that numbers and lists keep their type. */
function fill(value: unknown, slots: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => fill(one, slots));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, slots)]));
  if (typeof value !== 'string') return value;
  const only = /^\{\{\s*([a-z][a-z0-9_.]*)\s*\}\}$/.exec(value)?.[1];
  if (only !== undefined) return slots.get(only) ?? '';
  return value.replaceAll(slot, (_, name: string) => textOf(slots.get(name) ?? ''));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Slots that nothing can fill: undeclared inputs, and steps that come later or have no name. */
function strayNames({ input, steps, output }: z.infer<typeof bareSchema>): string[] {
  const known = new Set(Object.keys(input).map((key) => `input.${key}`));
  const stray = (value: unknown): string[] =>
    [...JSON.stringify(value ?? '').matchAll(slot)].flatMap(([, name = '']) => (known.has(name) ? [] : [name]));
  const found: string[] = [];
  for (const [index, step] of steps.entries()) {
    found.push(
      ...stray(step.with).map((name) => `step ${index + 1} takes {{${name}}}, which is neither a declared input nor an earlier step`),
    );
    if (step.as !== undefined) known.add(step.as);
  }
  return [...found, ...stray(output).map((name) => `the output takes {{${name}}}, which is neither a declared input nor a step`)];
}

const bareSchema = z.object({ input: z.record(z.string(), z.string()), steps: z.array(stepSchema), output: z.string().optional() });
