// Identity: who each agent is, as capsules and versioned prompt files, and the texts of TrayClaw's own prompts that are in use.

import { join } from 'node:path';
import { assertKnownAgent } from '../../agent/registry/registry.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { PromptText } from '../../contracts/own-prompts.ts';
import { GuardedFetch } from '../../guard/egress/egress.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { IdentityBook } from './identity-book.ts';
import { createIdentityOps } from './ops.ts';
import { langfuseLabel, PromptBook, type PromptBookDeps } from './prompt-book.ts';
import { identityMigrations, IdentityRows } from './rows.ts';

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
    return { handlers: createIdentityOps({ log, identity: capsules, prompts, closing }), gives: { capsules, prompt } };
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
