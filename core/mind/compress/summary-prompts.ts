// Builds the prompts for a summary: the text of the catalogue, and the conversation inside tags that it cannot close.

import { fenced } from '../../base/fence.ts';
import type { PromptText } from '../../contracts/own-prompts.ts';

export function batchPrompt(prompt: PromptText, previous: string | null, conversation: string): string {
  return [
    ...(previous === null ? [] : ['The summary so far. Take over all that still matters:', fenced('earlier-summary', previous)]),
    prompt('trayclaw-summary-part'),
    fenced('conversation', conversation),
  ].join('\n');
}

export function mergePrompt(prompt: PromptText, first: string, second: string): string {
  return [prompt('trayclaw-summary-merge'), fenced('first', first), fenced('second', second)].join('\n');
}

export function repairPrompt(prompt: PromptText, summary: string, missing: readonly string[]): string {
  return [
    prompt('trayclaw-summary-repair'),
    fenced('summary', summary),
    fenced('lost', missing.map((line) => `- ${line}`).join('\n')),
  ].join('\n');
}
