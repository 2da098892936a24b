// Checks by rule whether a summary keeps the essentials of its source: names, numbers, paths, and the person's last request. Uses no model
// and knows no prompts.

import type { ChatMessage } from '../../contracts/llm.ts';
import { lineOf } from './summary-source.ts';

export interface KeyItem {
  readonly text: string;
  /** The line that contains the item. */
  readonly line: string;
}

export interface QualityVerdict {
  readonly ok: boolean;
  readonly checked: number;
  readonly missing: readonly KeyItem[];
  /** The person's last request, if the summary keeps too little of it. */
  readonly missingAsk: string | null;
}

export interface QualitySource {
  readonly messages: readonly ChatMessage[];
  readonly previous: string | null;
}

const ITEMS_MAX = 60;
const FOUND_SHARE = 0.7;
const ASK_SHARE = 0.4;
const LINE_CHARS_MAX = 240;
/** Only this much of each message is checked: text further down is rarely essential. */
const MESSAGE_CHARS_LOOKED_AT = 6_000;

/** Paths, addresses, numbers with a unit or two digits, and identifiers that contain a symbol or a digit. */
const exactPattern =
  /https?:\/\/[^\s<>"')\]]+|[\w.+-]+@[\w-]+\.[\w.]+|(?:~|\.{0,2})?(?:\/[\w.@-]+){2,}|[$€£]?\d[\d.,:/-]*\d%?|\b[A-Za-z]+[_-]?\d[\w-]*\b|\b\w+_\w+\b|\b\w+\.(?:ts|js|py|md|json|ya?ml|txt|csv|pdf|html?)\b/g;
/** Names: capitalised words inside a sentence. */
const namePattern = /(?<=[\p{Ll},;:(] )\p{Lu}[\p{L}-]{2,}(?: \p{Lu}[\p{L}-]{2,})*/gu;

const weights = { user: 6, note: 2, assistant: 2, tool: 1 } as const;

export function keyItems({ messages, previous }: QualitySource): KeyItem[] {
  const found = new Map<string, { item: KeyItem; weight: number }>();
  const add = (text: string, line: string, weight: number): void => {
    const key = fold(text);
    if (key.length < 2) return;
    const known = found.get(key);
    if (known === undefined) found.set(key, { item: { text, line: line.slice(0, LINE_CHARS_MAX) }, weight });
    else known.weight += weight / 2;
  };
  const look = (text: string, weight: number): void => {
    for (const line of text.slice(0, MESSAGE_CHARS_LOOKED_AT).split('\n')) {
      for (const match of line.matchAll(exactPattern)) add(trimmed(match[0]), sentenceAround(line, match.index), weight);
      for (const match of line.matchAll(namePattern)) add(match[0], sentenceAround(line, match.index), weight);
    }
  };
  if (previous !== null) look(previous, 4);
  for (const message of messages)
    look(message.role === 'tool' ? message.text : lineOf(message, MESSAGE_CHARS_LOOKED_AT), weights[message.role]);
  return [...found.values()]
    .sort((a, b) => b.weight - a.weight)
    .slice(0, ITEMS_MAX)
    .map(({ item }) => item);
}

export function checkSummary(summary: string, source: QualitySource): QualityVerdict {
  const items = keyItems(source);
  const text = fold(summary);
  const missing = items.filter((item) => !text.includes(fold(item.text)));
  const ask = lastAsk(source.messages);
  const missingAsk = ask !== null && !isAskHeld(ask, text) ? ask : null;
  const isEnough = items.length - missing.length >= items.length * FOUND_SHARE;
  return {
    ok: isEnough && missingAsk === null && summary.trim() !== '',
    checked: items.length + (ask === null ? 0 : 1),
    missing,
    missingAsk,
  };
}

/** The person's last request in the stretch, which may not be answered yet. */
export function lastAsk(messages: readonly ChatMessage[]): string | null {
  const last = messages.findLast((message) => message.role === 'user');
  const text = last?.text.trim() ?? '';
  return text === '' ? null : text.slice(0, 400);
}

function isAskHeld(ask: string, foldedSummary: string): boolean {
  const words = [...new Set(fold(ask).match(/[\p{L}\d]{5,}/gu) ?? [])];
  if (words.length === 0) return true;
  return words.filter((word) => foldedSummary.includes(word)).length >= words.length * ASK_SHARE;
}

function sentenceAround(line: string, at: number): string {
  if (line.length <= LINE_CHARS_MAX) return line.trim();
  const from = Math.max(0, line.lastIndexOf('. ', at) + 1, at - 120);
  return line.slice(from, from + LINE_CHARS_MAX).trim();
}

function trimmed(text: string): string {
  return text.replace(/[.,:;/-]+$/, '');
}

function fold(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}
