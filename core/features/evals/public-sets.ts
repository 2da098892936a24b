// Reads public benchmark sets from a local folder as eval cases that are graded by rules: the Berkeley function-calling leaderboard (BFCL,
// files BFCL_v*_*.json next to possible_answer), a domain of tau2-bench (tasks.json next to policy.md or db.json), and runs of AgentDojo.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { isPlainObject } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import { evalFileSchema, type EvalCases, type EvalFile } from '../../contracts/features/evals.ts';
import { readAgentDojo } from './agentdojo.ts';

type Test = EvalCases['tests'][number];
type Tool = NonNullable<Test['tools']>[number];

/** `leftOut` describes the parts that are not cases, with the reasons. */
export interface PublicSet {
  readonly file: EvalFile;
  readonly leftOut: string;
}

/** Null if the folder contains no known set. Fails with invalid_params if a set is damaged. */
export function readPublicSet(folder: string): PublicSet | null {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  try {
    const set = bfclSet(folder) ?? tauSet(folder) ?? readAgentDojo(folder);
    return set === null ? null : { file: evalFileSchema.parse({ tests: set.tests }), leftOut: set.leftOut };
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause;
    throw new AppError('invalid_params', `${folder} looks like a public set, and cannot be read as one: ${cause.message.slice(0, 300)}`);
  }
}

const bfclName = /^BFCL_v\d+_(.+)\.json$/;

const bfclCaseSchema = z.object({
  id: z.string(),
  question: z.array(z.array(z.object({ role: z.string(), content: z.string() }))).min(1),
  function: z.array(z.object({ name: z.string(), description: z.string().default(''), parameters: z.record(z.string(), z.unknown()) })),
});

const bfclAnswerSchema = z.object({
  id: z.string(),
  ground_truth: z.array(z.record(z.string(), z.record(z.string(), z.array(z.unknown())))),
});

interface Tests {
  readonly tests: Test[];
  readonly leftOut: string;
}

/** Leaves out multi-turn parts and parts without answers, which need the set's own programs. */
function bfclSet(folder: string): Tests | null {
  const names = readdirSync(folder).filter((name) => bfclName.test(name));
  if (names.length === 0) return null;
  const partOf = (name: string): string => bfclName.exec(name)?.[1] ?? '';
  const isRun = (name: string): boolean =>
    !/^(?:multi_turn|memory|web_search|format)/.test(partOf(name)) &&
    (partOf(name).endsWith('irrelevance') || existsSync(join(folder, 'possible_answer', name)));
  const others = names.filter((name) => !isRun(name)).map(partOf);
  return {
    tests: names
      .filter(isRun)
      .sort()
      .flatMap((name) => bfclTests(folder, name, partOf(name).endsWith('irrelevance'))),
    leftOut: others.length === 0 ? '' : `the parts ${others.sort().join(', ')} need the set's own programs`,
  };
}

/** Cases of one turn with their expected calls, or with none if no function fits. */
function bfclTests(folder: string, name: string, isIrrelevance: boolean): Test[] {
  const answers = join(folder, 'possible_answer', name);
  const right = new Map(isIrrelevance ? [] : linesOf(answers).map((line) => [(line as { id: string }).id, line] as const));
  return linesOf(join(folder, name)).flatMap((line): Test[] => {
    const one = bfclCaseSchema.parse(line);
    const answer = right.get(one.id);
    if (answer === undefined && !isIrrelevance) return [];
    const tools = new Map(one.function.map((tool) => [offered(tool.name), bfclTool(tool)] as const));
    const calls = answer === undefined ? [] : bfclAnswerSchema.parse(answer).ground_truth.flatMap((call) => Object.entries(call));
    return [
      {
        description: one.id,
        input: one.question.flatMap((turn) => turn.map(({ content }) => content)).join('\n\n'),
        tools: [...tools.values()],
        assert: [
          { type: 'calls', value: { count: calls.length, tools: [...tools.keys()] } },
          ...calls.map(([tool, oneOf]) => ({ type: 'tool' as const, value: { name: offered(tool), oneOf } })),
        ],
      },
    ];
  });
}

function linesOf(path: string): unknown[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as unknown);
}

/** The name in the form that model servers accept. */
function offered(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`.slice(0, 64);
}

function bfclTool({ name, description, parameters }: z.infer<typeof bfclCaseSchema>['function'][number]): Tool {
  return { name: offered(name), description, parameters: jsonSchemaOf(parameters) };
}

/** The types of Python, Java and JavaScript that the set uses. `any` accepts every type. */
const typeNames: Readonly<Record<string, string>> = {
  dict: 'object',
  HashMap: 'object',
  tuple: 'array',
  Array: 'array',
  ArrayList: 'array',
  String: 'string',
  char: 'string',
  Boolean: 'boolean',
  Integer: 'integer',
  Bigint: 'integer',
  long: 'integer',
  byte: 'integer',
  short: 'integer',
  float: 'number',
  double: 'number',
};

function jsonSchemaOf(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (key === 'type' && typeof value === 'string') {
      if (value !== 'any') made['type'] = typeNames[value] ?? value;
    } else if (key === 'properties' && isPlainObject(value)) {
      made['properties'] = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, isPlainObject(one) ? jsonSchemaOf(one) : {}]),
      );
    } else if ((key === 'items' || key === 'additionalProperties') && isPlainObject(value)) made[key] = jsonSchemaOf(value);
    else if (key === 'description' || key === 'required' || key === 'enum') made[key] = value;
  }
  return made;
}

const tauTaskSchema = z.object({
  id: z.string(),
  ticket: z.string().nullish(),
  user_scenario: z.object({ instructions: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
  evaluation_criteria: z
    .object({
      actions: z
        .array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()), requestor: z.string().optional() }))
        .nullish(),
      nl_assertions: z.array(z.string()).nullish(),
    })
    .nullish(),
});

/**
 * Each case has the whole request at once, with the policy. The set's tools are Python programs; here they return nothing, so only the
 * calls are graded.
 */
function tauSet(folder: string): Tests | null {
  const rules = join(folder, 'policy.md');
  if (!existsSync(join(folder, 'tasks.json')) || !(existsSync(rules) || existsSync(join(folder, 'db.json')))) return null;
  const policy = existsSync(rules) ? `Follow this policy:\n\n${readFileSync(rules, 'utf8')}\n\n` : '';
  const tasks = z.array(tauTaskSchema).parse(JSON.parse(readFileSync(join(folder, 'tasks.json'), 'utf8')));
  const actionsOf = ({ evaluation_criteria: criteria }: z.infer<typeof tauTaskSchema>) =>
    (criteria?.actions ?? []).filter(({ requestor }) => requestor !== 'user');
  const keys = new Map<string, Set<string>>();
  for (const { name, arguments: args } of tasks.flatMap(actionsOf))
    keys.set(name, new Set([...(keys.get(name) ?? []), ...Object.keys(args)]));
  const tools = [...keys].map(([name, names]): Tool => {
    const properties = Object.fromEntries([...names].map((key) => [key, {}]));
    return { name: offered(name), description: name.replaceAll('_', ' '), parameters: { type: 'object', properties } };
  });
  const tests = tasks.map((task): Test => {
    const { instructions } = task.user_scenario;
    const told = typeof instructions === 'string' ? instructions : Object.values(instructions).filter((text) => typeof text === 'string');
    const points = task.evaluation_criteria?.nl_assertions ?? [];
    return {
      description: task.id,
      input: `${policy}What the customer wants:\n\n${task.ticket ?? [told].flat().join('\n')}`,
      tools,
      assert: [
        ...actionsOf(task).map(({ name, arguments: args }) => ({ type: 'tool' as const, value: { name: offered(name), args } })),
        ...(points.length === 0 ? [] : [{ type: 'llm-rubric' as const, value: points.map((point) => `- ${point}`).join('\n') }]),
      ],
    };
  });
  return { tests, leftOut: '' };
}
