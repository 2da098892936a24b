// Runs composed skills: a run is a subagent whose "model" is the skill's list of steps. So every step is a call like any other: gated,
// bounded, paid for by the caller, recorded, and resumed after a crash. Owns who may run what and how deep, and prevents a skill from
// running itself.

import { AppError } from '../../contracts/errors.ts';
import { noUsage, type ChatMessage, type ModelReply, type ReplyCall } from '../../contracts/llm.ts';
import type { TaintSource, ToolContext } from '../../contracts/tools.ts';
import { isTrusted, type LoadedSkill } from './loaded-skill.ts';
import { nextStep, readSteps, type SkillSteps, type StepDone } from './skill-steps.ts';

type RunPlace = Pick<ToolContext, 'sessionId' | 'turnId' | 'callId'>;

/** The part of the subagent queue that a run uses. */
export interface RunHelpers {
  call(
    from: RunPlace,
    wanted: { readonly task: string; readonly label: string; readonly model: string; readonly mode: 'wait' },
  ): { readonly jobId: string };
  /** Rejects with `cancelled` when the signal aborts. */
  whenFinished(
    jobId: string,
    signal: AbortSignal,
  ): Promise<{ readonly helperSessionId: string | null; readonly status: string | null; readonly text: string }>;
  /** The models of the subagents above a turn, nearest first; null for a subagent that uses its agent's model. */
  modelsAbove(turnId: string): readonly (string | null)[];
  sourcesOf(sessionId: string): readonly TaintSource[];
}

export interface SkillRunsDeps {
  readonly skills: { fresh(name: string): LoadedSkill };
  /** Fails with denied for a skill that is disabled or expired. */
  readonly assertUsable: (name: string) => void;
  readonly depthMax: number;
  readonly helpers: RunHelpers;
  readonly nextCallId: () => string;
}

const PREFIX = 'skill/';
const INPUT_CHARS_MAX = 50_000;

export function isSkillModel(ref: string): boolean {
  return ref.startsWith(PREFIX);
}

export class SkillRuns {
  readonly #deps: SkillRunsDeps;

  constructor(deps: SkillRunsDeps) {
    this.#deps = deps;
  }

  /**
   * Fails with not_found, with denied for a skill that may not run, with invalid_arguments for an invalid input, and with the errors of a
   * subagent.
   */
  async run(
    name: string,
    input: Readonly<Record<string, unknown>>,
    place: RunPlace & { readonly signal: AbortSignal },
  ): Promise<{ readonly text: string; readonly isError: boolean; readonly untrusted: readonly TaintSource[] }> {
    const helpers = this.#deps.helpers;
    this.#assertPlace(name, helpers.modelsAbove(place.turnId));
    const task = taskOf(name, this.#steps(name), input);
    const { sessionId, turnId, callId } = place;
    const { jobId } = helpers.call(
      { sessionId, turnId, callId },
      { task, label: `skill ${name}`, model: `${PREFIX}${name}`, mode: 'wait' },
    );
    const ended = await helpers.whenFinished(jobId, place.signal);
    const untrusted = helpers.sourcesOf(ended.helperSessionId ?? '');
    if (ended.status === 'done') return { text: ended.text, isError: false, untrusted };
    return { text: ended.text === '' ? `The skill ${name} was ended: ${ended.status ?? 'failed'}.` : ended.text, isError: true, untrusted };
  }

  /** Returns the next step. Checks the skill each time, so that changed files end the run. Fails with tool_failed or denied. */
  reply(ref: string, messages: readonly ChatMessage[]): ModelReply {
    const name = ref.slice(PREFIX.length);
    const next = nextStep(name, this.#steps(name), inputIn(messages), doneIn(messages));
    if (next.kind === 'failed') throw new AppError('tool_failed', next.message);
    const calls: ReplyCall[] =
      next.kind === 'call' ? [{ id: this.#deps.nextCallId(), tool: next.tool, args: JSON.stringify(next.args) }] : [];
    const finishReason = next.kind === 'call' ? 'tool_calls' : 'stop';
    return { text: next.kind === 'end' ? next.text : '', reasoning: '', calls, usage: noUsage, usageReported: true, finishReason };
  }

  #steps(name: string): SkillSteps {
    const skill = this.#deps.skills.fresh(name);
    this.#deps.assertUsable(name);
    if (!isTrusted(skill)) {
      throw new AppError('denied', `The skill ${name} is not run: you have not trusted its files as they are now.`, {
        hint: `Review it, then trust it with: trayclaw skills trust ${name}`,
      });
    }
    const steps = readSteps(skill.folder, skill.tree.files);
    if (steps === null)
      throw new AppError('not_found', `The skill ${name} has no steps to run; it is instructions.`, { hint: 'Open it and follow them.' });
    if (!steps.ok) throw new AppError('denied', `The skill ${name} cannot be run. ${steps.error}`);
    this.#assertDeclared(skill, steps.value);
    return steps.value;
  }

  /** The tools that a skill declares limit its steps, and the skills that its steps run. */
  #assertDeclared({ head }: LoadedSkill, { steps }: SkillSteps): void {
    if (head.tools.length === 0) return;
    const beyond = steps.flatMap(({ tool, skill }) => {
      if (tool !== undefined) return head.tools.includes(tool) ? [] : [tool];
      const inner = skill === undefined ? [] : this.#deps.skills.fresh(skill).head.tools;
      return inner.filter((one) => !head.tools.includes(one)).map((one) => `${one} (by way of ${skill ?? ''})`);
    });
    if (beyond.length === 0) return;
    throw new AppError('denied', `The skill ${head.name} is not run: its steps use ${beyond.join(', ')}, which it does not declare.`, {
      hint: 'Its author adds what it uses to trayclaw-tools in its head; then look at it again and trust it.',
    });
  }

  #assertPlace(name: string, above: readonly (string | null)[]): void {
    const chain = above.flatMap((model) => (model !== null && isSkillModel(model) ? [model.slice(PREFIX.length)] : [])).reverse();
    const path = [...chain, name].join(' → ');
    if (chain.includes(name)) throw new AppError('denied', `A skill does not run itself: ${path}.`);
    if (chain.length < this.#deps.depthMax) return;
    throw new AppError('denied', `Skills run skills ${this.#deps.depthMax} levels deep, and ${path} is one more.`, {
      hint: 'The user may raise skills.depth.',
    });
  }
}

const INPUT_LINE = 'Input: ';

function taskOf(name: string, { input: declared }: SkillSteps, input: Readonly<Record<string, unknown>>): string {
  const missing = Object.keys(declared).filter((key) => !Object.hasOwn(input, key));
  const unknown = Object.keys(input).filter((key) => !Object.hasOwn(declared, key));
  const text = JSON.stringify(input);
  if (missing.length > 0 || unknown.length > 0 || text.length > INPUT_CHARS_MAX) {
    const takes = Object.entries(declared).map(([key, about]) => `${key} (${about})`);
    const wrong = missing.length > 0 ? `lacks ${missing.join(', ')}` : unknown.length > 0 ? `has ${unknown.join(', ')}` : 'is too large';
    throw new AppError('invalid_arguments', `The input ${wrong}. The skill ${name} takes: ${takes.join('; ') || 'nothing'}.`);
  }
  return `Run the skill ${name}.\n${INPUT_LINE}${text}`;
}

function inputIn(messages: readonly ChatMessage[]): Readonly<Record<string, unknown>> {
  const task = messages.find(({ role }) => role === 'user')?.text ?? '';
  const line = task.split('\n').find((one) => one.startsWith(INPUT_LINE));
  if (line === undefined) throw new AppError('tool_failed', 'The input of the skill is no longer in its session.');
  return JSON.parse(line.slice(INPUT_LINE.length)) as Readonly<Record<string, unknown>>;
}

function doneIn(messages: readonly ChatMessage[]): StepDone[] {
  return messages.flatMap((message) => (message.role === 'tool' ? [{ text: message.text, isError: message.isError }] : []));
}
