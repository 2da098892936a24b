// The operations on the identity of agents and on prompt files. A thin layer over the two books.

import { mainAgentId } from '../../contracts/agents.ts';
import { systemSessionId, type EventOf } from '../../contracts/events.ts';
import type { identityOps, PromptVersion } from '../../contracts/features/identity.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { Spine } from '../feature.ts';
import type { IdentityBook } from './identity-book.ts';
import type { PromptBook } from './prompt-book.ts';

type IdentityOps = Pick<OpHandlers, keyof typeof identityOps>;

interface Handled extends Pick<Spine, 'log' | 'closing'> {
  readonly identity: IdentityBook;
  readonly prompts: PromptBook;
}

const VERSIONS_SHOWN = 50;
/** The maximum number of prompt.accepted events to read. */
const ACCEPTED_MAX = 10_000;

export function createIdentityOps(deps: Handled): IdentityOps {
  const { identity, prompts, closing } = deps;
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
    'prompt.list': ({ own }) => ({ prompts: prompts.list(own) }),
    'prompt.get': ({ name, version }) => prompts.get(name, version),
    'prompt.versions': ({ name }) => ({ versions: versionsOf(deps, name) }),
    'prompt.diff': ({ name, from, to }) => prompts.diff(name, from, to),
    'prompt.set': ({ name, text }, caller) => prompts.set(name, text, caller.actor),
    'prompt.refresh': async ({ name }, caller) => ({ prompts: await prompts.refresh(name, caller.actor, caller.signal ?? closing) }),
    'prompt.accept': ({ name, sha256 }, caller) => prompts.accept(name, sha256, caller.actor),
  };
}

/** The files define which versions exist; the log says who created each. */
function versionsOf({ prompts, log }: Handled, name: string): PromptVersion[] {
  const accepted = new Map<number, EventOf<'prompt.accepted'>>();
  for (const event of log.reads.slice(systemSessionId, { types: ['prompt.accepted'], limit: ACCEPTED_MAX, newest: true })) {
    if (event.type === 'prompt.accepted' && event.body.name === name) accepted.set(event.body.version, event);
  }
  // Fails with not_found for an unknown name. A prompt that has only a remote source has no version yet.
  const there = prompts.list().find((prompt) => prompt.name === name)?.versions ?? [prompts.get(name).version];
  return there.toReversed().map((version) => {
    const event = accepted.get(version);
    return { version, by: event?.body.by ?? null, atMs: event?.atMs ?? null, url: event?.body.url ?? null };
  });
}
