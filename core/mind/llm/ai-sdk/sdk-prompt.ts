// Converts a request to the form that AI SDK models accept. Pure; the messages are in the order that every vendor accepts.

import { parseJson } from '../../../base/json.ts';
import type { ModelRequest } from '../../../contracts/llm.ts';
import { wireCallId } from '../call-ids.ts';
import type { KeptOfCalls } from '../kept-of-call.ts';
import {
  groupMessages,
  inWords,
  nextAssistant,
  safeArgs,
  safeToolName,
  spoken,
  type MessageGroup,
  type Spoken,
} from '../message-groups.ts';

export interface PromptOptions {
  readonly specificationVersion: string;
  readonly seesImages: boolean;
  readonly kept: Pick<KeptOfCalls, 'of'>;
}

type Part = Readonly<Record<string, unknown>>;

export function optionsOf(request: ModelRequest, options: PromptOptions): Record<string, unknown> {
  const { maxOutputTokens, tools, output } = request;
  return {
    prompt: promptOf(request, options),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools: tools.map(({ name, description, parameters }) => toolOf(name, description, parameters)) }),
    ...(output === undefined ? {} : { responseFormat: { type: 'json', name: output.name, schema: output.schema } }),
  };
}

function toolOf(name: string, description: string, inputSchema: unknown): Part {
  return { type: 'function', name, description, inputSchema };
}

function promptOf({ system, messages, tail }: ModelRequest, options: PromptOptions): Part[] {
  const prompt: Part[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (let at = 0; at < messages.length;) {
    const end = nextAssistant(messages, at + 1);
    prompt.push(...groupParts(groupMessages(messages, at, end), options));
    at = end;
  }
  if (tail !== undefined) prompt.push(userOf(spoken({ role: 'note', text: tail }), options));
  return prompt;
}

function groupParts({ assistant, results, said }: MessageGroup, options: PromptOptions): Part[] {
  const parts: Part[] = [];
  if (assistant !== null) {
    const text = assistant.text === '' ? [] : [{ type: 'text', text: assistant.text }];
    const calls = assistant.calls.map(({ id, tool, args }) => {
      const parsed = parseJson(safeArgs(args));
      const call = {
        type: 'tool-call',
        toolCallId: wireCallId(id, 'plain'),
        toolName: safeToolName(tool),
        input: parsed.ok ? parsed.value : {},
      };
      const extra = options.kept.of(id)?.extra;
      return extra === undefined ? call : { ...call, providerOptions: JSON.parse(extra) as unknown };
    });
    parts.push({ role: 'assistant', content: [...text, ...calls] });
  }
  const told = results.map(({ id, tool, text, isError }) => ({
    type: 'tool-result',
    toolCallId: wireCallId(id, 'plain'),
    toolName: safeToolName(tool),
    output: { type: isError ? 'error-text' : 'text', value: text },
  }));
  if (told.length > 0) parts.push({ role: 'tool', content: told });
  return [...parts, ...said.map((words) => userOf(words, options))];
}

function userOf(words: Spoken, { seesImages, specificationVersion }: PromptOptions): Part {
  const { text, images } = seesImages ? words : inWords(words);
  const files = images.map(({ mediaType, base64, name }) => ({
    type: 'file',
    filename: name,
    mediaType,
    data: specificationVersion === 'v4' ? { type: 'data', data: base64 } : base64,
  }));
  return { role: 'user', content: [{ type: 'text', text }, ...files] };
}
