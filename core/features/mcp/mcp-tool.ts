// A tool of a server as a tool of the gate. The server cannot lower its class: every tool asks, and a tool that the server calls
// destructive asks every time. States facts; makes no decision.

import * as z from 'zod';
import type { McpTool } from '../../contracts/features/mcp.ts';
import type { CallFacts, ToolClass, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool, type NamedPlaces } from '../../hands/tools/tools.ts';
import { questionMs } from './questions.ts';
import { callMsDefault, type McpServer } from './server.ts';
import { approvalHash, offeredName, shown } from './tool-pins.ts';

export function createMcpTool(server: McpServer, tool: McpTool, namedPlaces: NamedPlaces): ToolDefinition {
  const { url, timeoutMs = callMsDefault } = server.config;
  const kind: ToolClass = tool.isDestructive ? 'destructive' : url === undefined ? 'exec' : 'network';
  const risks = [
    ...(tool.isDestructive ? [`The MCP server ${server.name} says that this destroys something.`] : []),
    `The MCP server ${server.name} decides what this does, and gets everything in the arguments.`,
  ];
  const name = offeredName(server.name, tool.name);
  return defineTool({
    name,
    description: `${tool.description === '' ? tool.name : tool.description}\n(A tool of the MCP server ${server.name}.)`,
    input: argumentsSchema(tool),
    schema: tool.schema,
    class: kind,
    // The server's claim that a repeat is safe is ignored.
    idempotency: () => 'unsafe',
    timeoutMs: timeoutMs + 3 * questionMs,
    facts: (args, context): CallFacts => ({
      class: kind,
      paths: namedPlaces(args, server.folder, context),
      command: null,
      hosts: url === undefined ? [] : [new URL(url).hostname],
      risks,
      approved: approvalHash(server.definition, [tool]),
    }),
    summarize: (args) => `use ${shown(tool.name, 80)} of the MCP server ${server.name}${shortly(args)}`,
    run: (args, context) => server.call(tool, args, context),
  });
}

/** The server validates against its own schema. Only missing arguments are reported here. */
function argumentsSchema({ schema }: McpTool): z.ZodType<Record<string, unknown>> {
  const required = Array.isArray(schema['required']) ? schema['required'].filter((key) => typeof key === 'string') : [];
  return z.record(z.string(), z.unknown()).superRefine((args, context) => {
    for (const key of required) if (!Object.hasOwn(args, key)) context.addIssue({ code: 'custom', path: [key], message: 'is missing' });
  });
}

function shortly(args: Record<string, unknown>): string {
  const text = JSON.stringify(args);
  return text === '{}' ? '' : ` with ${shown(text, 160)}`;
}
