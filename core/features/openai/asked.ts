// The requests and answers of clients in a form that does not depend on the API. Types only.

import type { ChatImage, ReplyCall, ToolSchema, Usage } from '../../contracts/llm.ts';

export type Said =
  | { readonly role: 'user'; readonly text: string; readonly images: readonly ChatImage[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ReplyCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string };

/** `json` means any JSON object. */
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
  /** For a chat stream: whether a last chunk reports the usage. */
  readonly includeUsage: boolean;
  /** The response that this one continues. */
  readonly previous: string | null;
  /** True if the items of the answer must not be kept for later requests to name. */
  readonly isForgotten?: boolean;
  /** The format as the client gave it, for the API that returns it with the answer. */
  readonly format?: object;
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
  /** Called once it is certain that there will be an answer. `headers` are sent with it. */
  begin(headers: Readonly<Record<string, string>>): void;
  text(delta: string): void;
  /** Shows that the connection is alive while there is nothing to say. */
  alive(note: string): void;
  finish(answer: Answer): void;
}
