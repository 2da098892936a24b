// Anthropic's refusals of messages: single blocks, and the order of calls and results across turns.

import { isPlainObject } from '../../../core/base/json.ts';
import { checkSides } from './anthropic-images.ts';
import { anthropicNo, boundTo, isTextEmpty, isThinking, signatureOf, versionOf } from './anthropic-words.ts';
import { given, has, list, parts, text, type Part } from './refused.ts';

const MESSAGES_MAX = 100_000;
const IMAGE_BYTES_MAX = 5_242_880;
const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const CALL_KEYS = ['type', 'id', 'name', 'input', 'cache_control', 'caller'];
const bound = '. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'; // prettier-ignore
const OTHER_BLOCKS = ['redacted_thinking', 'document', 'search_result', 'server_tool_use', 'web_search_tool_result', 'container_upload', 'compaction']; // prettier-ignore

interface Turn {
  readonly role: string;
  readonly blocks: Part[];
  readonly index: number;
}

export function checkTurns(body: Part): void {
  const messages = list(body['messages']);
  if (messages.length === 0) throw anthropicNo('messages: at least one message is required');
  if (messages.length > MESSAGES_MAX) throw anthropicNo(`messages: List should have at most ${MESSAGES_MAX} items after validation, not ${messages.length}`); // prettier-ignore
  const seen = new Set<string>();
  const turns: Turn[] = [];
  messages.forEach((message, index) => {
    const { role, blocks } = readMessage(message, { index, isLast: index === messages.length - 1, seen, before: boundTo(body, index) });
    const last = turns[turns.length - 1];
    // Adjacent messages with the same role form one turn for the server.
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks], index });
  });
  if (turns[0]?.role !== 'user') throw anthropicNo('messages: first message must use the "user" role');
  const usesTools = turns.some(({ blocks }) => blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result'));
  if (usesTools && list(body['tools']).length === 0) throw anthropicNo('Requests which have `tool_use` or `tool_result` blocks in their messages must define tools.'); // prettier-ignore
  checkSides(turns.flatMap(({ blocks }) => blocks));
  turns.forEach((turn, place) => {
    if (turn.role === 'assistant') checkAnswered(turn, turns[place + 1]);
    else checkResults(turn, turns[place - 1]);
  });
  checkEnd(turns, { version: versionOf(text(body['model'])), thinks: isThinking(body) });
  if (isPlainObject(body['thinking']) && body['thinking']['type'] === 'enabled') checkOpensWithThinking(turns);
}

function readMessage(
  message: unknown,
  about: { index: number; isLast: boolean; seen: Set<string>; before: string },
): { role: string; blocks: readonly Part[] } {
  const { index, isLast, ...more } = about;
  const at = `messages.${index}`;
  const role = isPlainObject(message) ? message['role'] : undefined;
  if (role === 'system') throw anthropicNo('messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'); // prettier-ignore
  if (!isPlainObject(message) || (role !== 'user' && role !== 'assistant')) throw anthropicNo(`${at}.role: Input should be 'user' or 'assistant'`); // prettier-ignore
  for (const key of Object.keys(message)) if (key !== 'role' && key !== 'content') throw anthropicNo(`${at}.${key}: Extra inputs are not permitted`); // prettier-ignore
  return { role, blocks: readContent(message['content'], { role, at, isLast, ...more }) };
}

function readContent(content: unknown, about: Omit<BlockPlace, 'where'> & { isLast: boolean }): readonly Part[] {
  const { isLast, ...place } = about;
  const { role, at } = place;
  if (content === '' || (Array.isArray(content) && content.length === 0)) {
    if (isLast && role === 'assistant') return [];
    throw anthropicNo(`${at}: all messages must have non-empty content except for the optional final assistant message`);
  }
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) throw anthropicNo(`${at}.content: Input should be a valid string or list`);
  blocks.forEach((block: unknown, index) => checkBlock(isPlainObject(block) ? block : {}, { ...place, where: `${at}.content.${index}` }));
  return parts(blocks);
}

interface BlockPlace {
  readonly role: string;
  readonly at: string;
  readonly where: string;
  readonly seen: Set<string>;
  /** Everything that must precede the thinking of this message. */
  readonly before: string;
}

function checkBlock(block: Part, place: BlockPlace): void {
  const { role, at, where } = place;
  switch (block['type']) {
    case 'text':
      checkText(block, where);
      return;
    case 'image':
      if (role === 'assistant') throw anthropicNo(`${where}: image blocks are only allowed in user messages`);
      checkImage(isPlainObject(block['source']) ? block['source'] : {}, `${where}.image.source.base64`);
      return;
    case 'tool_use':
      if (role !== 'assistant') throw anthropicNo(`${at}: \`tool_use\` blocks can only be in \`assistant\` messages`);
      checkCall(block, `${where}.tool_use`, place.seen);
      return;
    case 'tool_result':
      if (role !== 'user') throw anthropicNo(`${at}: \`tool_result\` blocks can only be in \`user\` messages`);
      checkResult(block, where);
      return;
    case 'thinking':
      checkThinkingBlock(block, place);
      return;
    default:
      if (OTHER_BLOCKS.includes(text(block['type']))) return;
      throw anthropicNo(`${where}: Input tag '${String(block['type'])}' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'`); // prettier-ignore
  }
}

function checkText(block: Part, where: string): void {
  if (typeof block['text'] !== 'string') throw anthropicNo(`${where}.text.text: Field required`);
  if (block['text'] === '') throw anthropicNo(given(block, 'cache_control') ? `${where}: cache_control cannot be set for empty text blocks` : 'messages: text content blocks must be non-empty'); // prettier-ignore
  if (isTextEmpty(block['text'])) throw anthropicNo('messages: text content blocks must contain non-whitespace text');
}

function checkImage(source: Part, where: string): void {
  if (source['type'] !== 'base64') return;
  if (!IMAGES.includes(text(source['media_type']))) throw anthropicNo(`${where}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`); // prettier-ignore
  const data = text(source['data']);
  if (data.startsWith('data:')) throw anthropicNo(`${where}: invalid base64 data`);
  const size = Math.floor((data.length * 3) / 4);
  if (size > IMAGE_BYTES_MAX) throw anthropicNo(`${where}: image exceeds 5 MB maximum: ${size} bytes > ${IMAGE_BYTES_MAX} bytes`);
}

function checkCall(block: Part, where: string, seen: Set<string>): void {
  const id = text(block['id']);
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) throw anthropicNo(`${where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (seen.has(id)) throw anthropicNo('messages: `tool_use` ids must be unique');
  seen.add(id);
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(block['name']))) throw anthropicNo(`${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`); // prettier-ignore
  if (!isPlainObject(block['input'])) throw anthropicNo(`${where}.input: Input should be a valid dictionary`);
  for (const key of Object.keys(block)) if (!CALL_KEYS.includes(key)) throw anthropicNo(`${where}.${key}: Extra inputs are not permitted`);
}

function checkResult(block: Part, where: string): void {
  const inner = parts(block['content']);
  if (inner.some((one) => one['type'] === 'text' && one['text'] === ''))
    throw anthropicNo('messages: text content blocks must be non-empty');
  const isEmpty = text(block['content']) === '' && inner.length === 0;
  if (block['is_error'] === true && isEmpty) throw anthropicNo(`${where}.tool_result: content cannot be empty if \`is_error\` is true`);
}

function checkThinkingBlock(block: Part, { where, before }: BlockPlace): void {
  if (given(block, 'cache_control')) throw anthropicNo(`${where}.thinking.cache_control: Extra inputs are not permitted`);
  if (!has(block, 'signature')) throw anthropicNo(`${where}.thinking.signature: Field required`);
  const signature = text(block['signature']);
  const isOurs = /^[A-Za-z0-9+/]{43}=$/.test(signature);
  if (signature !== '' && (!isOurs || signature === signatureOf(text(block['thinking']), before))) return;
  throw anthropicNo(`${where}: Invalid \`signature\` in \`thinking\` block${before === '' ? '' : bound}`);
}

function idsOf(turn: Turn | undefined, type: string, key: string): string[] {
  return (turn?.blocks ?? []).filter((block) => block['type'] === type).map((block) => text(block[key]));
}

/** Results come first in the next turn; results after other blocks do not count. */
function checkAnswered(turn: Turn, next: Turn | undefined): void {
  const blocks = next?.blocks ?? [];
  const end = blocks.findIndex(({ type }) => type !== 'tool_result');
  const lead = (end < 0 ? blocks : blocks.slice(0, end)).map((block) => text(block['tool_use_id']));
  const open = idsOf(turn, 'tool_use', 'id').filter((id) => !lead.includes(id));
  if (open.length > 0) throw anthropicNo(`messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`); // prettier-ignore
}

function checkResults(turn: Turn, before: Turn | undefined): void {
  const asked = idsOf(before, 'tool_use', 'id');
  const got = new Set<string>();
  turn.blocks.forEach((block, place) => {
    if (block['type'] !== 'tool_result') return;
    const id = text(block['tool_use_id']);
    const where = `messages.${turn.index}.content.${place}`;
    if (!asked.includes(id)) throw anthropicNo(`${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`); // prettier-ignore
    if (got.has(id)) throw anthropicNo(`${where}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`); // prettier-ignore
    got.add(id);
  });
}

function checkEnd(turns: readonly Turn[], { version, thinks }: { version: number; thinks: boolean }): void {
  const last = turns[turns.length - 1];
  if (last?.role !== 'assistant') return;
  if (version >= 4.6) throw anthropicNo('This model does not support assistant message prefill. The conversation must end with a user message.'); // prettier-ignore
  if (thinks) throw anthropicNo('Prefilling the assistant response is not supported when thinking is enabled.');
  const end = last.blocks[last.blocks.length - 1];
  if (end?.['type'] === 'text' && /\s$/.test(text(end['text']))) throw anthropicNo('messages: final assistant content cannot end with trailing whitespace'); // prettier-ignore
}

/** While thinking is enabled, the last assistant turn of an ongoing tool loop must start with a thinking block. */
function checkOpensWithThinking(turns: readonly Turn[]): void {
  const place = turns.findLastIndex(({ role }) => role === 'assistant');
  const turn = turns[place];
  if (turn === undefined || turns[place + 1]?.blocks.some(({ type }) => type === 'tool_result') !== true) return;
  const type = text(turn.blocks[0]?.['type']);
  if (type === 'thinking' || type === 'redacted_thinking') return;
  throw anthropicNo(`messages.${turn.index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking`); // prettier-ignore
}
