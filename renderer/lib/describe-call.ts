// Describes a tool call in one line: a verb in the right tense and its object. Only wording; the facts stay in the card.

import { objectIn } from '../../core/base/json.ts';
import type { CallFacts, ToolShown } from '../../core/contracts/tools.ts';
import type { CallState } from '../../core/contracts/turn-view.ts';
import { oneLine } from './format.ts';
import type { Words } from './i18n/words.ts';

type ChatWords = Words['chat'];

export interface CallLine {
  readonly verb: string;
  readonly target: string;
}

export interface DescribedCall {
  readonly tool: string;
  readonly args: string;
  /** `decided`: names only what was requested, whatever the outcome. */
  readonly state: CallState | 'decided';
}

/** `look` is the tool's own wording of its calls; null if it has none. */
export function describeCall({ tool, args, state }: DescribedCall, look: ToolShown | null, words: ChatWords): CallLine {
  const values = parseArguments(args);
  if (look === null || !isKnown(look.verb, words)) return { verb: tool === '' ? words.unnamedCall : tool, target: firstText(values) };
  const named = look.target.map((key) => values[key]).find((value) => typeof value === 'string' || isTexts(value));
  const text = typeof named === 'string' ? named : isTexts(named) ? named.join(', ') : null;
  const target = text === null ? firstText(values) : oneLine(text, 200);
  return { verb: verbFor(look.verb, state, words), target: target === '.' ? words.thisFolder : target };
}

/** The kind of call without its object, for counts and lists: `search the web`, `use the task list`. */
export function nameTool(tool: string, look: ToolShown | null, words: ChatWords): string {
  return look === null || !isKnown(look.verb, words) ? tool : words.verbs[look.verb].base.replace(/(?: for| to| of(?: the)?|:)$/, '');
}

/** The name of an argument as a label: `max_bytes` becomes `Max bytes`. */
export function labelOf(name: string): string {
  const label = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim()
    .toLowerCase()
    .replace(/\burl\b/, 'URL');
  return label.slice(0, 1).toUpperCase() + label.slice(1);
}

/** The arguments by name; empty if they are not a JSON object. */
export function parseArguments(args: string): Record<string, unknown> {
  return objectIn(args) ?? {};
}

/** The steps of a plan that needs approval; null for any other call. */
export function stepsOfPlan(args: string, facts: Pick<CallFacts, 'approvesPlan'>): readonly string[] | null {
  const { action, steps } = parseArguments(args);
  return facts.approvesPlan === true && action === 'propose' && isTexts(steps) ? steps : null;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

function isKnown(verb: string, { verbs }: ChatWords): verb is keyof ChatWords['verbs'] {
  return Object.hasOwn(verbs, verb);
}

function verbFor(verb: keyof ChatWords['verbs'], state: DescribedCall['state'], words: ChatWords): string {
  const { past, present, base } = words.verbs[verb];
  if (state === 'ok') return past;
  if (state === 'decided') return base;
  if (state === 'running') return present;
  if (state === 'waiting' || state === 'proposed') return words.wantsTo(base);
  if (state === 'denied' || state === 'skipped') return words.didNot(base);
  if (state === 'unknown') return words.mayHave(base);
  return words.triedTo(base);
}

function firstText(values: Record<string, unknown>): string {
  const first = Object.values(values).find((value) => typeof value === 'string' || typeof value === 'number');
  return first === undefined ? '' : oneLine(String(first), 200);
}
