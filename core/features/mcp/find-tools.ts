// The find_tools tool: searches for tools of MCP servers by what they do. It is offered only if there are more tools than a model should
// see at once. Reads only approved tools.

import * as z from 'zod';
import type { McpTool } from '../../contracts/features/mcp.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import { offeredName } from './tool-pins.ts';

export const FOUND_MAX = 8;

export interface OfferedMcpTool {
  readonly server: string;
  readonly tool: McpTool;
}

export function createFindTools(offered: () => readonly OfferedMcpTool[], onFound: (tools: readonly McpTool[]) => void): ToolDefinition {
  return defineTool({
    name: 'find_tools',
    description:
      'Find tools of the connected MCP servers by what they do. What it finds can be called by its name from the next step on. ' +
      'Use it when no tool you see fits the task.',
    input: z.strictObject({ query: z.string().min(1).max(300).describe('what the tool should do, in a few words') }),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: ({ query }) => `look for tools: ${query.slice(0, 80)}`,
    run: ({ query }) => {
      const tools = rankTools(query, offered()).slice(0, FOUND_MAX);
      onFound(tools.map(({ tool }) => tool));
      return Promise.resolve(found(tools));
    },
  });
}

function found(tools: readonly OfferedMcpTool[]) {
  if (tools.length === 0) return { forModel: 'No tool of an MCP server fits. Try other words.' };
  const lines = tools.map(({ server, tool }) => `${offeredName(server, tool.name)}: ${firstLine(tool.description)}`);
  const servers = [...new Set(tools.map(({ server }) => server))];
  // The descriptions were written by the servers.
  return { forModel: lines.join('\n'), untrusted: servers.map((where) => ({ kind: 'mcp' as const, where })) };
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

/**
 * The tools that share a word with the query, best first. A word in the name counts three times as much as one in the description, and rare
 * words count more.
 */
export function rankTools(query: string, tools: readonly OfferedMcpTool[]): readonly OfferedMcpTool[] {
  const wanted = [...new Set(wordsOf(query))];
  const documents = tools.map(({ server, tool }) => ({
    name: new Set(wordsOf(`${server} ${tool.name}`)),
    about: new Set(wordsOf(tool.description)),
  }));
  const weight = new Map(
    wanted.map((word) => {
      const having = documents.filter(({ name, about }) => name.has(word) || about.has(word)).length;
      return [word, Math.log(1 + tools.length / (having + 1))];
    }),
  );
  const scored = tools.map((tool, at) => ({
    tool,
    score: wanted.reduce((sum, word) => {
      const has = documents[at]?.name.has(word) === true ? 3 : documents[at]?.about.has(word) === true ? 1 : 0;
      return sum + has * (weight.get(word) ?? 0);
    }, 0),
  }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
}

/** Splits text into lower-case words without plural and inflection endings. */
function wordsOf(text: string): string[] {
  const parts =
    text
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return parts.filter((word) => word.length > 1).map((word) => (word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word));
}
