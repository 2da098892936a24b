// Renders the prompt of a conversation with the model's own chat template. If the template does not support tools, or uses another call
// syntax than <tool_call>, tools are described as plain text. Pure except for the template itself.

import type { ToolSchema } from '../../../contracts/llm.ts';
import type { EngineMessage } from './engine-messages.ts';
import { callsInWords, resultInWords, toolsInWords } from '../calls-in-text.ts';

export interface ChatTemplate {
  readonly source: string;
  readonly bosText: string;
  readonly eosText: string;
  /** Fails with the template's own message. */
  render(variables: Readonly<Record<string, unknown>>): string;
}

interface PlainMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Markers of other call syntaxes. A model trained for one of them follows plain instructions as well. */
const otherWays =
  /<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<\|channel\|>|<\|tool_call|<｜tool|<tool_calls>|tool_code|"parameters": ?\{?["<]/;

/** Fails with the template's own message if it accepts no form of the conversation. */
export function renderPrompt(template: ChatTemplate, messages: readonly EngineMessage[], tools: readonly ToolSchema[]): string {
  const usesCalls =
    tools.length > 0 || messages.some((message) => message.role === 'tool' || (message.role === 'assistant' && message.calls.length > 0));
  if (usesCalls && knowsTools(template.source)) return render(template, messages.map(inTemplate), tools.map(offered));
  const plain = asText(messages, tools);
  try {
    return render(template, plain, null);
  } catch {
    // Some templates refuse a system message, or two consecutive messages of one role.
    return render(template, alternating(plain), null);
  }
}

function knowsTools(source: string): boolean {
  return /\btools\b/.test(source) && !otherWays.test(source);
}

function render(template: ChatTemplate, messages: readonly object[], tools: readonly object[] | null): string {
  const marks = { bos_token: template.bosText, eos_token: template.eosText };
  const offer = tools === null || tools.length === 0 ? {} : { tools };
  return template.render({ messages, ...offer, add_generation_prompt: true, ...marks });
}

function offered({ name, description, parameters }: ToolSchema): object {
  return { type: 'function', function: { name, description, parameters } };
}

function inTemplate(message: EngineMessage): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.id, name: message.name, content: message.content };
  if (message.role !== 'assistant' || message.calls.length === 0) return { role: message.role, content: message.content };
  const calls = message.calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } }));
  return { role: 'assistant', content: message.content, tool_calls: calls };
}

function asText(messages: readonly EngineMessage[], tools: readonly ToolSchema[]): PlainMessage[] {
  const said = messages.map((message): PlainMessage => {
    if (message.role === 'tool') return { role: 'user', content: resultInWords(message.content) };
    if (message.role !== 'assistant') return { role: message.role, content: message.content };
    const calls = message.calls.map(({ name, args }) => ({ name, args: JSON.stringify(args) }));
    return { role: 'assistant', content: callsInWords(message.content, calls) };
  });
  const joined = joinRoles(said);
  if (tools.length === 0) return joined;
  const [first, ...rest] = joined;
  const words = toolsInWords(tools);
  if (first?.role === 'system') return [{ role: 'system', content: `${first.content}\n\n${words}` }, ...rest];
  return [{ role: 'system', content: words }, ...joined];
}

/** Joins consecutive messages of the same role. */
function joinRoles(messages: readonly PlainMessage[]): PlainMessage[] {
  const joined: PlainMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === message.role) joined[joined.length - 1] = { role: last.role, content: `${last.content}\n\n${message.content}` };
    else joined.push(message);
  }
  return joined;
}

/** Turns system messages into user messages and starts with the user. */
function alternating(messages: readonly PlainMessage[]): PlainMessage[] {
  const asUser = messages.map((message): PlainMessage => (message.role === 'system' ? { ...message, role: 'user' } : message));
  const opened: PlainMessage[] =
    asUser[0]?.role === 'assistant' ? [{ role: 'user', content: '(the conversation continues)' }, ...asUser] : asUser;
  return joinRoles(opened);
}
