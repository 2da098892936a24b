// The table of operations put to work, and the Claw every door of this process uses.

import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Claw, EventsQuery } from '../../contracts/claw.ts';
import type { AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import { isOpName, opTable, type Caller, type OpHandlers, type OpName, type OpParams, type OpResult } from '../../contracts/ops.ts';
import type { scheduleOps } from '../../contracts/features/schedule.ts';
import type { signalOps } from '../../contracts/features/signals.ts';
import type { Emitter } from '../../base/emitter.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { mapStorageError } from '../../store/storage/storage.ts';
import { createAgentOps } from './agent-ops.ts';
import { createActivityOps } from './activity-ops.ts';
import { createApprovalOps } from './approval-ops.ts';
import { createAuditOps } from './audit-ops.ts';
import { createBudgetOps } from './budget-ops.ts';
import { createCheckpointOps } from './checkpoint-ops.ts';
import { createDeadLetterOps } from './dead-letter-ops.ts';
import { createRecoveryOps } from './recovery-ops.ts';
import type { OpsDeps } from './deps.ts';
import { createContextOps } from './context-ops.ts';
import { createCommandOps, type OtherOps } from './command-ops.ts';
import { createKnowledgeOps } from './knowledge-ops.ts';
import { createMemoryOps } from './memory-ops.ts';
import { createMessageOps } from './message-ops.ts';
import { createOutboxOps } from './outbox-ops.ts';
import { createPanicOps } from './panic-ops.ts';
import { createProviderOps } from './provider-ops.ts';
import { createSessionOps } from './session-ops.ts';
import { createSkillOps } from './skill-ops.ts';
import { createIdentityOps } from './identity-ops.ts';
import { createTelegramOps } from './telegram-ops.ts';
import { createWorkspaceOps } from './workspace-ops.ts';

export type { ArtifactPort, ModelListPort, OpsDeps, SafetyPort, SecretPort, UsagePort } from './deps.ts';

/** The operations that are a feature's own. */
export type FeatureOps = Pick<OpHandlers, keyof typeof scheduleOps | keyof typeof signalOps>;

export function createOps(deps: OpsDeps, features: FeatureOps): OpHandlers {
  const ops: OtherOps = {
    ...features,
    ...createMessageOps(deps),
    ...createApprovalOps(deps),
    ...createPanicOps(deps),
    ...createBudgetOps(deps),
    ...createSessionOps(deps),
    ...createContextOps(deps),
    ...createAgentOps(deps),
    ...createActivityOps(deps),
    ...createAuditOps(deps),
    ...createProviderOps(deps),
    ...createCheckpointOps(deps),
    ...createMemoryOps(deps),
    ...createKnowledgeOps(deps),
    ...createSkillOps(deps),
    ...createIdentityOps(deps),
    ...createDeadLetterOps(deps),
    ...createRecoveryOps(deps),
    ...createTelegramOps(deps),
    ...createOutboxOps(deps),
    ...createWorkspaceOps(deps),
  };
  return { ...ops, ...createCommandOps(deps, ops) };
}

const libraryCaller: Caller = { channel: 'library', actor: 'library' };
const EVENTS_PER_READ = 200;

export interface LocalClawDeps {
  readonly ops: OpHandlers;
  readonly log: SessionLog;
  readonly deltas: Emitter<DeltaNotice>;
  readonly closing: AbortSignal;
  /** Takes secrets out of every string of a value on its way out; the very same value when there are none. */
  redactDeep<T>(value: T): T;
  close(): Promise<void>;
}

/** The runtime of this process as every door sees it. */
export class LocalClaw implements Claw {
  readonly #deps: LocalClawDeps;

  constructor(deps: LocalClawDeps) {
    this.#deps = deps;
  }

  async op<N extends OpName>(name: N, params: OpParams<N>, caller: Caller = libraryCaller): Promise<OpResult<N>> {
    if (!isOpName(name)) throw new AppError('unknown_op', `There is no operation ${String(name)}.`);
    if (this.#deps.closing.aborted) throw new AppError('shutting_down', 'TrayClaw is closing.');
    try {
      return this.#deps.redactDeep(await this.#run(name, params, caller));
    } catch (cause) {
      throw this.#safeError(mapStorageError(cause));
    }
  }

  async #run<N extends OpName>(name: N, params: OpParams<N>, caller: Caller): Promise<OpResult<N>> {
    const parsed = opTable[name].params.safeParse(params);
    if (!parsed.success) {
      const issues = describeIssues(parsed.error.issues, { given: params, whole: 'the parameters' });
      throw new AppError('invalid_params', `The parameters of ${name} do not fit: ${issues.join('; ')}.`, { data: { issues } });
    }
    const handler = this.#deps.ops[name] as (params: unknown, caller: Caller) => OpResult<N> | Promise<OpResult<N>>;
    return handler(parsed.data, caller);
  }

  /** What an error says may come from anywhere: a server's answer, a path, an argument. */
  #safeError(error: AppError): AppError {
    const { code, message, data, isRetryable } = error;
    const safe = this.#deps.redactDeep({ message, data });
    return safe.message === message && safe.data === data ? error : new AppError(code, safe.message, { data: safe.data, isRetryable });
  }

  /** The place of 'latest' is fixed by the call, not by the first read: what is committed in between is not missed. */
  events(query: EventsQuery): AsyncIterable<AnyEvent> {
    return this.#follow(query, query.after === 'latest' ? this.#deps.log.lastSeq : query.after);
  }

  async *#follow(query: EventsQuery, after: number): AsyncGenerator<AnyEvent> {
    const { closing, log } = this.#deps;
    const signal = query.signal === undefined ? closing : AbortSignal.any([query.signal, closing]);
    let cursor = after;
    while (!signal.aborted) {
      const readTo = log.lastSeq;
      const events = log.reads.after(cursor, EVENTS_PER_READ, query.sessionId);
      for (const event of events) {
        yield this.#deps.redactDeep(event);
        cursor = event.seq;
        if (signal.aborted) return;
      }
      if (events.length < EVENTS_PER_READ && log.lastSeq === readTo) await log.nextCommit(signal);
    }
  }

  onDelta(listener: (delta: DeltaNotice) => void): () => void {
    return this.#deps.deltas.on(listener);
  }

  close(): Promise<void> {
    return this.#deps.close();
  }
}
