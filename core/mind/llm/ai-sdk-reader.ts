// Collects a stream of AI SDK parts (V4) into a reply. The packages order parts differently: tool calls with or without input
// parts, empty deltas, deltas after an end, part types nobody has heard of. All are accepted.

import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { FinishReason, Usage } from '../../contracts/llm.ts';
import { argsText, count, cutOff, type ProgressSink, type RawReply } from './reply-reader.ts';

interface CallDraft {
  readonly id: string;
  name: string;
  pieces: string;
  /** The finished input; wins over the pieces. */
  input: string | null;
}

const finishReasons: Readonly<Record<LanguageModelV4FinishReason['unified'], FinishReason | null>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  other: 'other',
  error: null,
  interrupted: null,
};

export class AiSdkReader {
  readonly #provider: string;
  readonly #sink: ProgressSink;
  #text = '';
  #reasoning = '';
  readonly #calls: CallDraft[] = [];
  #finish: FinishReason | null = null;
  #usage: Usage | null = null;

  constructor(provider: string, sink: ProgressSink) {
    this.#provider = provider;
    this.#sink = sink;
  }

  /** Takes every part but `error`, which the client maps and throws. */
  part(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-delta':
        if (part.delta === '') return;
        this.#text += part.delta;
        this.#sink.text(part.delta);
        return;
      case 'reasoning-delta':
        if (part.delta === '') return;
        this.#reasoning += part.delta;
        this.#sink.reasoning?.(part.delta);
        return;
      case 'tool-input-start':
        this.#draft(part.id).name = part.toolName;
        return;
      case 'tool-input-delta':
        this.#draft(part.id).pieces += part.delta;
        return;
      case 'tool-call':
        this.#call(part.toolCallId, part.toolName, part.input);
        return;
      case 'finish':
        this.#end(part.finishReason, part.usage);
        return;
      default:
    }
  }

  finish(): RawReply {
    if (this.#finish === null) throw cutOff(this.#provider);
    const calls = this.#calls.map((draft) => ({ id: draft.id, tool: draft.name, args: draft.input ?? draft.pieces }));
    const finishReason = calls.length > 0 && (this.#finish === 'stop' || this.#finish === 'other') ? 'tool_calls' : this.#finish;
    return { text: this.#text, reasoning: this.#reasoning, calls, usage: this.#usage, finishReason };
  }

  #call(id: string, name: string, input: unknown): void {
    const open = id === '' ? undefined : this.#calls.find((draft) => draft.id === id && draft.input === null);
    const draft = open ?? this.#addDraft(id);
    draft.name = name;
    draft.input = argsText(input);
  }

  #draft(id: string): CallDraft {
    return this.#calls.findLast((draft) => draft.id === id && draft.input === null) ?? this.#addDraft(id);
  }

  #addDraft(id: string): CallDraft {
    this.#sink.began?.();
    const draft: CallDraft = { id, name: '', pieces: '', input: null };
    this.#calls.push(draft);
    return draft;
  }

  #end(reason: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): void {
    const hasUsage = usage.inputTokens.total !== undefined || usage.outputTokens.total !== undefined;
    // The packages close a broken stream with this part too; then it carries neither the vendor's reason nor a usage.
    const isBroken = reason.unified === 'other' && reason.raw === undefined && !hasUsage;
    this.#finish = isBroken ? null : finishReasons[reason.unified];
    if (!hasUsage) return;
    const inputTokens = count(usage.inputTokens.total);
    this.#usage = {
      inputTokens,
      outputTokens: count(usage.outputTokens.total),
      cachedInputTokens: Math.min(count(usage.inputTokens.cacheRead), inputTokens),
    };
  }
}
