// The health check of the MCP servers: reports those that wait for a person and those that cannot be reached. Reports nothing if none are
// configured; starts none.

import type { McpServerView } from '../../contracts/features/mcp.ts';
import { counted, unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';

export function mcpChecks(list: () => readonly McpServerView[]): HealthSource {
  return { check: () => list().flatMap(findingOf) };
}

function findingOf({ name, state, problem, tools }: McpServerView): Finding[] {
  const id = `mcp.${name}`;
  const approved = tools.filter((tool) => tool.state === 'approved').length;
  const look = `trayclaw mcp test ${name}`;
  switch (state) {
    case 'off':
      return [];
    case 'waiting':
      return [warning(id, `The MCP server ${name} waits for your approval; the agent cannot use it.`, look)];
    case 'changed': {
      const changed = tools.filter((tool) => tool.state !== 'approved').length;
      return [
        warning(
          id,
          `The MCP server ${name} no longer offers what you approved; ${counted(changed, 'tool is', 'tools are')} withheld.`,
          look,
        ),
      ];
    }
    case 'sign-in':
      return [unwell(id, `The MCP server ${name} wants you to sign in.`, `trayclaw mcp login ${name}`)];
    case 'failed':
      return [unwell(id, problem ?? `The MCP server ${name} failed.`, look)];
    case 'idle':
    case 'starting':
      return [well(id, `The MCP server ${name} starts when it is needed; ${counted(approved, 'tool')} approved.`)];
    case 'connected':
      return [well(id, `The MCP server ${name} is connected; ${counted(approved, 'tool')} approved.`)];
  }
}
