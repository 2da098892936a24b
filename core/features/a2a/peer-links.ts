// The peers of config.yaml. Connects to each on first use, and again after a failed attempt. Knows nothing about tasks.

import { AppError, toAppError } from '../../contracts/errors.ts';
import {
  type A2aConfig,
  groupAgentOf,
  isPeerModel,
  type PeerConfig,
  peerModelPrefix,
  type PeerView,
} from '../../contracts/features/a2a.ts';
import type { SafeRequest } from '../../contracts/llm.ts';
import { type ModelPort, withOwnModels } from '../../runtime/turns/turns.ts';
import type { Spine } from '../feature.ts';
import type { PeerClient } from './peer-client.ts';
import type { PeerWork } from './peer-work.ts';

export interface PeerLinksDeps {
  readonly peers: A2aConfig['peers'];
  readonly secrets: Pick<Spine['secrets'], 'resolve'>;
  readonly fetch: typeof globalThis.fetch;
  readonly openAt: (peer: string) => number;
}

const LOOK_MS = 3_000;

export class PeerLinks {
  readonly #deps: PeerLinksDeps;
  readonly #links = new Map<string, Promise<PeerClient>>();

  constructor(deps: PeerLinksDeps) {
    this.#deps = deps;
  }

  /** Fails with model_unknown, model_unavailable, model_auth or model_rejected, or as the lookup of the token does. */
  async to(peer: string): Promise<PeerClient> {
    const known = this.#links.get(peer);
    if (known !== undefined) return known;
    const made = this.#connect(peer);
    this.#links.set(peer, made);
    try {
      return await made;
    } catch (cause) {
      this.#links.delete(peer);
      throw cause;
    }
  }

  /** Fetches the card of every peer in parallel. */
  look(closing: AbortSignal): Promise<PeerView[]> {
    return Promise.all(Object.keys(this.#deps.peers).map((peer) => this.#look(peer, closing)));
  }

  async #look(peer: string, closing: AbortSignal): Promise<PeerView> {
    const about = { peer, url: this.#deps.peers[peer]?.url ?? '', open: this.#deps.openAt(peer) };
    const nothing = { name: '', description: '', skills: [], once: false };
    try {
      const client = await this.#connect(peer, AbortSignal.any([closing, AbortSignal.timeout(LOOK_MS)]));
      const { name, description, skills } = client.card;
      return { ...about, state: 'connected', problem: null, name, description, skills: [...skills], once: client.once };
    } catch (cause) {
      const { code, message } = toAppError(cause);
      const state = code === 'model_auth' ? 'refused' : code === 'model_unavailable' || code === 'cancelled' ? 'unreachable' : 'unusable';
      return { ...about, ...nothing, state, problem: message };
    }
  }

  async #connect(peer: string, signal?: AbortSignal): Promise<PeerClient> {
    const { peers, secrets, fetch } = this.#deps;
    const config = Object.hasOwn(peers, peer) ? peers[peer] : undefined;
    if (config === undefined) throw new AppError('model_unknown', `There is no peer ${peer} in config.yaml (a2a.peers).`);
    const token = config.token === undefined ? null : (await secrets.resolve(config.token)).trim();
    const { connectPeer } = await import('./peer-client.ts');
    const fetchUntil: typeof fetch = (input, init) => fetch(input, signal === undefined ? init : { ...init, signal });
    return connectPeer({ peer, url: config.url, token }, fetchUntil);
  }
}

// A remote agent as a model. The peer answers its turns, so budgets, the panic stop, the queue of subagents and the log apply to it as to
// every other agent. Only the message leaves this machine: no prompt, no tools, no memory.

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
