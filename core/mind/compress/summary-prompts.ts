// The prompts for a summary: the text of the catalogue, and the conversation inside marks it cannot close.

import type { PromptText } from '../../contracts/own-prompts.ts';

export function batchPrompt(prompt: PromptText, previous: string | null, conversation: string): string {
  return [
    ...(previous === null ? [] : ['The summary so far. Take over all that still matters:', marked('earlier-summary', previous)]),
    prompt('trayclaw-summary-part'),
    marked('conversation', conversation),
  ].join('\n');
}

export function mergePrompt(prompt: PromptText, first: string, second: string): string {
  return [prompt('trayclaw-summary-merge'), marked('first', first), marked('second', second)].join('\n');
}

export function repairPrompt(prompt: PromptText, summary: string, missing: readonly string[]): string {
  return [
    prompt('trayclaw-summary-repair'),
    marked('summary', summary),
    marked('lost', missing.map((line) => `- ${line}`).join('\n')),
  ].join('\n');
}

function marked(mark: string, text: string): string {
  return `<${mark}>\n${text.replaceAll(`</${mark}`, `<\\/${mark}`)}\n</${mark}>`;
}
