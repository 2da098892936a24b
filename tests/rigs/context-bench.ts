// For tests only: a conversation written event by event, as a turn does, and the pack a model would receive.

import type { EventBodies, EventType } from '../../core/contracts/events.ts';
import { Transcript, type TranscriptEvent } from '../../core/mind/context/context.ts';

const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
const limits = { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 };

export const estimateQuarter = (text: string): number => Math.ceil(text.length / 4);

export class ConversationWriter {
  readonly transcript = new Transcript({ estimate: estimateQuarter });
  readonly events: TranscriptEvent[] = [];
  #calls = 0;

  add<T extends EventType>(type: T, turnId: string | null, body: EventBodies[T]): this {
    const event = { type, turnId, sessionSeq: this.events.length + 1, body } as TranscriptEvent;
    this.events.push(event);
    this.transcript.apply(event);
    return this;
  }

  /** Adds one turn: the person's text, one call for each result, and an answer. */
  turn(turnId: string, words: string, { results = [], answer = 'ok' }: { results?: readonly string[]; answer?: string } = {}): this {
    this.add('user.message', turnId, { text: words, channel: 'cli', sender: 'ada', dedupeKey: null });
    this.add('turn.started', turnId, { kind: 'chat', agentId: 'main', model: null, limits, calls: [] });
    const calls = results.map(() => `c${(this.#calls += 1)}`);
    if (calls.length > 0) this.#reply(turnId, '', calls);
    for (const [index, callId] of calls.entries()) {
      const rest = { forUser: '', silent: false, isAsync: false, artifacts: [], tookMs: 1, resultHash: '' };
      this.add('tool.finished', turnId, { callId, tool: 'look', outcome: 'ok', forModel: results[index] ?? '', ...rest });
    }
    this.#reply(turnId, answer, []);
    const body = { status: 'done', text: '', error: null, usage, costUsd: null, modelCalls: 1, toolCalls: 0 } as const;
    return this.add('turn.finished', turnId, body);
  }

  summary(summaryId: string, text: string, toSessionSeq: number): this {
    return this.add('summary.written', null, summaryBody(summaryId, text, toSessionSeq));
  }

  #reply(turnId: string, text: string, callIds: readonly string[]): void {
    const calls = callIds.map((callId) => ({ callId, providerCallId: `p-${callId}`, tool: 'look', args: '{}' }));
    const rest = { usage, usageReported: true, costUsd: null, finishReason: 'stop', tookMs: 1, firstTokenMs: 1 } as const;
    this.add('model.finished', turnId, { requestId: 'r', text, reasoning: '', calls, ...rest });
  }
}

export function summaryBody(summaryId: string, text: string, toSessionSeq: number): EventBodies['summary.written'] {
  return {
    summaryId,
    text,
    covers: { fromSessionSeq: 1, toSessionSeq },
    replaces: null,
    reason: 'messages',
    method: 'model',
    model: 'lab/m',
    source: { messages: 1, turns: 1, results: 0, tokens: 1, shortened: 0 },
    tokens: 1,
    keptMessages: 4,
    quality: { ok: true, checked: 0, missing: [], repaired: false },
    modelCalls: 1,
    usage,
    costUsd: 0,
    tookMs: 1,
  };
}
