// Our request as AI SDK call options (provider specification V4). Pure; imports types only.

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import type { ModelRequest } from '../../contracts/llm.ts';
import {
  groupMessages,
  inWords,
  nextAssistant,
  safeArgs,
  safeToolName,
  spoken,
  type AssistantMessage,
  type Spoken,
  type ToolMessage,
} from './message-groups.ts';

export type PromptOptions = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'toolChoice' | 'maxOutputTokens'>;

export function createCallOptions(request: ModelRequest, seesImages: boolean): PromptOptions {
  return {
    prompt: createPrompt(request, seesImages),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(createTool), toolChoice: { type: 'auto' as const } }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
  };
}

function createPrompt({ system, messages, tail }: ModelRequest, seesImages: boolean): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }];
  let at = 0;
  while (at < messages.length) {
    const end = nextAssistant(messages, at + 1);
    const group = groupMessages(messages, at, end);
    if (group.assistant !== null) prompt.push(createAssistant(group.assistant));
    if (group.results.length > 0) prompt.push({ role: 'tool', content: group.results.map(createResult) });
    for (const said of group.said) prompt.push(createSaid(seesImages ? said : inWords(said)));
    at = end;
  }
  if (tail !== undefined) prompt.push(createSaid(spoken({ role: 'note', text: tail })));
  return prompt;
}

function createSaid({ text, images }: Spoken): LanguageModelV4Message {
  const files = images.map(({ mediaType, base64 }) => ({
    type: 'file' as const,
    mediaType,
    data: { type: 'data' as const, data: base64 },
  }));
  return { role: 'user', content: [...files, { type: 'text', text }] };
}

function createAssistant(message: AssistantMessage): LanguageModelV4Message {
  const calls = message.calls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: safeToolName(call.tool),
    input: JSON.parse(safeArgs(call.args)) as unknown,
  }));
  const text = message.text === '' && calls.length > 0 ? [] : [{ type: 'text' as const, text: message.text }];
  return { role: 'assistant', content: [...text, ...calls] };
}

function createResult(message: ToolMessage) {
  const type = message.isError ? ('error-text' as const) : ('text' as const);
  return {
    type: 'tool-result' as const,
    toolCallId: message.id,
    toolName: safeToolName(message.tool),
    output: { type, value: message.text },
  };
}

function createTool(tool: ModelRequest['tools'][number]): LanguageModelV4FunctionTool {
  return { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.parameters };
}
