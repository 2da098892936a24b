// A request of a program in the door's own form, whichever API it came by. Types only.

import type { ChatImage, ReplyCall, ToolSchema, Usage } from '../../contracts/llm.ts';

export type Said =
  | { readonly role: 'user'; readonly text: string; readonly images: readonly ChatImage[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ReplyCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string };

/** `json`: any JSON object. */
export type WantedOutput =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | { readonly kind: 'schema'; readonly schema: Readonly<Record<string, unknown>> };

export interface Asked {
  readonly model: string;
  /** System and developer messages, joined. */
  readonly instructions: string;
  readonly said: readonly Said[];
  readonly tools: readonly ToolSchema[];
  readonly maxOutputTokens: number | null;
  readonly output: WantedOutput;
  readonly stream: boolean;
  /** Of a chat stream: a last chunk with the usage. */
  readonly includeUsage: boolean;
  /** The response that this one continues. */
  readonly previous: string | null;
  /** True if the items of the answer must not be kept for later requests to name. */
  readonly isForgotten?: boolean;
}

export type EndReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Answer {
  readonly text: string;
  readonly calls: readonly ReplyCall[];
  readonly usage: Usage;
  readonly endReason: EndReason;
}

/** Writes an answer in the form of one API. */
export interface AnswerWriter {
  /** Once it is certain that there will be an answer; `headers` go with it. */
  begin(headers: Readonly<Record<string, string>>): void;
  text(delta: string): void;
  /** Shows that the connection is alive while there is nothing to say. */
  alive(note: string): void;
  finish(answer: Answer): void;
}
