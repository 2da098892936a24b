// A remote agent as a model. The peer answers its turns, so budgets, the panic stop, the queue of subagents and the log apply to it as to
// every other agent. Only the message leaves this machine: no prompt, no tools, no memory.

import { groupAgentOf, isPeerModel, peerModelPrefix, type PeerConfig } from '../../contracts/features/a2a.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SafeRequest } from '../../contracts/llm.ts';
import { withOwnModels, type ModelPort } from '../../runtime/turns/turns.ts';
import type { PeerWork } from './peer-work.ts';

interface Peers {
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly work: Pick<PeerWork, 'run'>;
}

/** A peer reports its own cost. */
export function withPeers(models: ModelPort, { peers, work }: Peers): ModelPort {
  return withOwnModels(models, isPeerModel, async (ref, request, sink, { place, signal }) => {
    const peer = ref.slice(peerModelPrefix.length);
    if (groupAgentOf(peer) === null && !Object.hasOwn(peers, peer))
      throw new AppError('model_unknown', `There is no peer ${peer} in config.yaml (a2a.peers).`);
    if (place === undefined) throw new AppError('model_rejected', 'A remote agent is asked in a turn only.');
    return work.run({ peer, ...place, text: newWords(request), sink, signal });
  });
}

/** The messages since the peer's last answer. The peer keeps the earlier conversation. */
function newWords({ messages }: SafeRequest): string {
  const from = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  return messages
    .slice(from)
    .flatMap(({ role, text }) => (role === 'user' || role === 'note' ? [text] : []))
    .join('\n\n');
}
