// The servers of config.yaml and their approved tools in the tool host. Withheld tools are removed at once. Starts nothing.

import { noSuch } from '../../contracts/no-such.ts';
import type { Config } from '../../contracts/config.ts';
import type { McpServerView, McpTool } from '../../contracts/features/mcp.ts';
import type { NamedPlaces } from '../../hands/tools/tools.ts';
import type { Spine } from '../feature.ts';
import { createFindTools, FOUND_MAX, type OfferedMcpTool } from './find-tools.ts';
import { createMcpTool } from './mcp-tool.ts';
import { McpServer, type ServerDeps } from './server.ts';

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
