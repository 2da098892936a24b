// The form of a judgement. Also measures disagreement without a judge, as the share of words that the answers do not have in common. Pure.

import * as z from 'zod';
import type { EventBodies } from '../../contracts/events.ts';
import { opinionVerdictSchema } from '../../contracts/features/opinions.ts';
import { outputOf, type Output } from '../../mind/asking/asking.ts';

export type Judgement = Pick<EventBodies['opinion.judged'], 'verdict' | 'best' | 'disagreement' | 'text' | 'reason'>;

/** `letters` are the letters of the answers. A judgement that names another letter is invalid. */
export function judgementOutput(letters: readonly string[]): Output<Judgement> {
  const judgement = z.object({
    verdict: opinionVerdictSchema,
    best: z.enum(letters).nullable().default(null).describe('The letter of the best answer.'),
    disagreement: z.number().min(0).max(1).describe('From 0 (all say the same) to 1 (they contradict each other).'),
    text: z.string().default('').describe('For revise: the best answer, corrected and merged; otherwise empty.'),
    reason: z.string().default('').describe('One or two sentences on where they differ.'),
  });
  return outputOf('judgement', judgement);
}

/** Returns 1 if there is nothing to compare, because nothing shows that the answers agree. */
export function wordDisagreement(texts: readonly string[]): number {
  if (texts.length < 2) return 1;
  const sets = texts.map((text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
  let sum = 0;
  let pairs = 0;
  for (const [index, one] of sets.entries()) {
    for (const other of sets.slice(index + 1)) {
      const shared = [...one].filter((word) => other.has(word)).length;
      const all = one.size + other.size - shared;
      sum += all === 0 ? 0 : 1 - shared / all;
      pairs += 1;
    }
  }
  return Math.round((sum / pairs) * 100) / 100;
}

/** Shuffles the answers, because a judge prefers the one it reads first. */
export function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const kept = mixed[last] as T;
    mixed[last] = mixed[other] as T;
    mixed[other] = kept;
  }
  return mixed;
}
