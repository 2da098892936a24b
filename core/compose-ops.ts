// Connects the operations table to its handlers: each group gets what it needs; the features add their own handlers.
// features.

import type { OpHandlers } from './contracts/ops.ts';
import type { ProcessPort } from './runtime/turns/turns.ts';
import type { Controlplane } from './doors/controlplane/controlplane.ts';
import {
  createActivityOps,
  createApprovalOps,
  createAuditOps,
  createBudgetOps,
  createCheckpointOps,
  createCommandOps,
  createContextOps,
  createMessageOps,
  createOutboxOps,
  createPanicOps,
  createProviderOps,
  createSessionOps,
  createWorkspaceOps,
  type OpsParts,
  type OtherOps,
} from './doors/ops/ops.ts';
import { health } from './features/health/health.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';
import type { Features } from './compose-features.ts';
import type { Mind } from './compose-mind.ts';

interface Served {
  readonly mind: Mind;
  readonly features: Features;
  readonly tools: OpsParts['tools'];
  readonly outbox: OpsParts['outbox'];
  readonly turns: OpsParts['runtime'];
  readonly compaction: OpsParts['compaction'];
  readonly controlplane: Controlplane;
  readonly processes: ProcessPort;
}

export function composeOps(base: Base, store: Store, guard: Guard, served: Served): OpHandlers {
  const { clock, ids, closing: ending } = base;
  const closing = ending.signal;
  const { log, head, policy, artifacts, chats, continuity, settings } = store;
  const { panic, facts, workspaces, secrets, sandbox, gate, budget, checkpoints } = guard;
  const { tools, outbox, turns: runtime, compaction, controlplane, processes, features, mind } = served;
  const { models, packer } = mind;
  const { agents, skills, helpers } = features;
  const safety: OpsParts['safety'] = { checkUrl: (url) => base.safety.url(url), redact: (text) => base.safety.redact(text) };
  const checkpointOps = createCheckpointOps({ checkpoints, ids, panic, policy, runtime, safety, tools, workspaces });
  const providerOps = createProviderOps({
    agents,
    budget,
    clock,
    closing,
    gate,
    ids,
    log,
    models,
    packer,
    safety,
    secrets,
    settings,
    tools,
  });
  const cared = health.create(features.spine, null, {
    ...careOf(base, store, guard),
    models,
    runtime,
    newestCall: features.usage.newestCall,
    rebuildUsage: features.usage.rebuild,
    sources: [...features.checks, { check: () => base.options.moreChecks?.() ?? [] }],
    tryModel: (model) => Promise.resolve(providerOps['model.test']({ model }, itself)),
    undo: async (callId, by) =>
      (await checkpointOps['checkpoint.restore']({ callId, keepGoing: true }, { ...itself, actor: by })).restored.length,
  });
  const ops: OtherOps = {
    ...features.handlers,
    ...createMessageOps({ agents, closing, continuity, controlplane, log, models, packer, policy, runtime, tools }),
    ...createApprovalOps({ clock, facts, gate, log, panic, policy, runtime, tools }),
    ...createPanicOps({ clock, head, log, panic, processes, runtime }),
    ...createBudgetOps({ budget, clock, log }),
    ...createSessionOps({ agents, helpers: helpers.queue, ids, log, models, policy, runtime, workspaces }),
    ...createContextOps({ agents, compaction, continuity, ids, log, safety }),
    ...createActivityOps({ log }),
    ...createAuditOps({ artifacts, clock, gate, log, safety, sandbox, secrets, settings, tools, workspaces }),
    ...providerOps,
    ...checkpointOps,
    ...cared.handlers,
    ...createOutboxOps({ chats, log, outbox }),
    ...createWorkspaceOps({ clock, gate, log, panic, policy, workspaces }),
  };
  return { ...ops, ...createCommandOps({ facts, log, models, skills, tools }, ops) };
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
