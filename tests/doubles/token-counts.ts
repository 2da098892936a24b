// For tests: the request size that servers of a scripted model report, counted with the public vocabularies of real models over the text of
// a chat template. Each text is counted once.

import { countTokens as countClaude } from '@anthropic-ai/tokenizer';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import llama3 from 'llama3-tokenizer-js';
import { isPlainObject } from '../../core/base/json.ts';
import type { ModelRequestSeen } from './scripted-model-requests.ts';

export const vocabularies = {
  o200k: (text: string): number => countO200k(text, { disallowedSpecial: new Set() }),
  llama3: (text: string): number => llama3.encode(text, { bos: false, eos: false }).length,
  claude: countClaude,
} as const;
export type Vocabulary = keyof typeof vocabularies;

/** Tokens that templates add for a role, a call and a result. */
const PER_MESSAGE = 4;
const PER_CALL = 6;
/** Tokens that open the answer, and a vendor's additional text for tools. */
const PER_REQUEST = 3;
const WITH_TOOLS = 60;

export class TokenCounts {
  readonly #count: (text: string) => number;
  readonly #known = new Map<string, number>();

  constructor(vocabulary: Vocabulary) {
    this.#count = vocabularies[vocabulary];
  }

  count(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const counted = text === '' ? 0 : this.#count(text);
    this.#known.set(text, counted);
    return counted;
  }

  /** The tokens of the whole request, in any wire format. */
  ofRequest({ body }: ModelRequestSeen): number {
    const tools = listOf(body['tools']);
    const messages = listOf(body['messages']);
    const system = textOf(body['system']);
    return (
      PER_REQUEST +
      (system === '' ? 0 : PER_MESSAGE + this.count(system)) +
      (tools.length === 0 ? 0 : WITH_TOOLS) +
      tools.reduce<number>((sum, tool) => sum + this.count(JSON.stringify(tool)), 0) +
      messages.reduce<number>((sum, message) => sum + this.#ofMessage(message), 0)
    );
  }

  #ofMessage(message: Readonly<Record<string, unknown>>): number {
    const calls = listOf(message['tool_calls']);
    let tokens = PER_MESSAGE + this.count(textOf(message['content']));
    for (const call of calls) {
      const { name, arguments: args } = isPlainObject(call['function']) ? call['function'] : {};
      tokens += PER_CALL + this.count(String(name)) + this.count(typeof args === 'string' ? args : JSON.stringify(args));
    }
    for (const block of listOf(message['content'])) {
      if (block['type'] === 'tool_use') tokens += PER_CALL + this.count(String(block['name'])) + this.count(JSON.stringify(block['input']));
      if (block['type'] === 'tool_result') tokens += PER_CALL + this.count(textOf(block['content']));
    }
    return tokens;
  }
}

/** The text itself, or the texts of its blocks. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => (typeof block['text'] === 'string' ? block['text'] : ''))
    .join('\n');
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
