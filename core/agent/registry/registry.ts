// Provides the agents of config.yaml to turns: model, identity, bounds, callable agents, chats. Starts nothing.

import { mainAgentId, type AgentConfig, type AgentListing, type HelperLimits } from '../../contracts/agents.ts';
import { noSuch } from '../../contracts/errors.ts';
import { wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';

export interface AgentRegistryDeps {
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly limits: Pick<HelperLimits, 'depth'>;
  readonly capsules: AgentCapsules;
  /** Reads a text file below the data folder. Returns null if it cannot be read. */
  readText(path: string): string | null;
}

/** The parts of an agent's identity that are not in config.yaml. */
export interface AgentCapsules {
  /** Empty if the agent has no such text. */
  textOfAgent(agentId: string): string;
  /** Returns whether the agent must not change anything. */
  isReadOnly(agentId: string): boolean;
}

type Agents = AgentRegistryDeps['agents'];

/** Fails with not_found for an agent that config.yaml does not name; `main` always exists. */
export function assertKnownAgent(agents: Agents, agentId: string): void {
  const ids = idsOf(agents);
  if (ids.includes(agentId)) return;
  throw noSuch('agent', agentId, ids, `Those in config.yaml are: ${ids.join(', ')}.`);
}

function idsOf(agents: Agents): string[] {
  return [mainAgentId, ...Object.keys(agents).filter((agentId) => agentId !== mainAgentId)];
}

export class AgentRegistry {
  readonly #deps: AgentRegistryDeps;

  constructor(deps: AgentRegistryDeps) {
    this.#deps = deps;
  }

  list(): AgentListing[] {
    return this.#ids().map((agentId) => this.get(agentId));
  }

  has(agentId: string): boolean {
    return this.#ids().includes(agentId);
  }

  /** Fails with not_found. */
  get(agentId: string): AgentListing {
    this.assertKnown(agentId);
    const { name, description, capabilities, model, tools, routes } = this.#config(agentId);
    return {
      agentId,
      name: name ?? agentId,
      description: description ?? '',
      capabilities: capabilities ?? [],
      model: model ?? null,
      tools: tools ?? null,
      bounds: this.boundsOf(agentId),
      helpers: this.helpersOf(agentId),
      routes: (routes ?? []).map(({ channel, chatId }) => ({ channel, chatId: chatId ?? null })),
    };
  }

  /** Fails with not_found. */
  assertKnown(agentId: string): void {
    assertKnownAgent(this.#deps.agents, agentId);
  }

  modelOf(agentId: string): string | null {
    return this.#config(agentId).model ?? null;
  }

  /** The bounds of the agent's turns, or null if there are none. */
  boundsOf(agentId: string): TurnBounds | null {
    const { tools, bounds: configured } = this.#config(agentId);
    const bounds = this.#deps.capsules.isReadOnly(agentId) ? readOnly(configured) : configured;
    if (tools === undefined && bounds === undefined) return null;
    const { tools: named, ...given } = bounds ?? {};
    const both = tools === undefined ? (named ?? null) : tools.filter((tool) => named?.includes(tool) ?? true);
    const rest = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return { ...wholeBounds, depth: this.#deps.limits.depth, ...rest, tools: both };
  }

  /** Empty if the agent has no identity. The file is reread each time, so a change takes effect with the next turn. */
  identityOf(agentId: string): string {
    const { identity, identityFile } = this.#config(agentId);
    const fromFile = identityFile === undefined ? '' : (this.#deps.readText(identityFile) ?? '').trim();
    return [this.#deps.capsules.textOfAgent(agentId), identity ?? '', fromFile].filter((text) => text !== '').join('\n\n');
  }

  helpersOf(agentId: string): string[] {
    const { helpers } = this.#config(agentId);
    if (helpers !== undefined) return helpers.filter((other) => this.has(other));
    return agentId === mainAgentId ? this.#ids() : [agentId];
  }

  /** Returns the agent of a chat: by the exact chat first, then by the channel, otherwise main. */
  route({ channel, chatId }: { readonly channel: string; readonly chatId: string | null }): string {
    const routed = (fits: (route: { readonly chatId?: string | undefined }) => boolean): string | undefined =>
      this.#ids().find((agentId) => this.#config(agentId).routes?.some((route) => route.channel === channel && fits(route)) === true);
    const exact = chatId === null ? undefined : routed((route) => route.chatId === chatId);
    return exact ?? routed((route) => route.chatId === undefined) ?? mainAgentId;
  }

  #ids(): string[] {
    return idsOf(this.#deps.agents);
  }

  #config(agentId: string): AgentConfig {
    return Object.hasOwn(this.#deps.agents, agentId) ? (this.#deps.agents[agentId] ?? {}) : {};
  }
}

function readOnly(bounds: AgentConfig['bounds']): NonNullable<AgentConfig['bounds']> {
  const classes = bounds?.classes ?? null;
  return { ...bounds, classes: classes === null || classes.includes('read') ? ['read'] : [] };
}
