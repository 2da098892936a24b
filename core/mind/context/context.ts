// Context packs: the content of one model request within a token budget, with a record of what was dropped and why. Order: system,
// identity, rules and task, tools; summary, recent messages; memory, documents, skills, pending approvals. Everything before the messages
// stays the same from request to request; everything after them is part of one request only.

import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { ChatMessage, ModelInfo, ToolSchema } from '../../contracts/llm.ts';
import type { EventBodies } from '../../contracts/events.ts';
import { packAddenda, packReasons, packSectionOrder, packThings } from '../../contracts/pack-words.ts';
import type { ReadAttachment } from './attached-files.ts';
import type { TokenCounter } from './message-rows.ts';
import { budgetOf, evenScale, spendable, type RefusedPack, type TokenScale } from './pack-budget.ts';
import { SectionBuilder } from './pack-sections.ts';
import type { SelectedParts } from './select-parts.ts';
import type { SystemPrompt } from './system-prompt.ts';
import { withinToolLimit } from './tool-priority.ts';
import { Transcript } from './transcript.ts';

export { ownWords } from './attached-files.ts';
export { createSystemPrompt } from './system-prompt.ts';
export type { PackPart, PackSource } from '../../contracts/pack-source.ts';
export { splitTail } from './pack-tail.ts';
export type { RefusedPack } from './pack-budget.ts';
export { toolPriority, withinToolLimit } from './tool-priority.ts';
export { selectParts, type SelectedParts } from './select-parts.ts';
export { Transcript, type TranscriptEvent } from './transcript.ts';

export interface PackRequest {
  readonly packId: string;
  readonly transcript: Transcript;
  readonly model: ModelInfo;
  readonly tools: readonly ToolSchema[];
  /** True after the model refused a pack as too large. */
  readonly smaller: boolean;
  /** The refused pack. If absent, the model's window is used instead. */
  readonly refused?: RefusedPack;
  /** The agent's identity, placed after the standing instructions; empty for none. */
  readonly identity?: string;
  /** The session's own folder; null for the configured workspace. */
  readonly workspace?: string | null;
  /** The rules pinned by a person, oldest first. */
  readonly rules?: readonly string[];
  /** Pending approvals, one line each. */
  readonly approvals?: readonly string[];
  readonly selected?: SelectedParts | null;
}

export interface Pack {
  readonly event: EventBodies['pack.built'];
  readonly system: Redacted;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly Redacted<ChatMessage>[];
  /** Text placed after the messages, in this request only. */
  readonly tail: Redacted | undefined;
}

/** Known facts about a model's token counting. */
export interface TokenMeterPort {
  counterOf(ref: string): TokenCounter;
  scaleOf(ref: string): TokenScale;
}

export interface ContextDeps {
  readonly estimate: (text: string) => number;
  /** Without a meter, all counts are estimates and nothing is learned. */
  readonly meter?: TokenMeterPort;
  /** The standing instructions; the same string as long as its inputs have not changed. */
  readonly system: SystemPrompt;
  /** Removes secrets from a text before a model sees it. */
  readonly redact?: (text: string) => Redacted;
  /** Changes whenever more secrets are known. Conversations in use are then redacted again. */
  readonly secretsVersion?: () => number;
  /** Reads the beginning of an attached file. If it throws, the model sees a note that the file could not be read. */
  readonly readAttachment?: ReadAttachment;
}

/** After a drop the messages fill this share of their room, so that drops are rare and the prefix stays cached. */
const KEEP_SHARE = 0.6;
const STEPS_KEEP_SHARE = 0.8;
/** The number of texts whose token count is cached. */
const COUNTS_KEPT = 64;

export class ContextPacker {
  readonly #deps: ContextDeps;
  readonly #toolTokens = new WeakMap<readonly ToolSchema[], { readonly counter: string; readonly tokens: number }>();
  readonly #toolSizes = new WeakMap<readonly ToolSchema[], number>();
  /** Token counts by counter and text. An identical string is found without recounting it. */
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #estimate: TokenCounter;
  readonly #allowedTools = new StableTools();
  readonly #fittingTools = new StableTools();

  constructor(deps: ContextDeps) {
    this.#deps = deps;
    this.#estimate = { id: 'estimate', count: deps.estimate };
  }

  /** The standing instructions of the next pack. */
  systemText(workspace: string | null): string {
    return this.#deps.system(workspace);
  }

  /** Estimates the number of tokens in a request of this conversation, without a model. */
  sizeOf({ transcript, tools, workspace }: Pick<PackRequest, 'transcript' | 'tools'> & { readonly workspace: string | null }): number {
    const { estimate } = this.#deps;
    const counted = this.#toolSizes.get(tools) ?? (tools.length === 0 ? 0 : estimate(JSON.stringify(tools)));
    this.#toolSizes.set(tools, counted);
    return this.#countKept(this.#estimate, this.systemText(workspace)) + counted + transcript.totalTokens;
  }

  createTranscript(): Transcript {
    return new Transcript(this.#deps);
  }

  build(request: PackRequest): Pack {
    const { transcript, model } = request;
    const counter = this.#deps.meter?.counterOf(model.ref) ?? this.#estimate;
    const scale = this.#deps.meter?.scaleOf(model.ref) ?? evenScale;
    const { budgetTokens } = budgetOf(model.contextTokens, request.smaller ? (request.refused ?? { tokens: model.contextTokens }) : null);
    const builder = new SectionBuilder({
      count: (text) => this.#countKept(counter, text),
      scale,
      spendable: spendable(budgetTokens),
      redact: this.#deps.redact ?? stillRedacted,
    });
    const selected = request.selected ?? null;
    const system = this.#instructions(builder, request, selected);
    const offered = this.#allowedTools.of(request.tools, withinToolLimit(request.tools, transcript.messages));
    builder.leaveOutTools(request.tools.length - offered.length);
    const tools = this.#fittingTools.of(
      offered,
      builder.tools(offered, (list) => this.#countTools(counter, list)),
    );
    const fixedTokens = builder.tokens;
    const tail = builder.tail(selected, request.approvals ?? []);
    transcript.countWith(counter);
    const room = Math.floor(Math.max(0, spendable(budgetTokens) - builder.tokens) / scale.flow);
    const { dropped, truncated } = this.#fit(transcript, room, request.smaller);
    const flowTokens = Math.ceil(transcript.totalTokens * scale.flow);
    const { summary } = transcript;
    return {
      system,
      tools,
      messages: transcript.messages,
      tail: tail === '' ? undefined : tail,
      event: {
        packId: request.packId,
        tokens: builder.tokens + flowTokens,
        budgetTokens,
        sections: ordered([...builder.sections, { name: 'messages', tokens: flowTokens, items: transcript.count }]),
        dropped: [...(selected?.dropped ?? []), ...builder.dropped, ...dropped],
        truncated: [...builder.truncated, ...truncated],
        fromSessionSeq: transcript.fromSessionSeq,
        counted: {
          fixed: Math.round(fixedTokens / scale.fixed),
          flow: transcript.totalTokens + Math.round((builder.tokens - fixedTokens) / scale.flow),
          messages: transcript.count,
        },
        ...(summary === null ? {} : { summaryId: summary.summaryId }),
        ...(builder.parts.length === 0 ? {} : { parts: builder.parts }),
      },
    };
  }

  #instructions(builder: SectionBuilder, request: PackRequest, selected: SelectedParts | null): Redacted {
    const parts: readonly Redacted[] = [
      builder.system(this.#deps.system(request.workspace ?? null)),
      builder.text('identity', request.identity ?? ''),
      builder.instructions('identity', selected),
      builder.rules(request.rules ?? []),
      builder.instructions('task', selected),
    ];
    return stillRedacted(parts.join(''));
  }

  /**
   * Drops the oldest exchanges first, then cuts long results, then drops steps of the newest exchange, and cuts the person's text only as a
   * last resort.
   */
  #fit(transcript: Transcript, room: number, smaller: boolean): Pick<Pack['event'], 'dropped' | 'truncated'> {
    const dropped: Pack['event']['dropped'] = [];
    const truncated: Pack['event']['truncated'] = [];
    const reason = smaller ? packReasons.refused : packReasons.whole;
    const isFull = (): boolean => transcript.totalTokens > room;
    if (!isFull()) return { dropped, truncated };
    const drop = transcript.dropOldest(Math.floor(room * KEEP_SHARE));
    const isKept = transcript.summary === null ? `${reason}; ${packAddenda.unsummed}` : reason;
    if (drop.count > 0) dropped.push({ what: packThings.oldest, ...drop, reason: isKept });
    if (isFull()) truncated.push(...transcript.truncateLongest(Math.max(256, Math.floor(room / 8))).map((cut) => ({ ...cut, reason })));
    if (isFull()) {
      const steps = transcript.dropSteps(Math.floor(room * STEPS_KEEP_SHARE));
      if (steps.count > 0) dropped.push({ what: packThings.steps, ...steps, reason });
    }
    if (isFull()) truncated.push(...transcript.squeeze(room).map((cut) => ({ ...cut, reason: `${reason}; ${packAddenda.last}` })));
    return { dropped, truncated };
  }

  #countTools(counter: TokenCounter, tools: readonly ToolSchema[]): number {
    const known = this.#toolTokens.get(tools);
    if (known?.counter === counter.id) return known.tokens;
    const tokens = tools.length === 0 ? 0 : counter.count(JSON.stringify(tools));
    this.#toolTokens.set(tools, { counter: counter.id, tokens });
    return tokens;
  }

  #countKept(counter: TokenCounter, text: string): number {
    const counts = this.#counts.get(counter.id) ?? new Map<string, number>();
    this.#counts.set(counter.id, counts);
    const known = counts.get(text);
    if (known !== undefined) return known;
    const made = counter.count(text);
    if (counts.size >= COUNTS_KEPT) counts.clear();
    counts.set(text, made);
    return made;
  }
}

/** Returns the identical list as long as the tools stay the same, because adapters cache its serialised form. */
class StableTools {
  #last: { readonly all: readonly ToolSchema[]; readonly names: string; readonly kept: readonly ToolSchema[] } | null = null;

  of(all: readonly ToolSchema[], kept: readonly ToolSchema[]): readonly ToolSchema[] {
    if (kept === all) return all;
    const names = kept.map(({ name }) => name).join(' ');
    if (this.#last?.all !== all || this.#last.names !== names) this.#last = { all, names, kept };
    return this.#last.kept;
  }
}

const order: readonly string[] = packSectionOrder;

function ordered(sections: readonly Pack['event']['sections'][number][]): Pack['event']['sections'] {
  return sections.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}
