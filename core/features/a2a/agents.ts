// The agents of config.yaml and the peers on other machines. A peer is an agent like any other whose model is the peer.

import { AgentRegistry, type AgentCapsules } from '../../agent/registry/registry.ts';
import type { AgentConfig } from '../../contracts/agents.ts';
import { groupPeer, peerModelPrefix, type A2aConfig, type PeerConfig } from '../../contracts/features/a2a.ts';
import { readBelow } from '../../store/home/home.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';

type Taken = Pick<Spine, 'config' | 'home'> & { readonly capsules: AgentCapsules };

export const agents = defineBuiltInFeature({
  name: 'agents',
  create: ({ config, home, capsules }: Taken) => ({
    gives: {
      agents: new AgentRegistry({
        agents: { ...config.agents, ...peerAgents(config.a2a.peers) },
        limits: config.helpers,
        capsules,
        readText: (path) => readBelow(home, path),
      }),
      remote: remoteCalls(config.a2a),
    },
  }),
});

/** Peers as agents that other agents may call, with separate bounds and without tools of this machine. */
function peerAgents(peers: Readonly<Record<string, PeerConfig>>): Record<string, AgentConfig> {
  return Object.fromEntries(
    Object.entries(peers).map(([peer, { url, description, capabilities, minutes, usd, tokens }]): [string, AgentConfig] => [
      peer,
      {
        description: description ?? `An agent on another machine (${new URL(url).host}).`,
        ...(capabilities === undefined ? {} : { capabilities }),
        model: `${peerModelPrefix}${peer}`,
        tools: [],
        helpers: [],
        bounds: {
          depth: 0,
          ...(minutes === undefined ? {} : { turnMs: Math.round(minutes * 60_000) }),
          ...(usd === undefined ? {} : { usd }),
          ...(tokens === undefined ? {} : { tokens }),
        },
      },
    ]),
  );
}

/** Returns lookups for where a subagent call leaves this machine: to the host of a peer, or through the group. */
function remoteCalls({ peers, transport }: Pick<A2aConfig, 'peers' | 'transport'>) {
  const hostOf = (agentId: string): string | null => {
    const peer = Object.hasOwn(peers, agentId) ? peers[agentId] : undefined;
    return peer === undefined ? null : new URL(peer.url).hostname;
  };
  const carrierOf = (agentId: string): string | null =>
    transport === 'nats' && hostOf(agentId) === null ? peerModelPrefix + groupPeer(agentId) : null;
  return { hostOf, carrierOf };
}
