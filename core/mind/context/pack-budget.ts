// Divides a model's context window: the reserve for the answer, and the maximum of each section. Pure arithmetic.

import type { SourceSection } from '../../contracts/pack-source.ts';

export type PackSection = SourceSection | 'rules' | 'approvals' | 'tools';

/** The maximum share of each section in the whole budget. Unused room goes to the messages. */
export const sectionShares: Readonly<Record<PackSection, number>> = {
  identity: 0.12,
  // Rules are not repeated anywhere else, so they take precedence over tools and material.
  rules: 0.5,
  task: 0.06,
  project: 0.08,
  memory: 0.08,
  knowledge: 0.12,
  skill_cards: 0.04,
  skill_excerpt: 0.08,
  approvals: 0.03,
  tools: 0.4,
};

/** Kept free for the answer: a quarter of the window, at most this many tokens. */
const RESERVED_TOKENS_MAX = 8_192;
const SMALLER_SHARE = 0.5;
/** The next request is at most this share of the refused one, even if the server states a larger limit. */
const REFUSED_SHARE = 0.9;
/** The maximum share of the text before the messages: tools and instructions together. */
export const FIXED_SHARE_MAX = 0.65;
/** The minimum share of the messages, however much material follows them. */
export const MESSAGES_SHARE_MIN = 0.2;
/** Allows for each section being rounded up separately. */
const ROUNDING_TOKENS = 12;

/** The ratio of the server's token count to ours: one factor for the constant part of a session, one for the conversation. */
export interface TokenScale {
  readonly fixed: number;
  readonly flow: number;
}

export const evenScale: TokenScale = { fixed: 1, flow: 1 };

export interface RefusedPack {
  /** Our own count of the refused request. */
  readonly tokens: number;
  /** The server's limit and its count of the request, if stated. */
  readonly limitTokens?: number;
  readonly requestTokens?: number;
}

/**
 * Returns the window to pack for after a refusal: the limit the server named, converted to our count, or half of the request if it named
 * none.
 */
export function windowAfter({ tokens, limitTokens, requestTokens }: RefusedPack): number {
  if (limitTokens === undefined) return Math.floor(tokens * SMALLER_SHARE);
  const isCounted = requestTokens !== undefined && requestTokens > limitTokens;
  const limit = isCounted ? (limitTokens * tokens) / requestTokens : limitTokens;
  return Math.floor(Math.min(limit, tokens * REFUSED_SHARE));
}

/** `refused` is the request that the model found too large. */
export function budgetOf(contextTokens: number, refused: RefusedPack | null): { readonly window: number; readonly budgetTokens: number } {
  const window = refused === null ? contextTokens : Math.min(contextTokens, windowAfter(refused));
  const reserved = Math.min(RESERVED_TOKENS_MAX, Math.floor(window / 4));
  return { window, budgetTokens: Math.max(0, window - reserved) };
}

/** The tokens that may be divided, so that sums of rounded figures stay below the budget. */
export function spendable(budgetTokens: number): number {
  return Math.max(0, budgetTokens - ROUNDING_TOKENS);
}
