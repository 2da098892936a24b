// How memories fade: the longer a memory is unused, the less of it is shown, and in the end nothing. Use restores it, and pinned memories
// never fade. The whole text is always kept. Pure.

import type { MemoryTier } from '../../../contracts/features/memory.ts';

const DAY_MS = 86_400_000;
export const tierDays = { summary: 3, marker: 30, archived: 90 } as const;
const SUMMARY_CHARS = 120;
const TOPIC_WORDS = 5;
/** After this many days without use, a memory counts half as much as a new one. */
const HALF_LIFE_DAYS = 30;

export interface Aged {
  readonly text: string;
  readonly pinned: boolean;
  readonly usedAtMs: number;
}

export function tierOf({ pinned, usedAtMs }: Pick<Aged, 'pinned' | 'usedAtMs'>, nowMs: number): MemoryTier {
  const days = (nowMs - usedAtMs) / DAY_MS;
  if (pinned || days < tierDays.summary) return 'full';
  if (days < tierDays.marker) return 'summary';
  return days < tierDays.archived ? 'marker' : 'archived';
}

/** Memories last used before this moment are archived. */
export function archivedBefore(nowMs: number): number {
  return nowMs - tierDays.archived * DAY_MS;
}

/** The text as shown at this tier; never longer than the full text. */
export function textAtTier({ text, usedAtMs }: Pick<Aged, 'text' | 'usedAtMs'>, tier: MemoryTier): string {
  switch (tier) {
    case 'full':
      return text;
    case 'summary':
      return summaryOf(text);
    case 'marker':
    case 'archived': {
      const marker = `[Topic: ${topicOf(text)} discussed on ${new Date(usedAtMs).toISOString().slice(0, 10)}]`;
      return marker.length < text.length ? marker : summaryOf(text);
    }
  }
}

/** 1 for a memory used now, falling towards 0. */
export function recencyOf({ pinned, usedAtMs }: Pick<Aged, 'pinned' | 'usedAtMs'>, nowMs: number): number {
  return pinned ? 1 : 2 ** (-Math.max(0, nowMs - usedAtMs) / (HALF_LIFE_DAYS * DAY_MS));
}

/** The first sentence, cut to one line. */
function summaryOf(text: string): string {
  const first = /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  const line = (first.length >= text.trim().length ? text : first).trim();
  if (line.length <= SUMMARY_CHARS) return line;
  const cut = line.slice(0, SUMMARY_CHARS - 2);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), SUMMARY_CHARS / 2))} …`;
}

const fillers = new Set(
  'a an and are as at be by do for from has have i if in is it its me my of on or our so that the this to was we when with you your der die das ein eine ich ist und mein meine zu'.split(
    ' ',
  ),
);

function topicOf(text: string): string {
  const words = text.match(/[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}._-]*/gu) ?? [];
  const telling = words.filter((word) => !fillers.has(word.toLowerCase()));
  return (telling.length === 0 ? words : telling).slice(0, TOPIC_WORDS).join(' ').slice(0, 80);
}
