// Operations on who an agent is, and on the prompt files it names. Thin: what they do is mind/identity's.

import { mainAgentId } from '../../contracts/agents.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { OpsDeps } from './deps.ts';

type IdentityOps = Pick<OpHandlers, `${'identity' | 'prompt'}.${string}` & keyof OpHandlers>;

const VERSIONS_SHOWN = 50;

export function createIdentityOps({ identity, prompts, closing }: OpsDeps): IdentityOps {
  return {
    'identity.get': ({ agentId = mainAgentId, version }) => {
      const found = identity.get(agentId, version);
      return { ...found, text: identity.textOf(found.capsule) };
    },
    'identity.set': ({ agentId = mainAgentId, note, basedOn, ...wish }, caller) =>
      identity.set(agentId, wish, { by: caller.actor, note, basedOn }),
    'identity.versions': ({ agentId = mainAgentId, limit }) => ({ versions: identity.versions(agentId, limit ?? VERSIONS_SHOWN) }),
    'identity.diff': ({ agentId = mainAgentId, from, to }) => identity.diff(agentId, from, to),
    'identity.revert': ({ agentId = mainAgentId, version }, caller) => identity.revert(agentId, version, caller.actor),
    'prompt.list': () => ({ prompts: prompts.list() }),
    'prompt.get': ({ name, version }) => prompts.get(name, version),
    'prompt.set': ({ name, text }, caller) => prompts.set(name, text, caller.actor),
    'prompt.refresh': async ({ name }, caller) => ({ prompts: await prompts.refresh(name, caller.actor, caller.signal ?? closing) }),
    'prompt.accept': ({ name, sha256 }, caller) => prompts.accept(name, sha256, caller.actor),
  };
}
