// Implements the table of operations, and the Claw that every door of this process uses.

import { parseGiven } from '../../contracts/parse-given.ts';
import { AppError } from '../../contracts/errors.ts';
import { assertNamed, type NameChecks } from '../../contracts/named-things.ts';
import type { Claw, EventsQuery } from '../../contracts/claw.ts';
import type { AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import {
  isOpName,
  libraryCaller,
  opSchemas,
  type Caller,
  type ServedCaller,
  servedCaller,
  type OpHandlers,
  type OpName,
  type OpParams,
  type OpResult,
} from '../../contracts/ops.ts';
import type { Emitter } from '../../base/emitter.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { mapStorageError } from '../../store/storage/storage.ts';
import { createActivityOps } from './activity-ops.ts';
import { createApprovalOps } from './approval-ops.ts';
import { createAuditOps } from './audit-ops.ts';
import { createBudgetOps } from './budget-ops.ts';
import { createCheckpointOps } from './checkpoint-ops.ts';
import { createContextOps } from './context-ops.ts';
import { createMessageOps } from './message-ops.ts';
import { createOutboxOps } from './outbox-ops.ts';
import { createPanicOps } from './panic-ops.ts';
import { createProviderOps } from './provider-ops.ts';
import { createSessionOps } from './session-ops.ts';
import { createRunningOps } from './running-ops.ts';
import { createWorkspaceOps } from './workspace-ops.ts';
import type { OpsParts } from './parts.ts';

export { createCommandOps, type OtherOps } from './command-ops.ts';
export type { OpsParts } from './parts.ts';

const EVENTS_PER_READ = 200;

export interface LocalClawDeps {
  readonly ops: OpHandlers;
  readonly log: SessionLog;
  readonly deltas: Emitter<DeltaNotice>;
  readonly closing: AbortSignal;
  /** Redacts every string of an outgoing value. Returns the same object if there is nothing to redact. */
  redactDeep<T>(value: T): T;
  readonly names: NameChecks;
  close(): Promise<void>;
}

/** The runtime of this process as every door sees it. */
export class LocalClaw implements Claw {
  readonly #deps: LocalClawDeps;

  constructor(deps: LocalClawDeps) {
    this.#deps = deps;
  }

  /** The names of the operations that have a handler. */
  get operations(): readonly string[] {
    return Object.keys(this.#deps.ops);
  }

  get lastSeq(): number {
    return this.#deps.log.lastSeq;
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
    const parsed = parseGiven(opSchemas[name].params, params, { says: `The parameters of ${name} are not valid`, whole: 'the parameters' });
    assertNamed(opSchemas[name].params, parsed, this.#deps.names);
    const handler = this.#deps.ops[name] as (params: unknown, caller: ServedCaller) => OpResult<N> | Promise<OpResult<N>>;
    return handler(parsed, servedCaller(caller, this.#deps.closing));
  }

  /** Redacts an error, whose text may come from anywhere: a server's response, a path, an argument. */
  #safeError(error: AppError): AppError {
    const { code, message, data, isRetryable } = error;
    const safe = this.#deps.redactDeep({ message, data });
    return safe.message === message && safe.data === data ? error : new AppError(code, safe.message, { data: safe.data, isRetryable });
  }

  /** 'latest' is the position at the time of the call, not of the first read, so that events committed in between are not missed. */
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

/** Each group receives all parts, and sees only those its type names. */
export function createSpineOps(parts: OpsParts) {
  return {
    ...createActivityOps(parts),
    ...createApprovalOps(parts),
    ...createAuditOps(parts),
    ...createBudgetOps(parts),
    ...createCheckpointOps(parts),
    ...createContextOps(parts),
    ...createMessageOps(parts),
    ...createOutboxOps(parts),
    ...createPanicOps(parts),
    ...createProviderOps(parts),
    ...createSessionOps(parts),
    ...createRunningOps(parts),
    ...createWorkspaceOps(parts),
  };
}
