// A remote agent as a model: its turns are answered by the peer, so that budgets, the panic stop, the queue of subagents and the log hold for it as
// for every other agent. What leaves is the message alone: no prompt, no tool, no memory of this machine.

import type { AgentConfig } from '../../contracts/agents.ts';
import { groupAgentOf, groupPeer, isPeerModel, peerModelPrefix, type A2aConfig, type PeerConfig } from '../../contracts/features/a2a.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ModelInfo, SafeRequest } from '../../contracts/llm.ts';
import type { ModelPort } from '../../runtime/turns/turns.ts';
import type { PeerWork } from './peer-work.ts';

interface Peers {
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly work: Pick<PeerWork, 'run'>;
}

/** The peers as agents that others may call: no tools of this machine, with separate bounds. */
export function peerAgents(peers: Readonly<Record<string, PeerConfig>>): Record<string, AgentConfig> {
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

/** How calls of subagents leave this machine. */
export function remoteCalls({ peers, transport }: Pick<A2aConfig, 'peers' | 'transport'>) {
  const hostOf = (agentId: string): string | null => {
    const peer = Object.hasOwn(peers, agentId) ? peers[agentId] : undefined;
    return peer === undefined ? null : new URL(peer.url).hostname;
  };
  const carrierOf = (agentId: string): string | null =>
    transport === 'nats' && hostOf(agentId) === null ? peerModelPrefix + groupPeer(agentId) : null;
  return { hostOf, carrierOf };
}

export function withPeers(models: ModelPort, { peers, work }: Peers): ModelPort {
  return {
    defaultRef: () => models.defaultRef(),
    defaultChoice: () => models.defaultChoice(),
    info: (ref) => (isPeerModel(ref) ? infoOf(ref) : models.info(ref)),
    askWindow: (ref, signal) => (isPeerModel(ref) ? null : (models.askWindow?.(ref, signal) ?? null)),
    cost: (ref, usage) => (isPeerModel(ref) ? 0 : models.cost(ref, usage)),
    stream: async (ref, request, sink, options) => {
      if (!isPeerModel(ref)) return models.stream(ref, request, sink, options);
      const peer = ref.slice(peerModelPrefix.length);
      if (groupAgentOf(peer) === null && !Object.hasOwn(peers, peer))
        throw new AppError('model_unknown', `There is no peer ${peer} in config.yaml (a2a.peers).`);
      const { place, signal } = options;
      if (place === undefined) throw new AppError('model_rejected', 'A remote agent is asked in a turn only.');
      return work.run({ peer, ...place, text: newWords(request), sink, signal });
    },
  };
}

/** The price is what the peer says it was. */
function infoOf(ref: string): ModelInfo {
  return { ref, contextTokens: 1_000_000, inputUsdPerMillion: 0, cachedInputUsdPerMillion: 0, outputUsdPerMillion: 0 };
}

/** The messages since the last answer of the peer, which keeps the conversation too. */
function newWords({ messages }: SafeRequest): string {
  const from = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  return messages
    .slice(from)
    .flatMap(({ role, text }) => (role === 'user' || role === 'note' ? [text] : []))
    .join('\n\n');
}
