// Composes the health checks, recovery and diagnostics. Read compose.ts first.

import type { Config } from './contracts/config.ts';
import { noUsage } from './contracts/llm.ts';
import type { HealthSource } from './contracts/health.ts';
import type { BudgetScope } from './contracts/policy.ts';
import type { ModelRouter } from './mind/llm/llm.ts';
import {
  Doctor,
  machineChecks,
  modelChecks,
  Recovery,
  stateChecks,
  storeChecks,
  type RecoveryDeps,
} from './doors/diagnostics/diagnostics.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

interface Watched {
  readonly tools: { schemas(): readonly unknown[] };
  readonly tryModel: Parameters<typeof modelChecks>[0]['tryModel'];
  readonly mind: { readonly models: ModelRouter };
  /** Of the features. */
  readonly checks: readonly HealthSource[];
}

/** Who else has something to say of its health adds a source here. */
export function composeDoctor(base: Base, store: Store, guard: Guard, { mind, checks, tools, tryModel }: Watched): Doctor {
  const { home, loaded, clock, environment, options, config, ids } = base;
  const { log } = store;
  const { panic, facts, secrets, sandbox } = guard;
  const { models } = mind;
  return new Doctor({
    log,
    ids,
    sources: [
      storeChecks({ log, home, clock }),
      machineChecks({
        log,
        home,
        workspace: facts.workspace,
        clock,
        environment,
        platform: process.platform,
        pid: process.pid,
        ...options.faults?.machine,
      }),
      modelChecks({
        providers: () => loaded.config.providers,
        ready: () => models.ready(),
        defaultChoice: () => models.defaultChoice(),
        limitsUsd: usdLimitsOf(config),
        hasPrice: (ref) => models.cost(ref, noUsage) !== null,
        resolveSecret: (ref) => secrets.resolve(ref),
        toolCount: () => tools.schemas().length,
        tryModel,
        lookUp: (ref) => lookUp(models, ref),
        newestCall: (ref) => {
          store.catchUp();
          return store.telemetry.newestCall(ref);
        },
        nowMs: () => clock.nowMs(),
      }),
      stateChecks({
        warnings: loaded.warnings,
        configPath: options.config === undefined ? loaded.path : null,
        panic,
        unknownOutcomes: () => log.index.openCalls().filter((call) => call.state === 'unknown').length,
        outbox: () => {
          const of = (state: 'uncertain' | 'failed'): number => store.outbound.list({ states: [state], limit: 1_000 }).length;
          return { uncertain: of('uncertain'), failed: of('failed') };
        },
        secretStatus: () => secrets.status(),
        secretNames: () => secrets.list(),
        unreadSecrets: () => secrets.unread,
        sandbox: () => sandbox.health(),
      }),
      ...checks,
      { check: () => options.moreChecks?.() ?? [] },
    ],
  });
}

const LIST_MAX_MS = 3_000;

async function lookUp(models: ModelRouter, ref: string): ReturnType<Parameters<typeof modelChecks>[0]['lookUp']> {
  await models.lookAtServers(AbortSignal.timeout(LIST_MAX_MS));
  const { failed, models: listed } = models.list();
  const error = failed.find(({ provider }) => ref.startsWith(`${provider}/`))?.error ?? null;
  return { error, isMissing: listed.some((model) => model.ref === ref && model.missing === true) };
}

function usdLimitsOf({ budget }: Config): BudgetScope[] {
  const limits = { turn: budget.perTurnUsd, session: budget.perSessionUsd, day: budget.perDayUsd };
  return (['turn', 'session', 'day'] as const).filter((scope) => limits[scope] !== undefined);
}

const UNDOS_LOOKED_AT = 1_000;

export function composeRecovery(
  base: Base,
  store: Store,
  { panic, checkpoints }: Guard,
  hands: Pick<RecoveryDeps, 'runtime' | 'undo'>,
): Recovery {
  const { clock, ids, home } = base;
  return new Recovery({
    ...hands,
    log: store.log,
    clock,
    ids,
    home,
    panic,
    rebuildUsage: () => {
      store.telemetry.reset();
      while (store.catchUp());
    },
    interruptedUndos: () => {
      const undos = checkpoints.list({ limit: UNDOS_LOOKED_AT }).filter(({ undoes }) => undoes.length > 0);
      const isDone = (callId: string, seq: number): boolean =>
        undos.some((undo) => undo.closed && undo.seq > seq && undo.undoes.includes(callId));
      return undos
        .filter(({ closed }) => !closed)
        .map(({ callId, undoes, seq }) => ({ restoreId: callId, callIds: undoes.filter((undone) => !isDone(undone, seq)) }));
    },
  });
}
