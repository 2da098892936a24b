// For each vendor's limits on sizes, images, signatures and orders that only some models have: one minimal change that causes the refusal.

import { signatureOf } from './anthropic-words.ts';
import { says, strictWords, type Control } from './vendor-controls.ts';
import type { Vendor } from './vendors.ts';

const tool = (parameters: unknown, more: object = {}) => ({
  tools: [{ type: 'function', function: { name: 'read', parameters, ...more } }],
});
const inside = (x: unknown) => tool({ type: 'object', properties: { x } });
const user = (content: unknown = 'hi') => ({ role: 'user', content });
const asks = { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }] }; // prettier-ignore
const thought = (thinking: string) => ({ role: 'assistant', content: [{ type: 'thinking', thinking, signature: signatureOf('as it was') }, { type: 'text', text: 'x' }] }); // prettier-ignore

/** The header of a PNG of this size. */
export function pngHead(width: number, height: number): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008020000000000000000', 'hex');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}

const picture = (side: number) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pngHead(side, 1).toString('base64') } }); // prettier-ignore
const longNames = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`${at}_`.padEnd(64, 'n'), { type: 'string' }]));

export const limitControls: Readonly<Partial<Record<Vendor, readonly Control[]>>> = {
  openai: [
    ['a tuple', inside({ type: 'array', items: [{ type: 'string' }] }), "In context=('properties', 'x'), [{\"type\":\"string\"}] is not of type"], // prettier-ignore
    ['strict names that are too long together', tool({ ...strictWords, properties: longNames, required: Object.keys(longNames) }, { strict: true }), 'cannot exceed 120000 characters'], // prettier-ignore
    ['a result above ten million characters', says(user(), asks, { role: 'tool', tool_call_id: 'c1', content: 'x'.repeat(10_485_761) }), 'string too long. Expected a string with maximum length 10485760'], // prettier-ignore
    ['a long key of metadata', { metadata: { ['k'.repeat(65)]: 'v' } }, "Invalid 'metadata': string too long."],
  ],
  anthropic: [
    ['a picture above 8000 pixels', says(user([picture(8001)])), 'At least one of the image dimensions exceed max allowed size: 8000 pixels'], // prettier-ignore
    [
      'many pictures above 2000 pixels',
      says(user(Array.from({ length: 21 }, () => picture(2001)))),
      'for many-image requests: 2000 pixels',
    ],
    ['100,001 messages', says(...Array.from({ length: 100_001 }, () => user())), 'List should have at most 100000 items'],
    ['a thought that was changed', says(user(), thought('as it is now'), user()), 'Invalid `signature` in `thinking` block'],
  ],
  gemini: [
    ['a format of numbers', inside({ type: 'number', format: 'decimal' }), "only 'float' and 'double' are supported for NUMBER type"],
    ['a format of whole numbers', inside({ type: 'integer', format: 'uint8' }), "only 'int32' and 'int64' are supported for INTEGER type"],
  ],
  deepseek: [
    ['an answer that is too long', { max_tokens: 9000 }, 'the valid range of max_tokens is [1, 8192]'],
    ['two users in a row for the old reasoner', { model: 'deepseek-reasoner', ...says(user(), user()) }, 'does not support successive user or assistant messages'], // prettier-ignore
  ],
  ollama: [
    ['a key of a message that would be lost', says({ ...user(), name: 'bob' }), 'Ollama would forget messages.name'],
    ['a key of a call that would be lost', says(user(), { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name: 'read', arguments: {} } }] }), 'Ollama would forget messages.tool_calls.type'], // prettier-ignore
    ['a word of a branch that would be lost', inside({ anyOf: [{ type: 'string', maxLength: 3 }] }), 'Ollama would forget x.anyOf[0].maxLength'], // prettier-ignore
  ],
  llamacpp: [
    ['turns that do not alternate', { model: 'gemma-3', ...says(user(), user()) }, 'Conversation roles must alternate', 500],
    ['a result, where turns alternate', { model: 'gemma-3', ...says(user(), asks, { role: 'tool', tool_call_id: 'c1', content: 'ok' }) }, 'Conversation roles must alternate', 500], // prettier-ignore
  ],
};
