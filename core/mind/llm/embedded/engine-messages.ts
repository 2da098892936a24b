// The messages between the program and the engine's child process: plain data over the channel that the child was started with. Nothing
// else reaches the child, and it opens no port.

import type { ToolSchema } from '../../../contracts/llm.ts';

export interface EngineToolCall {
  readonly id: string;
  readonly name: string;
  /** A JSON object; templates serialise it themselves. */
  readonly args: Readonly<Record<string, unknown>>;
}

export type EngineMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly calls: readonly EngineToolCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly name: string; readonly content: string };

export interface LoadOrder {
  /** The folder that contains the installed engine's node_modules. */
  readonly library: string;
  readonly file: string;
  /** The largest window wanted; the file's own window and the free memory may make it smaller. */
  readonly contextTokens: number;
  readonly threads: number;
}

export interface CompleteOrder {
  readonly messages: readonly EngineMessage[];
  readonly tools: readonly ToolSchema[];
  readonly maxTokens: number | null;
  /** The schema of the answer; null for free text. */
  readonly output: Readonly<Record<string, unknown>> | null;
}

export type EngineOrder =
  | ({ readonly kind: 'load' } & LoadOrder)
  | ({ readonly kind: 'complete'; readonly id: number } & CompleteOrder)
  | { readonly kind: 'embed'; readonly id: number; readonly texts: readonly string[] }
  | { readonly kind: 'cancel'; readonly id: number };

export interface EngineAnswer {
  readonly calls: readonly { readonly name: string; readonly args: string }[];
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly finish: 'stop' | 'tool_calls' | 'length';
}

/** `too-long`: the request does not fit the window. `refused`: the model or its template does not support it. `failed`: anything else. */
export type EngineFailure =
  | { readonly why: 'too-long'; readonly requestTokens: number; readonly limitTokens: number }
  | { readonly why: 'refused' | 'failed'; readonly message: string };

export type EngineReport =
  | { readonly kind: 'loaded'; readonly contextTokens: number }
  | { readonly kind: 'text' | 'reasoning'; readonly id: number; readonly text: string }
  /** A call has begun; the complete call is part of the answer. */
  | { readonly kind: 'calling'; readonly id: number }
  /** The prompt is still being read. */
  | { readonly kind: 'alive'; readonly id: number }
  | { readonly kind: 'answered'; readonly id: number; readonly answer: EngineAnswer }
  | { readonly kind: 'embedded'; readonly id: number; readonly vectors: readonly (readonly number[])[]; readonly tokens: number }
  | { readonly kind: 'cancelled'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: EngineFailure }
  | { readonly kind: 'not-loaded'; readonly message: string };

/** Takes an answer while it is written. */
export interface AnswerSink {
  text(piece: string): void;
  reasoning(piece: string): void;
  calling(): void;
  alive(): void;
}
