// Shortens messages by rule: long results and arguments first, the person's own text only as a last resort. Pure.

import type { ChatMessage } from '../../contracts/llm.ts';
import { distillText } from '../../base/distill-text.ts';

export interface Shortened {
  readonly message: ChatMessage;
  readonly what: string;
}

/** A gentle cut leaves at least this many characters. */
const TEXT_KEPT_MIN = 200;

/**
 * Shortens a message to a share of its length. Null for messages that must not be cut gently: the person's own, and short calls. Shortened
 * arguments remain a JSON object.
 */
export function cutMessage(message: ChatMessage, share: number): Shortened | null {
  if (message.role === 'tool') {
    const text = distillText(message.text, Math.max(TEXT_KEPT_MIN, Math.floor(message.text.length * share)));
    const { images = [], ...rest } = message;
    const note = images.length === 0 ? '' : '\n[Its pictures were left out: no room.]';
    return { message: { ...rest, text: `${text}${note}` }, what: `result of ${message.tool}` };
  }
  if (message.role !== 'assistant') return null;
  const keep = (args: string): number => Math.max(TEXT_KEPT_MIN, Math.floor(args.length * share));
  const long = message.calls.filter((call) => call.args.length > keep(call.args));
  if (long.length === 0) return null;
  const calls = message.calls.map((call) =>
    long.includes(call) ? { ...call, args: JSON.stringify({ _shortened: cutMiddle(call.args, keep(call.args)) }) } : call,
  );
  return { message: { ...message, calls }, what: `arguments of ${long.map((call) => call.tool).join(', ')}` };
}

/**
 * Cuts any message to this many characters and replaces images with a note, for requests that would otherwise be impossible. Null if the
 * message already fits.
 */
export function forceShorter(message: ChatMessage, keepChars: number): Shortened | null {
  const text = cutMiddle(message.text, keepChars);
  if (message.role === 'user' && (message.images ?? []).length > 0) {
    return { message: { role: 'user', text: `${text}\n[Images were left out: no room.]` }, what: 'images and words of the person' };
  }
  if (message.role === 'assistant') {
    const calls = message.calls.map((call) =>
      call.args.length > keepChars ? { ...call, args: JSON.stringify({ _shortened: cutMiddle(call.args, keepChars) }) } : call,
    );
    if (text === message.text && calls.every((call, index) => call === message.calls[index])) return null;
    return { message: { ...message, text, calls }, what: 'an answer' };
  }
  if (message.role === 'tool' && (message.images ?? []).length > 0) {
    const { images: _images, ...rest } = message;
    return { message: { ...rest, text }, what: 'a result and its pictures' };
  }
  if (text === message.text) return null;
  const what = { user: 'words of the person', note: 'a note', tool: 'a result' }[message.role];
  return { message: { ...message, text }, what };
}

export function cutMiddle(text: string, keep: number): string {
  if (text.length <= keep) return text;
  const half = Math.floor(keep / 2);
  const left = `\n… ${text.length - 2 * half} characters left out …\n`;
  // Never longer than the text it replaces.
  if (left.length + 2 * half >= text.length) return text.slice(0, keep);
  return half === 0 ? left.trim() : `${text.slice(0, half)}${left}${text.slice(-half)}`;
}
