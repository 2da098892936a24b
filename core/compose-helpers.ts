// The part of the composition by which agents call each other. Read compose.ts first.

import { systemLater } from './base/later.ts';
import type { ToolDefinition } from './contracts/tools.ts';
import type { PromptBook } from './mind/identity/identity.ts';
import { createHelperTools, HelperQueue } from './runtime/a2a/a2a.ts';
import type { TurnRuntime } from './runtime/turns/turns.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';
import type { Skills } from './compose-skills.ts';

interface HelperParts {
  readonly turns: TurnRuntime;
  readonly prompts: Pick<PromptBook, 'own'>;
  readonly skills: Pick<Skills, 'meetHelpers'>;
}

/** To be called once the turn runtime is among the lifetimes: on the way down the queue has to stop listening first. */
export function composeHelpers(
  { clock, ids, logger, config, agents, crashPoints, lifetimes }: Base,
  { log, helperRows, marks }: Store,
  { panic }: Guard,
  { turns, prompts, skills }: HelperParts,
): { readonly helpers: HelperQueue; readonly tools: readonly ToolDefinition[] } {
  const sourcesOf = (sessionId: string) => marks.session(sessionId)?.sources ?? [];
  const limits = config.helpers;
  const helpers = lifetimes.add(
    new HelperQueue({
      log,
      rows: helperRows,
      clock,
      later: systemLater,
      ids,
      logger,
      limits,
      panic,
      turns,
      agents,
      sourcesOf,
      instructions: () => prompts.own('trayclaw-helper'),
      crashPoints,
    }),
  );
  skills.meetHelpers({
    call: (from, wanted) => helpers.call(from, wanted),
    whenFinished: (jobId, signal) => helpers.whenFinished(jobId, signal),
    modelsAbove: (turnId) => helpers.modelsAbove(turnId),
    sourcesOf,
  });
  return { helpers, tools: createHelperTools({ calls: helpers, agents: agents.list(), limits, sourcesOf }) };
}
