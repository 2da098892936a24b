// Connects the operations table to its handlers: each group gets what it needs; the features add their own handlers.

import type { OpHandlers } from './contracts/ops.ts';
import { createCommandOps, createSpineOps, type OpsParts } from './doors/ops/ops.ts';
import { health } from './features/health/health.ts';
import { report } from './features/report/report.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';
import type { Features } from './compose-features.ts';
import type { Mind } from './compose-mind.ts';

interface Served extends Pick<OpsParts, 'background' | 'tools' | 'outbox' | 'compaction' | 'controlplane' | 'processes'> {
  readonly mind: Mind;
  readonly features: Features;
  readonly turns: OpsParts['runtime'];
}

export function composeOps(base: Base, store: Store, guard: Guard, served: Served): OpHandlers {
  const { turns: runtime, features, mind } = served;
  const parts: OpsParts = {
    ...base,
    ...store,
    ...guard,
    ...served,
    runtime,
    closing: base.closing.signal,
    safety: { checkUrl: (url) => base.safety.url(url), redact: (text) => base.safety.redact(text) },
    agents: features.agents,
    skills: features.skills,
    prompts: features.saved,
    helpers: features.helpers.queue,
    models: mind.models,
    packer: mind.packer,
  };
  const spine = createSpineOps(parts);
  const cared = health.create(features.spine, null, {
    ...careOf(base, store, guard),
    models: mind.models,
    runtime,
    newestCall: features.usage.newestCall,
    rebuildUsage: features.usage.rebuild,
    sources: [...features.checks, { check: () => base.options.moreChecks?.() ?? [] }],
    tryModel: (model) => Promise.resolve(spine['model.test']({ model }, itself)),
    undo: async (callId, by) => (await spine['checkpoint.restore']({ callId, keepGoing: true }, { ...itself, actor: by })).restored.length,
  });
  const reported = base.lifetimes.add(
    report.create(features.spine, null, () => Promise.resolve(cared.handlers['health.check']({}, itself))),
  );
  const ops = { ...features.handlers, ...spine, ...cared.handlers, ...reported.handlers };
  return { ...ops, ...createCommandOps(parts, ops) };
}

/** The program itself, where one part of it uses an operation of another. */
const itself = { channel: 'library', actor: 'library' } as const;

/** Program state that the health checks read, except that of features. */
function careOf({ loaded, options }: Base, { outbound, settings }: Store, { secrets, sandbox }: Guard) {
  return {
    warnings: loaded.warnings,
    configPath: options.config === undefined ? loaded.path : null,
    providers: () => loaded.config.providers,
    configNow: () => settings.config,
    outbound,
    secretStore: secrets,
    sandbox,
    freeBytes: options.faults?.machine?.freeBytes,
  };
}
