// Builds a summary by rule if no model can write one: the earlier summary and the beginning of each message, preferring the newest if there
// is no room for all. Never empty unless its source is. Pure.

import type { ChatMessage } from '../../contracts/llm.ts';
import { lineOf } from './summary-source.ts';

/** A line keeps a tenth of its message, but at least this many characters. */
const LINE_CHARS_MIN = 200;
const LINE_SHARE = 0.1;
const PREVIOUS_SHARE = 0.5;

export interface ExtractRequest {
  readonly messages: readonly ChatMessage[];
  readonly previous: string | null;
  readonly tokensMax: number;
  readonly count: (text: string) => number;
}

export function extractSummary({ messages, previous, tokensMax, count }: ExtractRequest): string {
  const before =
    previous === null
      ? []
      : fitLines(
          previous.split('\n').filter((line) => line.trim() !== ''),
          tokensMax * PREVIOUS_SHARE,
          count,
        );
  let room = tokensMax - before.reduce((sum, line) => sum + count(line) + 1, 0);
  const lines: string[] = [];
  // The person's messages are kept before all others.
  for (const wanted of [isSaid, isOther]) {
    for (const [index, message] of [...messages.entries()].reverse()) {
      if (!wanted(message)) continue;
      const line = `- ${lineOf(message, Math.max(LINE_CHARS_MIN, Math.floor(message.text.length * LINE_SHARE))).replaceAll('\n', ' ')}`;
      const size = count(line) + 1;
      if (size > room) continue;
      room -= size;
      lines[index] = line;
    }
  }
  return [...before, ...lines.filter((line) => line !== undefined)].join('\n');
}

/** Returns as many lines as fit, preferring the last ones, in their original order. */
export function fitLines(lines: readonly string[], tokensMax: number, count: (text: string) => number): string[] {
  const kept: string[] = [];
  let tokens = 0;
  for (const line of lines.toReversed()) {
    const size = count(line) + 1;
    if (tokens + size > tokensMax) continue;
    tokens += size;
    kept.unshift(line);
  }
  return kept;
}

const isSaid = (message: ChatMessage): boolean => message.role === 'user';
const isOther = (message: ChatMessage): boolean => message.role !== 'user';
