// The provider-neutral types of the model port: messages, tool schemas, requests, replies, usage.

import type { Redacted } from '../base/redacted.ts';
import type { SentSchema } from '../base/sendable-schema.ts';
import * as z from 'zod';

export const usageSchema = z.object({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  cachedInputTokens: z.number().int().nonnegative(),
});
export type Usage = z.infer<typeof usageSchema>;

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };

/** A tool call as the model requested it. `args` is the raw, unchecked JSON text. */
export const requestedCallSchema = z.object({
  callId: z.string(),
  /** The id that the model gave; tool results refer to it. */
  providerCallId: z.string(),
  tool: z.string(),
  args: z.string(),
  /** Names of secrets that were removed from the arguments. A call that lacks them is not made. */
  withheld: z.array(z.string()).optional(),
});
export type RequestedCall = z.infer<typeof requestedCallSchema>;

export const finishReasons = ['stop', 'tool_calls', 'length', 'content_filter', 'other'] as const;
export const finishReasonSchema = z.enum(finishReasons);
export type FinishReason = z.infer<typeof finishReasonSchema>;

/**
 * How OpenAI's newer models label what they say: a comment between their calls, or the answer. They want each label back with its text.
 * Source: OpenAI API reference, responses, `phase` of a message (2026).
 */
export const replyPhaseSchema = z.enum(['commentary', 'final_answer']);
export type ReplyPhase = z.infer<typeof replyPhaseSchema>;

/** An image that a person attached or a tool returned. A model without vision gets a note instead. */
export interface ChatImage {
  readonly name: string;
  readonly mediaType: string;
  readonly base64: string;
}

export type ChatMessage =
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly ChatImage[] }
  /** A note from the runtime to the model (steering, reflection). Never a person's text. */
  | { readonly role: 'note'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: string }[];
      readonly phase?: ReplyPhase;
    }
  | {
      readonly role: 'tool';
      readonly id: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
      readonly images?: readonly ChatImage[];
    };

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The form of a structured answer. */
export interface OutputForm {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** An object schema that every model server accepts (core/base/sendable-schema.ts). */
  readonly schema: SentSchema;
}

/** The maximum number of tools that every vendor accepts in one request. */
export const TOOLS_MAX = 128;

export interface ModelRequest {
  /** The provider's own model id. */
  readonly modelId: string;
  readonly system: string;
  /** The same array object between requests, so that adapters can cache its serialized form. */
  readonly tools: readonly ToolSchema[];
  /**
   * Append-only: the same array object only grows, and a changed history is a new array. Adapters cache its serialized form, so that the
   * cost of a step does not grow with the session.
   */
  readonly messages: readonly ChatMessage[];
  /** Sent after the messages, in this request only. It is never kept, so that the prefix before it stays cached. */
  readonly tail?: string;
  readonly maxOutputTokens?: number;
  /**
   * The answer must be JSON of this form. Not every server enforces that, so a caller also describes the form in the prompt and checks the
   * answer.
   */
  readonly output?: OutputForm;
}

export type SafeRequest = Omit<ModelRequest, 'modelId' | 'system' | 'messages' | 'tail'> & {
  readonly system: Redacted;
  readonly messages: readonly Redacted<ChatMessage>[];
  readonly tail?: Redacted;
};

export interface ReplyCall {
  readonly id: string;
  readonly tool: string;
  readonly args: string;
}

export interface ModelReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ReplyCall[];
  readonly usage: Usage;
  /** True if the server reported usage; otherwise `usage` is an estimate or zero. */
  readonly usageReported: boolean;
  readonly finishReason: FinishReason;
  readonly phase?: ReplyPhase;
  /** The cost that the server states; absent if the price follows from the usage. */
  readonly costUsd?: number;
}

export interface DeltaSink {
  text(delta: string): void;
  reasoning?(delta: string): void;
}

/** The client of one provider. Fails with an AppError (`model_*`); an aborted call fails with `cancelled`. */
export interface ModelClient {
  stream(request: ModelRequest, sink: DeltaSink, signal: AbortSignal): Promise<ModelReply>;
  close?(): void | Promise<void>;
}

export interface ModelInfo {
  /** `provider/model-id`, as in the configuration. */
  readonly ref: string;
  readonly contextTokens: number;
  /** US dollars per million tokens; null if unknown. */
  readonly inputUsdPerMillion: number | null;
  readonly cachedInputUsdPerMillion: number | null;
  readonly outputUsdPerMillion: number | null;
  /** The rates for requests with more input than `overTokens`, if the vendor charges long requests differently. */
  readonly long?: { readonly overTokens: number; readonly input: number; readonly cachedInput: number | null; readonly output: number };
}
