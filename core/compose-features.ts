// The features, in one ordered list, and what of the spine they are handed. Read compose.ts first.

import { systemLater } from './base/later.ts';
import type { Spine } from './features/feature.ts';
import { schedule } from './features/schedule/schedule.ts';
import { signals } from './features/signals/signals.ts';
import type { ProcessTrees, ToolHost } from './hands/tools/tools.ts';
import type { PromptBook } from './mind/identity/identity.ts';
import { DeferredTurns } from './runtime/turns/turns.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

interface Hands {
  readonly trees: ProcessTrees;
  readonly tools: ToolHost;
  readonly outbox: Spine['outbox'];
}

/** The features, in the order in which one may need another. Last made, first disposed; all of them before the turns. */
export function composeFeatures(base: Base, store: Store, guard: Guard, { prompts, hands }: { prompts: PromptBook; hands: Hands }) {
  const { lifetimes } = base;
  const turns = new DeferredTurns();
  lifetimes.defer(async () => {
    await turns.dispose();
    await hands.trees.killAll();
  });
  const { rows } = store;
  const spine = spineOf(base, store, guard, { turns, outbox: hands.outbox });
  const signal = lifetimes.add(signals.create(spine, rows.signals));
  const planned = lifetimes.add(schedule.create(spine, rows.schedule, { prompt: (name) => prompts.own(name), signals: signal.hub }));
  for (const tool of planned.tools) hands.tools.register(tool);
  return { turns, signal, planned, all: [signal, planned] };
}
export type Features = ReturnType<typeof composeFeatures>;

function spineOf(base: Base, store: Store, guard: Guard, parts: Pick<Spine, 'turns' | 'outbox'>): Spine {
  const { config, clock, ids, logger } = base;
  const { log, marks } = store;
  const { facts, panic, secrets } = guard;
  const sources: Spine['sources'] = {
    ofSession: (sessionId) => marks.session(sessionId)?.sources ?? [],
    ofFile: (path) => (marks.writerOf(path) === null ? [] : [{ kind: 'file', where: path }]),
  };
  return { config, clock, later: systemLater, ids, logger, log, facts, panic, secrets, sources, ...parts };
}
