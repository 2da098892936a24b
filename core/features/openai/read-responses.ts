// Parses the body of POST /v1/responses. Leaves out items that only repeat a model's reasoning, and tools that run at a vendor.

import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import type { ReplyCall } from '../../contracts/llm.ts';
import type { Asked, Said, WantedOutput } from './asked.ts';
import type { GivenItem } from './given-items.ts';
import { joinContent, readBody, readImage, schemaObject, toolSchema, toolsOf, type Content } from './read-parts.ts';

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('input_image'), image_url: z.string() }),
]);
const content = z.union([z.string(), z.array(part).max(1000)]);
const callId = z.string().min(1).max(200);

const message = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content,
});
const item = z.union([
  message,
  z.looseObject({ type: z.literal('function_call'), call_id: callId, name: z.string().min(1).max(200), arguments: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: callId, output: content }),
  z.looseObject({ type: z.literal('reasoning') }),
  z.looseObject({ type: z.literal('item_reference').nullish(), id: z.string().min(1).max(200) }),
]);

const format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), name: z.string(), schema: schemaObject }),
]);

const bodySchema = z.looseObject({
  model: z.string().min(1).max(400),
  input: z.union([z.string().min(1), z.array(item).min(1).max(10_000)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().max(200).nullish(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(1000)
    .nullish(),
  tool_choice: z.unknown().optional(),
  text: z.looseObject({ format: format.nullish() }).nullish(),
  max_output_tokens: z.number().int().min(1).max(1_000_000).nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  background: z.literal(false, 'an answer in the background is not given').nullish(),
  conversation: z.null('send previous_response_id or the header x-trayclaw-session instead').optional(),
});

/** `find` gives an item of an earlier answer by its id. */
export function readResponses(body: unknown, find: (id: string) => GivenItem | null): Asked {
  const given = readBody(bodySchema, body);
  const system = given.instructions === undefined || given.instructions === null ? [] : [given.instructions];
  const said: Said[] = [];
  const items = typeof given.input === 'string' ? [{ role: 'user' as const, content: given.input }] : given.input;
  for (const [at, one] of items.entries()) {
    const param = `input[${at}]`;
    const instruction = instructionIn(one, param);
    if (instruction !== null) system.push(instruction);
    else if (isReference(one)) addGiven(said, found(one.id, find));
    else take(said, one, param);
  }
  return {
    model: given.model,
    instructions: system.join('\n\n'),
    said,
    tools: toolsOf(functionsIn(given.tools ?? []), given.tool_choice),
    maxOutputTokens: given.max_output_tokens ?? null,
    output: outputOf(given.text?.format),
    stream: given.stream === true,
    includeUsage: false,
    previous: given.previous_response_id ?? null,
    isForgotten: given.store === false,
    format: given.text?.format ?? { type: 'text' },
  };
}

type Item = z.infer<typeof item>;

function isMessage(one: Item): one is z.infer<typeof message> {
  return 'role' in one;
}

function isReference(one: Item): one is { readonly id: string } {
  return !isMessage(one) && (one.type === 'item_reference' || one.type === undefined || one.type === null) && 'id' in one;
}

function found(id: string, find: (id: string) => GivenItem | null): GivenItem {
  const kept = find(id);
  if (kept !== null) return kept;
  const hint = 'Items are kept in memory only, the latest ones. Send the item itself; client libraries do so with "store": false.';
  throw new AppError('not_found', `There is no item ${id}.`, { data: { param: 'input' }, hint });
}

function addGiven(said: Said[], given: GivenItem): void {
  if ('call' in given) addCall(said, given.call);
  else said.push({ role: 'assistant', text: given.text, calls: [] });
}

function instructionIn(one: Item, param: string): string | null {
  if (!isMessage(one) || (one.role !== 'system' && one.role !== 'developer')) return null;
  return readContent(one.content, param).text;
}

/** Adds a call. Consecutive calls belong to one message of the model. */
function addCall(said: Said[], call: ReplyCall): void {
  const last = said.at(-1);
  if (last?.role === 'assistant') said[said.length - 1] = { ...last, calls: [...last.calls, call] };
  else said.push({ role: 'assistant', text: '', calls: [call] });
}

/** Adds an item to the conversation. */
function take(said: Said[], one: Item, param: string): void {
  if (isMessage(one)) {
    const { text, images } = readContent(one.content, param);
    said.push(one.role === 'user' ? { role: 'user', text, images } : { role: 'assistant', text, calls: [] });
  } else if (one.type === 'function_call') {
    const { call_id: id, name: tool, arguments: args } = one as { call_id: string; name: string; arguments: string };
    addCall(said, { id, tool, args });
  } else if (one.type === 'function_call_output') {
    const { call_id: id, output } = one as { call_id: string; output: z.infer<typeof content> };
    said.push({ role: 'tool', id, text: readContent(output, param).text });
  }
}

function readContent(given: z.infer<typeof content>, param: string): Content {
  if (typeof given === 'string') return { text: given, images: [] };
  const texts = given.flatMap((one) => ('text' in one ? [String(one.text)] : 'refusal' in one ? [String(one.refusal)] : []));
  const urls = given.flatMap((one) => (one.type === 'input_image' ? [one.image_url] : []));
  return joinContent(
    texts,
    urls.map((url, at) => readImage(url, param, at)),
    param,
  );
}

/** Leaves out tools that run at a vendor, because the model cannot use them here. */
function functionsIn(tools: readonly { readonly type: string }[]): z.infer<typeof toolSchema>[] {
  return tools.filter(({ type }) => type === 'function').map((tool) => readBody(toolSchema, tool));
}

function outputOf(given: z.infer<typeof format> | null | undefined): WantedOutput {
  if (given === null || given === undefined || given.type === 'text') return { kind: 'text' };
  return given.type === 'json_object' ? { kind: 'json' } : { kind: 'schema', schema: given.schema };
}
