// Context packs: what the model sees in one request, under a token budget, with what was dropped and why.
// Order: system, identity, recent messages, tool digest. The prefix stays the same from request to request.

import type { ChatMessage, ModelInfo, ToolSchema } from '../../contracts/llm.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { ReadAttachment } from './attached-files.ts';
import { Transcript } from './transcript.ts';

export { createSystemPrompt } from './system-prompt.ts';
export { Transcript, type TranscriptEvent } from './transcript.ts';

export interface PackRequest {
  readonly packId: string;
  readonly transcript: Transcript;
  readonly model: ModelInfo;
  readonly tools: readonly ToolSchema[];
  /** True after the model refused a pack as too large. */
  readonly smaller: boolean;
}

export interface Pack {
  readonly event: EventBodies['pack.built'];
  readonly system: string;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly ChatMessage[];
}

export interface ContextDeps {
  readonly estimate: (text: string) => number;
  /** The standing instructions; the same text as long as nothing it tells has changed. */
  readonly system: () => string;
  /** Takes secrets out of a text before a model sees it. */
  readonly redact?: (text: string) => string;
  /** The beginning of a file that was sent along. May throw; then the model is told that it could not be read. */
  readonly readAttachment?: ReadAttachment;
}

/** Kept free for the answer: a quarter of the window, at most this many tokens. */
const RESERVED_TOKENS_MAX = 8_192;
/** After a drop the messages fill this share of their room, so that the next drops are far apart and the prefix stays cached. */
const KEEP_SHARE = 0.6;
const SMALLER_SHARE = 0.5;

export class ContextPacker {
  readonly #deps: ContextDeps;
  readonly #toolTokens = new WeakMap<readonly ToolSchema[], number>();
  #system = { text: '', tokens: 0 };

  constructor(deps: ContextDeps) {
    this.#deps = deps;
  }

  /** The standing instructions as the next pack will hold them. */
  get systemText(): string {
    return this.#readSystem().text;
  }

  createTranscript(): Transcript {
    return new Transcript(this.#deps);
  }

  build(request: PackRequest): Pack {
    const { transcript, model, tools } = request;
    const system = this.#readSystem();
    const toolTokens = this.#countTools(tools);
    const window = request.smaller ? Math.floor(model.contextTokens * SMALLER_SHARE) : model.contextTokens;
    const reserved = Math.min(RESERVED_TOKENS_MAX, Math.floor(window / 4));
    const budgetTokens = window - reserved;
    const room = Math.max(0, budgetTokens - system.tokens - toolTokens);
    const dropped: Pack['event']['dropped'] = [];
    const truncated: Pack['event']['truncated'] = [];
    if (transcript.totalTokens > room) {
      const reason = request.smaller ? 'the model refused a larger pack' : 'the token budget of the pack';
      const drop = transcript.dropOldest(Math.floor(room * KEEP_SHARE));
      if (drop.count > 0) dropped.push({ what: 'oldest messages', count: drop.count, tokens: drop.tokens, reason });
      if (transcript.totalTokens > room) {
        for (const cut of transcript.truncateLongest(Math.max(256, Math.floor(room / 8)))) truncated.push({ ...cut, reason });
      }
    }
    return {
      system: system.text,
      tools,
      messages: transcript.messages,
      event: {
        packId: request.packId,
        tokens: system.tokens + toolTokens + transcript.totalTokens,
        budgetTokens,
        sections: [
          { name: 'system', tokens: system.tokens, items: 1 },
          { name: 'messages', tokens: transcript.totalTokens, items: transcript.count },
          { name: 'tools', tokens: toolTokens, items: tools.length },
        ],
        dropped,
        truncated,
        fromSessionSeq: transcript.fromSessionSeq,
      },
    };
  }

  #readSystem(): { text: string; tokens: number } {
    const text = this.#deps.system();
    if (text !== this.#system.text) this.#system = { text, tokens: this.#deps.estimate(text) };
    return this.#system;
  }

  #countTools(tools: readonly ToolSchema[]): number {
    const known = this.#toolTokens.get(tools);
    if (known !== undefined) return known;
    const tokens = tools.length === 0 ? 0 : this.#deps.estimate(JSON.stringify(tools));
    this.#toolTokens.set(tools, tokens);
    return tokens;
  }
}
