// Parses the bodies of Ollama's API. Options that only tune a model's style are accepted and ignored.

import * as z from 'zod';
import type { Asked, Said, WantedOutput } from './asked.ts';
import { joinContent, readBody, readImage, refuse, schemaObject, stopWords, toolSchema, toolsOf } from './read-parts.ts';

const format = z.union([z.literal('json'), z.literal(''), schemaObject]).nullish();
const options = z.looseObject({ num_predict: z.number().int().nullish(), stop: stopWords }).nullish();
const images = z.array(z.string().max(12_000_000)).max(20).nullish();
const shared = { model: z.string().min(1).max(400), stream: z.boolean().nullish(), format, options };

const chatSchema = z.looseObject({
  ...shared,
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: z.string().default(''),
        images,
        tool_name: z.string().max(200).nullish(),
        tool_calls: z
          .array(
            z.looseObject({ function: z.looseObject({ name: z.string().min(1).max(200), arguments: z.record(z.string(), z.unknown()) }) }),
          )
          .max(200)
          .nullish(),
      }),
    )
    .max(10_000)
    .default([]),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: toolSchema }))
    .max(1000)
    .nullish(),
});

const generateSchema = z.looseObject({ ...shared, prompt: z.string().default(''), system: z.string().nullish(), images });

/** Removes the tag that clients add to model ids. */
export function modelIn(name: string): string {
  return name.endsWith(':latest') ? name.slice(0, -':latest'.length) : name;
}

export function readOllamaChat(body: unknown): Asked {
  const given = readBody(chatSchema, body);
  const system = given.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const reading = new Turns();
  const said = given.messages.flatMap((message, at) => (message.role === 'system' ? [] : [reading.take(message, at)]));
  const tools = toolsOf(
    (given.tools ?? []).map(({ function: tool }) => tool),
    null,
  );
  return { ...askedOf(given), instructions: system.join('\n\n'), said, tools };
}

export function readOllamaGenerate(body: unknown): Asked {
  const given = readBody(generateSchema, body);
  const said: Said[] = given.prompt === '' ? [] : [userOf(given.prompt, given.images, 'images')];
  return { ...askedOf(given), instructions: given.system ?? '', said, tools: [] };
}

type Shared = Pick<z.infer<typeof generateSchema>, 'model' | 'stream' | 'format' | 'options'>;

function askedOf({ model, stream, format: wanted, options: tuned }: Shared): Omit<Asked, 'instructions' | 'said' | 'tools'> {
  const most = tuned?.num_predict ?? null;
  return {
    model: modelIn(model),
    // In Ollama's API, values below 1 mean no limit.
    maxOutputTokens: most === null || most < 1 ? null : most,
    output: outputOf(wanted),
    stream: stream !== false,
    includeUsage: true,
    previous: null,
  };
}

function outputOf(wanted: z.infer<typeof format>): WantedOutput {
  if (wanted === null || wanted === undefined || wanted === '') return { kind: 'text' };
  return wanted === 'json' ? { kind: 'json' } : { kind: 'schema', schema: wanted };
}

function userOf(text: string, given: z.infer<typeof images>, param: string): Said {
  const read = (given ?? []).map((base64, at) => readImage(`data:${mediaTypeOf(base64)};base64,${base64}`, param, at));
  return { role: 'user', ...joinContent([text], read, param) };
}

/** Ollama's API sends images without their media type, so the first bytes decide. */
function mediaTypeOf(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  if (base64.startsWith('R0lGOD')) return 'image/gif';
  return base64.startsWith('UklGR') ? 'image/webp' : 'image/png';
}

/** Ollama's API has no call ids. A result belongs to the first open call, or to the first open call of its tool if it names a tool. */
class Turns {
  readonly #open: { readonly id: string; readonly tool: string }[] = [];

  take(message: z.infer<typeof chatSchema>['messages'][number], at: number): Said {
    const { role, content, tool_name: tool, tool_calls: made } = message;
    if (role === 'user' || role === 'system') return userOf(content, message.images, `messages[${at}].images`);
    if (role === 'assistant') {
      const calls = (made ?? []).map(({ function: { name, arguments: args } }, nth) => ({
        id: `call_${at}_${nth}`,
        tool: name,
        args: JSON.stringify(args),
      }));
      this.#open.push(...calls);
      return { role: 'assistant', text: content, calls };
    }
    const found = this.#open.findIndex((call) => tool === null || tool === undefined || call.tool === tool);
    const [call] = found < 0 ? [] : this.#open.splice(found, 1);
    if (call === undefined) throw refuse(`messages[${at}]`, 'There is no call before this result.');
    return { role: 'tool', id: call.id, text: content };
  }
}
