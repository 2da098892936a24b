// OpenRouter's reasoning_details: what the model behind it wants back with its calls (text with signatures, encrypted thoughts). Source:
// OpenRouter's page on preserving reasoning, its SDK (2026). The parts of a stream are joined; nothing else is changed.

import { isPlainObject } from '../../base/json.ts';
import type { ReplyCall } from '../../contracts/llm.ts';
import { answerBytesMax } from './reply-reader.ts';

type Detail = Record<string, unknown>;

/** Texts that arrive in pieces. Any other part is whole. */
const piecewise: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' };

export class ReasoningDetails {
  readonly #details: Detail[] = [];
  #sizeChars = 0;

  add(given: unknown): void {
    if (!Array.isArray(given)) return;
    for (const part of (given as unknown[]).filter(isPlainObject)) {
      this.#sizeChars += JSON.stringify(part).length;
      if (this.#sizeChars <= answerBytesMax) this.#addPart(part);
    }
  }

  /** JSON texts of the parts, in order; empty if they were too large to keep. `renamed` gives the new ids of calls. */
  texts(renamed: ReadonlyMap<string, string>): string[] {
    if (this.#sizeChars > answerBytesMax) return [];
    return this.#details.map((detail) => {
      const id = typeof detail['id'] === 'string' ? renamed.get(detail['id']) : undefined;
      return JSON.stringify(id === undefined ? detail : { ...detail, id });
    });
  }

  #addPart(part: Detail): void {
    const last = this.#details[this.#details.length - 1];
    const key = piecewise[String(part['type'])];
    if (key === undefined || last === undefined || last['type'] !== part['type'] || last['index'] !== part['index']) {
      this.#details.push({ ...part });
      return;
    }
    const text = `${textOf(last[key])}${textOf(part[key])}`;
    for (const [name, value] of Object.entries(part)) if (value !== null && value !== undefined) last[name] = value;
    last[key] = text;
  }
}

/** The ids under which the calls of an answer are sent back, by the ids under which they arrived. */
export function renamedIds(
  arrived: readonly { readonly id: string }[],
  calls: readonly ReplyCall[],
  sent: (id: string) => string,
): Map<string, string> {
  return new Map(calls.map(({ id }, index): [string, string] => [arrived[index]?.id ?? '', sent(id)]).reverse());
}

/** Gemini wants a signature at the first call of each step. OpenRouter documents this placeholder for a lost one. */
export function unsignedDetail(callId: string): string {
  const data = 'skip_thought_signature_validator';
  return JSON.stringify({ type: 'reasoning.encrypted', data, id: callId, format: 'google-gemini-v1', index: 0 });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
