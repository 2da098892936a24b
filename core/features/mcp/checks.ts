// The health check of the MCP servers: reports those that wait for a person, those that cannot be reached, and settings that name a tool
// which a server does not have. Reports nothing if none are configured; starts none.

import { counted } from '../../base/counted.ts';
import { didYouMean, nearNames } from '../../base/near-names.ts';
import { configSchema, type Config } from '../../contracts/config.ts';
import type { McpServerView } from '../../contracts/features/mcp.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import { namesIn, type FoundName } from '../../contracts/named-things.ts';

export function mcpChecks(list: () => readonly McpServerView[], settings: { readonly config: Config }): HealthSource {
  return {
    check: () => {
      const named = namesIn(configSchema, settings.config);
      return list().flatMap((server) => [...findingOf(server), ...unknownTools(server, named)]);
    },
  };
}

/** Names tools that the server does not have. Empty until the server was asked for its tools. */
function unknownTools({ name: server, tools }: McpServerView, named: readonly FoundName[]): Finding[] {
  if (tools.length === 0) return [];
  const known = tools.map((tool) => tool.name);
  return named
    .filter(({ kind, name }) => kind === 'tool' && name.startsWith(`${server}__`) && !known.includes(name))
    .map(({ name, place }, index) => {
      const hint = didYouMean(nearNames(name, known)) ?? `See: trayclaw mcp test ${server}`;
      return warning(`mcp.${server}.tools.${index + 1}`, `${place}: the MCP server ${server} has no tool ${JSON.stringify(name)}.`, hint);
    });
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
