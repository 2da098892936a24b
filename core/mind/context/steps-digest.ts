// The digest of steps dropped from a long turn: one line per step, built by rule, so that the agent knows what it did and with which
// result. Grows with every drop up to a limit, then loses its oldest lines. Pure.

import type { ChatMessage } from '../../contracts/llm.ts';
import { distillText } from '../../base/distill-text.ts';

/** `forgotten` counts the steps whose lines were dropped as well. */
export interface StepsDigest {
  readonly lines: readonly string[];
  readonly forgotten: number;
}

export const noSteps: StepsDigest = { lines: [], forgotten: 0 };

const head = 'Earlier steps of this turn were shortened to one line each to save space. Repeat a call if you need its result again.';
const WORDS_CHARS = 240;
const ARGUMENTS_CHARS = 160;
const RESULT_CHARS = 280;

/** Returns the digest extended by further steps, oldest first. A call with its results is one step, and so is a text without calls. */
export function withSteps(digest: StepsDigest, messages: readonly ChatMessage[]): StepsDigest {
  const lines = [...digest.lines];
  const results = new Map(messages.flatMap((message) => (message.role === 'tool' ? [[message.id, message] as const] : [])));
  for (const message of messages) {
    if (message.role === 'tool') continue;
    const said = message.text.trim() === '' ? '' : flat(message.text, WORDS_CHARS);
    if (message.role !== 'assistant') {
      lines.push(`- ${message.role === 'user' ? 'the person' : 'note'}: ${said}`);
      continue;
    }
    if (message.calls.length === 0) lines.push(`- you: ${said}`);
    for (const [index, call] of message.calls.entries()) {
      const result = results.get(call.id);
      const came = result === undefined ? 'no result' : `${result.isError ? 'failed: ' : ''}${flat(result.text, RESULT_CHARS)}`;
      lines.push(`- ${index === 0 && said !== '' ? `${said} ` : ''}${call.tool} ${flat(call.args, ARGUMENTS_CHARS)} → ${came}`);
    }
  }
  return { ...digest, lines };
}

/** Keeps as many of the newest lines as fit. `count` counts tokens. */
export function fitSteps({ lines, forgotten }: StepsDigest, tokensMax: number, count: (text: string) => number): StepsDigest {
  let tokens = count(showSteps({ lines: [], forgotten: forgotten + lines.length }));
  let from = lines.length;
  while (from > 0) {
    tokens += count(lines[from - 1] ?? '') + 1;
    if (tokens > tokensMax) break;
    from -= 1;
  }
  return { lines: lines.slice(from), forgotten: forgotten + from };
}

export function showSteps({ lines, forgotten }: StepsDigest): string {
  return [head, ...(forgotten === 0 ? [] : [`- ${forgotten} older steps`]), ...lines].join('\n');
}

function flat(text: string, charsMax: number): string {
  return distillText(text, charsMax)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .trim();
}
