// Parses the body of POST /v1/chat/completions. Fields that only tune a model's style are accepted and ignored; fields that would change
// the meaning of the answer are refused.

import * as z from 'zod';
import type { Asked, Said, WantedOutput } from './asked.ts';
import { joinContent, readBody, readImage, refuse, schemaObject, stopWords, toolSchema, toolsOf, type Content } from './read-parts.ts';

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
]);
const content = z.union([z.string(), z.array(part).max(1000)]);

const assistant = z.looseObject({
  role: z.literal('assistant'),
  content: content.nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().min(1).max(200),
        type: z.literal('function').optional(),
        function: z.looseObject({ name: z.string().min(1).max(200), arguments: z.string() }),
      }),
    )
    .max(200)
    .nullish(),
});

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content }),
  z.looseObject({ role: z.literal('user'), content }),
  assistant,
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string().min(1).max(200), content }),
]);

const format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject({ name: z.string(), schema: schemaObject }) }),
]);

const tokens = z.number().int().min(1).max(1_000_000).nullish();

const bodySchema = z.looseObject({
  model: z.string().min(1).max(400),
  messages: z.array(message).min(1).max(10_000),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: toolSchema }))
    .max(1000)
    .nullish(),
  tool_choice: z.unknown().optional(),
  functions: z.null('it is no longer used: send "tools"').optional(),
  response_format: format.nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, 'only 1 answer is given').nullish(),
  logprobs: z.literal(false, 'not every model server gives them').nullish(),
  stop: stopWords,
});

export function readChat(body: unknown): Asked {
  const given = readBody(bodySchema, body);
  const system: string[] = [];
  const said: Said[] = [];
  for (const [at, one] of given.messages.entries()) {
    const param = `messages[${at}].content`;
    const taken = take(one, param);
    if (typeof taken === 'string') system.push(taken);
    else said.push(taken);
  }
  return {
    model: given.model,
    instructions: system.join('\n\n'),
    said,
    tools: toolsOf(
      (given.tools ?? []).map(({ function: tool }) => tool),
      given.tool_choice,
    ),
    maxOutputTokens: given.max_completion_tokens ?? given.max_tokens ?? null,
    output: outputOf(given.response_format),
    stream: given.stream === true,
    includeUsage: given.stream_options?.include_usage === true,
    previous: null,
  };
}

/** Returns the text of a system or developer message, and any other message as a `Said`. */
function take(one: z.infer<typeof message>, param: string): Said | string {
  const { text, images } = readContent(one.content ?? '', param);
  if (one.role === 'user') return { role: 'user', text, images };
  if (images.length > 0) throw refuse(param, 'Only a message of the user may have images.');
  if (one.role === 'system' || one.role === 'developer') return text;
  if (one.role === 'tool') return { role: 'tool', id: one.tool_call_id, text };
  const { tool_calls: made } = one as z.infer<typeof assistant>;
  const calls = (made ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, tool: name, args }));
  return { role: 'assistant', text, calls };
}

function readContent(given: z.infer<typeof content>, param: string): Content {
  if (typeof given === 'string') return { text: given, images: [] };
  const texts = given.flatMap((one) => (one.type === 'text' ? [one.text] : one.type === 'refusal' ? [one.refusal] : []));
  const urls = given.flatMap((one) => (one.type === 'image_url' ? [one.image_url.url] : []));
  return joinContent(
    texts,
    urls.map((url, at) => readImage(url, param, at)),
    param,
  );
}

function outputOf(given: z.infer<typeof format> | null | undefined): WantedOutput {
  if (given === null || given === undefined || given.type === 'text') return { kind: 'text' };
  return given.type === 'json_object' ? { kind: 'json' } : { kind: 'schema', schema: given.json_schema.schema };
}
