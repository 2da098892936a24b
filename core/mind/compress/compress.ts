// Rolling summaries: decides where a conversation may be cut, and writes the summary that replaces everything before the cut. Asks a model
// through a port, checks its text, lets it correct the text once, and builds a summary by rule if that fails. Records nothing. Model
// failures never throw; only an abort does.

import { fenced } from '../../base/fence.ts';
import { type AppError, toAppError } from '../../contracts/errors.ts';
import { type ChatMessage, noUsage } from '../../contracts/llm.ts';
import { builtInPrompt, type PromptText } from '../../contracts/own-prompts.ts';
import { addSpending, type Spending } from '../../contracts/spending.ts';
import { extractSummary, fitLines } from './extract-summary.ts';
import { checkSummary, type QualitySource, type QualityVerdict } from './summary-quality.ts';
import { sourceText } from './summary-source.ts';

/** Returns `refused` with a reason, for the record, if no model may be asked now. */
export type AskModel = (
  prompt: { readonly system: string; readonly text: string; readonly maxOutputTokens: number },
  signal: AbortSignal,
) => Promise<(Spending & { readonly text: string }) | { readonly refused: string }>;

export interface SummaryJob {
  /** The messages to cover, oldest first, without the earlier summary. */
  readonly messages: readonly ChatMessage[];
  /** The indexes of `messages` at which turns start. */
  readonly boundaries: readonly number[];
  readonly previous: string | null;
  /** The context window of the summarising model and of the model that will read the summary. */
  readonly contextTokens: number;
}

export interface SummaryDraft extends SummaryBill {
  readonly text: string;
  readonly method: 'model' | 'extract';
  readonly fallback: string | null;
  readonly tokens: number;
  readonly source: { readonly messages: number; readonly results: number; readonly tokens: number; readonly shortened: number };
  readonly quality: { readonly ok: boolean; readonly checked: number; readonly missing: string[]; readonly repaired: boolean };
}

/** The cost of a summary so far. */
export interface SummaryBill extends Spending {
  readonly modelCalls: number;
}

export const noBill: SummaryBill = { modelCalls: 0, usage: noUsage, costUsd: 0 };

export interface SummarizerDeps {
  readonly count: (text: string) => number;
  readonly ask: AskModel;
  /** Defaults to the prompt of the catalogue. */
  readonly prompt?: PromptText;
  /** Called after each answer, so that an aborted summary is charged as well. */
  readonly onSpent?: (bill: SummaryBill) => void;
}

const SUMMARY_SHARE = 0.08;
const SUMMARY_TOKENS_MIN = 160;
const SUMMARY_TOKENS_MAX = 2_500;
/** The share of the window that one request may fill with source text; the rest is for the answer. */
const SOURCE_SHARE = 0.5;
/** A longer stretch is summarised in two parts, which are then merged. */
const PART_TOKENS_MAX = 12_000;
const PARTED_FROM_MESSAGES = 10;
const CHARS_PER_TOKEN = 3;
const NAMED_MAX = 30;

/** Returns the last boundary that leaves at least `keep` messages and does not separate a call from its result. Null if there is none. */
export function planCut(boundaries: readonly number[], count: number, keep: number): number | null {
  return boundaries.findLast((index) => index <= count - keep) ?? null;
}

export class Summarizer {
  readonly #deps: SummarizerDeps;

  constructor(deps: SummarizerDeps) {
    this.#deps = deps;
  }

  /** Fails only with `cancelled`, once the signal aborts. */
  async write(job: SummaryJob, signal: AbortSignal): Promise<SummaryDraft> {
    const work = new Work(this.#deps, job, signal);
    let text = await work.ask();
    let repaired = false;
    let verdict = text === null ? null : work.check(text);
    if (text !== null && verdict?.ok === false) {
      const mended = await work.repair(text, verdict);
      const second = mended === null ? null : work.check(mended);
      if (mended !== null && second !== null && second.missing.length < verdict.missing.length)
        [text, verdict, repaired] = [mended, second, true];
    }
    return work.finish(text, verdict, repaired);
  }
}

/** The work on one summary. */
class Work {
  readonly #deps: SummarizerDeps;
  readonly #job: SummaryJob;
  readonly #signal: AbortSignal;
  readonly #prompt: PromptText;
  readonly #source: QualitySource;
  readonly #tokensMax: number;
  #fallback: string | null = null;
  #shortened = 0;
  #bill: SummaryBill = noBill;

  constructor(deps: SummarizerDeps, job: SummaryJob, signal: AbortSignal) {
    this.#deps = deps;
    this.#job = job;
    this.#signal = signal;
    this.#prompt = deps.prompt ?? builtInPrompt;
    this.#source = job;
    this.#tokensMax = Math.min(SUMMARY_TOKENS_MAX, Math.max(SUMMARY_TOKENS_MIN, Math.floor(job.contextTokens * SUMMARY_SHARE)));
  }

  /** Asks for the summary in one part or two. Null if no model answered. */
  async ask(): Promise<string | null> {
    const { messages, previous } = this.#job;
    const split = this.#splitAt();
    if (split === null) return this.#askBatch(previous, messages);
    const first = await this.#askBatch(previous, messages.slice(0, split));
    if (first === null) return null;
    const second = await this.#askBatch(null, messages.slice(split));
    if (second === null) return null;
    // If merging fails, both summaries are kept: each is still true.
    return (await this.#askModel(mergePrompt(this.#prompt, first, second))) ?? `${first}\n${second}`;
  }

  check(text: string): QualityVerdict {
    return checkSummary(text, this.#source);
  }

  repair(text: string, { missing, missingAsk }: QualityVerdict): Promise<string | null> {
    const lost = [
      ...(missingAsk === null ? [] : [`the person asked: ${missingAsk}`]),
      ...missing.slice(0, NAMED_MAX).map(({ line }) => line),
    ];
    return this.#askModel(repairPrompt(this.#prompt, text, [...new Set(lost)]));
  }

  finish(written: string | null, verdict: QualityVerdict | null, repaired: boolean): SummaryDraft {
    const { count } = this.#deps;
    const { messages, previous } = this.#job;
    const isWritten = written !== null && verdict !== null && isSummary(verdict);
    if (written !== null && !isWritten) this.#fallback = 'what the model wrote held almost nothing of the conversation';
    const text = isWritten ? this.#complete(written, verdict) : extractSummary({ messages, previous, tokensMax: this.#tokensMax, count });
    const last = this.check(text);
    return {
      text,
      method: isWritten ? 'model' : 'extract',
      fallback: isWritten ? null : (this.#fallback ?? 'no model answered'),
      tokens: count(text),
      source: {
        messages: messages.length,
        results: messages.filter(({ role }) => role === 'tool').length,
        tokens: messages.reduce((sum, message) => sum + count(message.text), 0),
        shortened: this.#shortened,
      },
      quality: { ok: last.ok, checked: last.checked, missing: last.missing.map((item) => item.text), repaired },
      ...this.#bill,
    };
  }

  /** Appends missing facts verbatim, as far as there is room. */
  #complete(written: string, { missing, missingAsk }: QualityVerdict): string {
    const { count } = this.#deps;
    const lines = [
      ...new Set(missing.map(({ line }) => `- ${line}`)),
      ...(missingAsk === null ? [] : [`- the person asked: ${missingAsk}`]),
    ];
    const lead = 'Also said, word for word:';
    const room = this.#tokensMax - count(lead) - 2;
    const added = fitLines(lines, room / 2, count);
    const body = fitText(written.trim(), this.#tokensMax - added.reduce((sum, line) => sum + count(line) + 1, count(lead) + 2), count);
    return added.length === 0 ? fitText(written.trim(), this.#tokensMax, count) : [body, lead, ...added].join('\n');
  }

  async #askBatch(previous: string | null, messages: readonly ChatMessage[]): Promise<string | null> {
    const room =
      this.#job.contextTokens * SOURCE_SHARE -
      this.#deps.count(this.#prompt('trayclaw-summary')) -
      (previous === null ? 0 : this.#deps.count(previous));
    const { text, shortened } = sourceText(messages, Math.max(600, Math.floor(room * CHARS_PER_TOKEN)));
    this.#shortened += shortened;
    return this.#askModel(batchPrompt(this.#prompt, previous, text));
  }

  async #askModel(text: string): Promise<string | null> {
    if (this.#fallback !== null) return null;
    try {
      const answer = await this.#deps.ask(
        { system: this.#prompt('trayclaw-summary'), text, maxOutputTokens: this.#tokensMax * 2 },
        this.#signal,
      );
      if ('refused' in answer) {
        this.#fallback = answer.refused;
        return null;
      }
      this.#spend(answer);
      return answer.text.trim() === '' ? null : answer.text;
    } catch (cause) {
      const error: AppError = toAppError(cause);
      if (this.#signal.aborted) throw error;
      this.#spend({ usage: noUsage, costUsd: 0 });
      this.#fallback = error.message;
      return null;
    }
  }

  #spend(spent: Spending): void {
    this.#bill = { modelCalls: this.#bill.modelCalls + 1, ...addSpending(this.#bill, spent) };
    this.#deps.onSpent?.(this.#bill);
  }

  /** Finds a split near the middle, at the start of a turn. Null if one part is enough. */
  #splitAt(): number | null {
    const { messages, boundaries, contextTokens } = this.#job;
    const tokens = messages.reduce((sum, message) => sum + this.#deps.count(message.text), 0);
    if (messages.length <= PARTED_FROM_MESSAGES || tokens <= Math.min(PART_TOKENS_MAX, contextTokens / 4)) return null;
    const middle = messages.length / 2;
    const inside = boundaries.filter((index) => index > 0 && index < messages.length);
    if (inside.length === 0) return Math.floor(middle);
    return inside.reduce((best, index) => (Math.abs(index - middle) < Math.abs(best - middle) ? index : best));
  }
}

/** Returns false for a text that contains almost nothing of its source. */
function isSummary({ checked, missing }: QualityVerdict): boolean {
  return checked === 0 || missing.length < Math.max(2, checked * 0.9);
}

function fitText(text: string, tokensMax: number, count: (text: string) => number): string {
  if (count(text) <= tokensMax) return text;
  const lines: string[] = [];
  let tokens = 0;
  for (const line of text.split('\n')) {
    const size = count(line) + 1;
    if (tokens + size <= tokensMax) {
      lines.push(line);
      tokens += size;
    }
  }
  return lines.length > 0 ? lines.join('\n') : text.slice(0, Math.max(0, Math.floor(tokensMax * 2)));
}

// Builds the prompts for a summary: the text of the catalogue, and the conversation inside tags that it cannot close.
function batchPrompt(prompt: PromptText, previous: string | null, conversation: string): string {
  return [
    ...(previous === null ? [] : ['The summary so far. Take over all that still matters:', fenced('earlier-summary', previous)]),
    prompt('trayclaw-summary-part'),
    fenced('conversation', conversation),
  ].join('\n');
}

function mergePrompt(prompt: PromptText, first: string, second: string): string {
  return [prompt('trayclaw-summary-merge'), fenced('first', first), fenced('second', second)].join('\n');
}

function repairPrompt(prompt: PromptText, summary: string, missing: readonly string[]): string {
  return [
    prompt('trayclaw-summary-repair'),
    fenced('summary', summary),
    fenced('lost', missing.map((line) => `- ${line}`).join('\n')),
  ].join('\n');
}
