// Identity: who each agent is, as capsules and versioned prompt files, and the texts of TrayClaw's own prompts that are in use.

import { join } from 'node:path';
import { assertKnownAgent } from '../../agent/registry/registry.ts';
import { AppError } from '../../contracts/errors.ts';
import { type AnyDraft, systemSessionId, type EventOf } from '../../contracts/events.ts';
import type { PromptText } from '../../contracts/own-prompts.ts';
import { GuardedFetch } from '../../guard/egress/egress.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { IdentityBook } from './identity-book.ts';
import { langfuseLabel, PromptBook, type PromptBookDeps } from './prompt-book.ts';
import { identityMigrations, IdentityRows } from './rows.ts';
import { mainAgentId } from '../../contracts/agents.ts';
import type { PromptVersion } from '../../contracts/features/identity.ts';
import type { OpHandlers } from '../../contracts/ops.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'log' | 'home' | 'safety' | 'closing' | 'secrets' | 'options'>;

const PROMPT_BYTES_MAX = 200_000;

export const identity = defineBuiltInFeature({
  name: 'identity',
  migrations: identityMigrations,
  rows: ({ db }) => new IdentityRows(db),
  create: (spine: Taken, rows: IdentityRows) => {
    const { config, clock, log, home, closing } = spine;
    const record = (sessionId: string, drafts: readonly AnyDraft[]): void => void log.append(sessionId, drafts, true);
    const fetchText = createFetch(spine);
    const prompts = new PromptBook({
      own: spine.options.prompts ?? {},
      folder: join(home, 'prompts'),
      sources: config.prompts,
      record,
      fetchText,
    });
    const capsules = new IdentityBook({
      rows,
      clock,
      prompts,
      record,
      assertAgent: (agentId) => {
        assertKnownAgent(config.agents, agentId);
      },
    });
    const prompt: PromptText = (name) => prompts.own(name);
    return { handlers: createIdentityOps({ log, capsules, prompts, closing }), gives: { capsules, prompt } };
  },
});

function createFetch({ safety: judge, config, secrets }: Taken): PromptBookDeps['fetchText'] {
  const { timeoutMs } = config.web;
  const quick = Math.min(timeoutMs, 10_000);
  const limits = { connectMs: quick, headersMs: quick, idleMs: quick, totalMs: timeoutMs, bytesMax: PROMPT_BYTES_MAX };
  const http = new GuardedFetch({ judge, limits });
  return async ({ url = '', langfuse: name, label = langfuseLabel }, signal) => {
    if (name !== undefined) {
      const { langfusePrompt } = await import('./langfuse-prompt.ts');
      return langfusePrompt({ name, label }, config.telemetry.langfuse, { resolve: (ref) => secrets.resolve(ref), limits }, signal);
    }
    const answer = await http.fetch({ url, headers: { accept: 'text/markdown, text/plain;q=0.9' } }, signal);
    if (answer.status === 200 && !answer.isCut && answer.redirectTo === null) return answer.body.toString('utf8');
    const what = answer.isCut ? 'gave too much' : answer.redirectTo === null ? `answered ${answer.status}` : 'leads to another host';
    throw new AppError('fetch_failed', `The source of the prompt ${what}.`);
  };
}

interface Handled extends Pick<Spine, 'log' | 'closing'> {
  readonly capsules: IdentityBook;
  readonly prompts: PromptBook;
}

const VERSIONS_SHOWN = 50;
/** The maximum number of prompt.accepted events to read. */
const ACCEPTED_MAX = 10_000;

/** The operations on the identity of agents and on prompt files. A thin layer over the two books. */
function createIdentityOps(deps: Handled) {
  const { capsules, prompts, closing } = deps;
  return {
    'identity.get': ({ agentId = mainAgentId, version }) => {
      const found = capsules.get(agentId, version);
      return { ...found, text: capsules.textOf(found.capsule) };
    },
    'identity.set': ({ agentId = mainAgentId, note, basedOn, ...wish }, caller) =>
      capsules.set(agentId, wish, { by: caller.actor, note, basedOn }),
    'identity.versions': ({ agentId = mainAgentId, limit }) => ({ versions: capsules.versions(agentId, limit ?? VERSIONS_SHOWN) }),
    'identity.diff': ({ agentId = mainAgentId, from, to }) => capsules.diff(agentId, from, to),
    'identity.revert': ({ agentId = mainAgentId, version }, caller) => capsules.revert(agentId, version, caller.actor),
    'prompt.list': ({ own }) => ({ prompts: prompts.list(own) }),
    'prompt.get': ({ name, version }) => prompts.get(name, version),
    'prompt.versions': ({ name }) => ({ versions: versionsOf(deps, name) }),
    'prompt.diff': ({ name, from, to }) => prompts.diff(name, from, to),
    'prompt.set': ({ name, text }, caller) => prompts.set(name, text, caller.actor),
    'prompt.refresh': async ({ name }, caller) => ({ prompts: await prompts.refresh(name, caller.actor, caller.signal ?? closing) }),
    'prompt.accept': ({ name, sha256 }, caller) => prompts.accept(name, sha256, caller.actor),
  } satisfies Partial<OpHandlers>;
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
