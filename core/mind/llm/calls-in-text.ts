// Tools, calls and results as plain text, for models and servers without a tool interface: signatures in the system prompt, each call
// between tags, each result as a user message. text-calls.ts reads the answer.

import { fenced, withoutMarks } from '../../base/fence.ts';
import type { ToolSchema } from '../../contracts/llm.ts';
import { safeArgs, type AssistantMessage, type ToolMessage } from './message-groups.ts';

export const callOpening = '<tool_call>';
export const callClosing = '</tool_call>';

export function toolsInWords(tools: readonly ToolSchema[]): string {
  const signatures = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ type: 'function', function: { name, description, parameters } }),
  );
  return `# Tools\n\nYou may call one or more functions. Their signatures:\n<tools>\n${signatures.join('\n')}\n</tools>\n\nFor each call write a JSON object with the name and the arguments between these marks, and nothing after the last one:\n${callOpening}\n{"name": "NAME", "arguments": {}}\n${callClosing}`;
}

export function callsInWords(text: string, calls: readonly { readonly name: string; readonly args: string }[]): string {
  const made = calls.map(({ name, args }) => `${callOpening}\n{"name":${JSON.stringify(name)},"arguments":${args}}\n${callClosing}`);
  return [text, ...made].filter((part) => part !== '').join('\n');
}

/** A result can neither close its own tag nor contain a call. */
export function resultInWords(text: string): string {
  return fenced('tool_response', withoutMarks(text, ['tool_call']));
}

export function assistantInWords({ text, calls }: AssistantMessage): string {
  return callsInWords(
    text,
    calls.map(({ tool, args }) => ({ name: tool, args: safeArgs(args) })),
  );
}

export function resultsInWords(results: readonly ToolMessage[]): string {
  return results.map(({ text }) => resultInWords(text)).join('\n');
}
