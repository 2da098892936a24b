// The template engine of the double: the two templates of the scripted files, and the variables that a chat template receives. For tests
// only.

import { plainTemplate, toolTemplate } from '../gguf.ts';
import { onlyKeys } from './strict.ts';

const roles = ['system', 'user', 'assistant', 'tool'];

export class Template {
  readonly #source: string;

  constructor(source: string) {
    if (source !== toolTemplate && source !== plainTemplate) throw new Error('Parser Error: the double does not know this template');
    this.#source = source;
  }

  render(variables: Readonly<Record<string, unknown>>): string {
    const given = onlyKeys('render', variables, ['messages', 'tools', 'add_generation_prompt', 'bos_token', 'eos_token']);
    const messages = (given['messages'] as Readonly<Record<string, unknown>>[]).map(checked);
    if (given['bos_token'] !== '<s>' || given['eos_token'] !== '</s>') throw new Error('the marks of the model are missing');
    const tools = given['tools'] as readonly unknown[] | undefined;
    if (tools !== undefined) for (const tool of tools) checkedTool(tool);
    if (this.#source === plainTemplate && messages[0]?.role === 'system') throw new Error('System role not supported');
    const said = messages.map(({ role, content }) => `[${role}] ${content}\n`).join('');
    if (given['add_generation_prompt'] !== true) return said;
    if (this.#source === plainTemplate) return `${said}<|say|>`;
    return said + (messages.some(({ role }) => role === 'tool') ? '<|told|>' : tools === undefined ? '<|say|>' : '<|call|>');
  }
}

function checked(message: Readonly<Record<string, unknown>>): { readonly role: string; readonly content: string } {
  const { role, content } = onlyKeys('a message', message, ['role', 'content', 'tool_calls', 'tool_call_id', 'name']);
  if (typeof role !== 'string' || !roles.includes(role) || typeof content !== 'string')
    throw new Error('a message without role or content');
  if ((role === 'tool') !== (typeof message['tool_call_id'] === 'string')) throw new Error('a result without its call');
  for (const call of (message['tool_calls'] ?? []) as unknown[]) {
    const { function: made } = onlyKeys('a call', call, ['id', 'type', 'function']);
    const { name, arguments: args } = onlyKeys('a call', made, ['name', 'arguments']);
    if (typeof name !== 'string' || typeof args !== 'object' || args === null) throw new Error('the arguments of a call are not object');
  }
  return { role, content };
}

function checkedTool(tool: unknown): void {
  const { type, function: offered } = onlyKeys('a tool', tool, ['type', 'function']);
  const { name, parameters } = onlyKeys('a tool', offered, ['name', 'description', 'parameters']);
  if (type !== 'function' || typeof name !== 'string' || typeof parameters !== 'object')
    throw new Error('a tool without name or parameters');
}
