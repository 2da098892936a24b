// Renders a stretch of conversation for the summarising model: messages, calls and their results, each within a limit. Pure.

import type { ChatMessage } from '../../contracts/llm.ts';
import { distillText } from '../../base/distill-text.ts';

export interface SourceText {
  readonly text: string;
  /** The number of messages that were cut or left out. */
  readonly shortened: number;
}

/** The maximum share of one message. A message that would fill more is cut, not left out. */
const MESSAGE_SHARE_MAX = 0.25;
/** A shorter message carries no information; below this limit the oldest messages are left out instead. */
const MESSAGE_CHARS_MIN = 160;

export function sourceText(messages: readonly ChatMessage[], charsMax: number): SourceText {
  const whole = messages.map((message) => lineOf(message, Number.POSITIVE_INFINITY));
  const total = whole.reduce((sum, line) => sum + line.length + 1, 0);
  const perMessage = Math.floor(charsMax * MESSAGE_SHARE_MAX);
  if (total <= charsMax && whole.every((line) => line.length <= perMessage)) return { text: whole.join('\n'), shortened: 0 };
  const bound = boundFor(
    whole.map(({ length }) => length),
    charsMax,
    perMessage,
  );
  const shown: string[] = [];
  let chars = 0;
  let shortened = 0;
  for (const [back, message] of messages.toReversed().entries()) {
    const full = whole[messages.length - 1 - back] ?? '';
    const line = full.length <= bound ? full : lineOf(message, bound);
    if (line !== full) shortened += 1;
    if (chars + line.length + 1 > charsMax) {
      shortened += messages.length - back - (line === full ? 0 : 1);
      break;
    }
    chars += line.length + 1;
    shown.unshift(line);
  }
  return { text: shown.join('\n'), shortened };
}

/** Returns the largest per-message limit with which all messages fit, but not less than the minimum. */
function boundFor(lengths: readonly number[], charsMax: number, perMessage: number): number {
  let low = MESSAGE_CHARS_MIN;
  let high = Math.max(low, perMessage);
  while (high - low > 16) {
    const middle = Math.floor((low + high) / 2);
    const total = lengths.reduce((sum, length) => sum + Math.min(length, middle) + 1, 0);
    if (total <= charsMax) low = middle;
    else high = middle;
  }
  return low;
}

/** Renders one message, its author and content, as one or more lines. */
export function lineOf(message: ChatMessage, charsMax: number): string {
  switch (message.role) {
    case 'user':
      return `person: ${distillText(message.text, charsMax)}`;
    case 'note':
      return `note: ${distillText(message.text, charsMax)}`;
    case 'tool':
      return `${message.isError ? 'failed ' : ''}result of ${message.tool}: ${distillText(message.text, charsMax)}`;
    case 'assistant': {
      const share = message.calls.length === 0 ? charsMax : Math.floor(charsMax / 2);
      const calls = message.calls.map(
        (call) => `agent called ${call.tool}: ${distillText(call.args, Math.max(40, Math.floor(share / message.calls.length)))}`,
      );
      return [...(message.text === '' ? [] : [`agent: ${distillText(message.text, share)}`]), ...calls].join('\n');
    }
  }
}
