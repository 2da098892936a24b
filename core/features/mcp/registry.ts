// The servers of config.yaml and their approved tools in the tool host. Withheld tools are removed at once. Starts nothing.

import * as z from 'zod';
import { noSuch } from '../../contracts/errors.ts';
import type { Config } from '../../contracts/config.ts';
import type { McpServerView, McpTool } from '../../contracts/features/mcp.ts';
import type { CallFacts, ToolClass, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool, type NamedPlaces } from '../../hands/tools/tools.ts';
import type { Spine } from '../feature.ts';
import { questionMs } from './questions.ts';
import { callMsDefault, McpServer, type ServerDeps } from './server.ts';
import { approvalHash, offeredName, shown } from './tool-pins.ts';

export interface RegistryDeps extends Omit<ServerDeps, 'onListed'> {
  readonly tools: Pick<Spine['tools'], 'register'>;
  readonly namedPlaces: NamedPlaces;
}

interface Entry {
  readonly server: McpServer;
  /** The pins of the tools offered now, and whether a model sees each; compared to detect changes. */
  offered: string;
  withdraw: (() => void)[];
}

export class McpRegistry {
  readonly #deps: RegistryDeps;
  readonly #entries = new Map<string, Entry>();
  /** Pins of the tools that a search found, oldest first. */
  readonly #found = new Set<string>();
  #withdrawSearch: (() => void) | null = null;
  #toolsShown = 0;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  /** Applies the settings. Servers whose settings did not change keep running. */
  take({ servers, toolsShown }: Config['mcp']): void {
    this.#toolsShown = toolsShown;
    for (const [name, entry] of this.#entries) {
      if (JSON.stringify(servers[name]) === JSON.stringify(entry.server.config)) continue;
      this.#drop(entry);
      this.#entries.delete(name);
    }
    for (const [name, config] of Object.entries(servers)) {
      if (this.#entries.has(name)) continue;
      const server = this.make(name, config);
      this.#entries.set(name, { server, offered: '', withdraw: [] });
    }
    this.#offer();
  }

  /** Creates a server that is not in the list, to show what it would be. */
  make(name: string, config: McpServer['config']): McpServer {
    return new McpServer({ ...this.#deps, onListed: (server) => this.refresh(server) }, name, config);
  }

  /** Fails with not_found. */
  server(name: string): McpServer {
    const entry = this.#entries.get(name);
    if (entry !== undefined) return entry.server;
    const known = [...this.#entries.keys()];
    throw noSuch(
      'MCP server',
      name,
      known,
      known.length === 0 ? 'Add one: trayclaw mcp add NAME COMMAND' : `There are: ${known.join(', ')}.`,
    );
  }

  views(): McpServerView[] {
    return [...this.#entries.values()].map(({ server }) => server.view());
  }

  /** Offers the tools that are approved and unchanged. Called whenever the approval or the listing changes. */
  refresh(server: McpServer): void {
    if (this.#entries.get(server.name)?.server === server) this.#offer();
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ server }) => server.dispose()));
  }

  #drop({ server, withdraw }: Entry): void {
    for (const one of withdraw.splice(0)) one();
    void server.dispose();
  }

  /** If there are more tools than a model should see at once, the model sees only those it found last, and the search. */
  #offer(): void {
    const all = this.#offered();
    const isSearch = all.length > this.#toolsShown;
    for (const entry of this.#entries.values()) {
      const tools = entry.server.offered.map((tool) => ({ tool, isShown: !isSearch || this.#found.has(tool.sha256) }));
      const offered = tools.map(({ tool, isShown }) => `${tool.sha256} ${isShown}`).join();
      if (offered === entry.offered) continue;
      for (const withdraw of entry.withdraw.splice(0)) withdraw();
      entry.withdraw = tools.map(({ tool, isShown }) =>
        this.#deps.tools.register({
          ...createMcpTool(entry.server, tool, this.#deps.namedPlaces),
          ...(isShown ? {} : { isSearched: true as const }),
        }),
      );
      entry.offered = offered;
    }
    if (isSearch === (this.#withdrawSearch !== null)) return;
    this.#withdrawSearch?.();
    const search = createFindTools(
      () => this.#offered(),
      (found) => this.#show(found),
    );
    this.#withdrawSearch = isSearch ? this.#deps.tools.register(search) : null;
  }

  /** Adds found tools as the newest and evicts the oldest. */
  #show(found: readonly McpTool[]): void {
    for (const { sha256 } of found) {
      this.#found.delete(sha256);
      this.#found.add(sha256);
    }
    for (const oldest of this.#found) {
      if (this.#found.size <= Math.max(this.#toolsShown, FOUND_MAX)) break;
      this.#found.delete(oldest);
    }
    this.#offer();
  }

  #offered(): OfferedMcpTool[] {
    return [...this.#entries.values()].flatMap(({ server }) => server.offered.map((tool) => ({ server: server.name, tool })));
  }
}

// A tool of a server as a tool of the gate. The server cannot lower its class: every tool asks, and a tool that the server calls
// destructive asks every time. States facts; makes no decision.
function createMcpTool(server: McpServer, tool: McpTool, namedPlaces: NamedPlaces): ToolDefinition {
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

// The find_tools tool: searches for tools of MCP servers by what they do. It is offered only if there are more tools than a model should
// see at once. Reads only approved tools.

const FOUND_MAX = 8;

interface OfferedMcpTool {
  readonly server: string;
  readonly tool: McpTool;
}

function createFindTools(offered: () => readonly OfferedMcpTool[], onFound: (tools: readonly McpTool[]) => void): ToolDefinition {
  return defineTool({
    name: 'find_tools',
    description:
      'Find tools of the connected MCP servers by what they do. From the next step on, the tools it finds can be called by name. ' +
      'Use it when none of your tools fits the task.',
    input: z.strictObject({ query: z.string().min(1).max(300).describe('What the tool should do, in a few words.') }),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: ({ query }) => `look for tools: ${query.slice(0, 80)}`,
    run: ({ query }) => {
      const tools = rankTools(query, offered()).slice(0, FOUND_MAX);
      onFound(tools.map(({ tool }) => tool));
      return Promise.resolve(foundTools(tools));
    },
  });
}

function foundTools(tools: readonly OfferedMcpTool[]) {
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
function rankTools(query: string, tools: readonly OfferedMcpTool[]): readonly OfferedMcpTool[] {
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
