// What the operations reach: the runtime, the log, the gate and the stores, each as the class it is.

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Result } from '../../base/result.ts';
import type { AppError } from '../../contracts/errors.ts';
import type { Config, ProviderConfig } from '../../contracts/config.ts';
import type { ModelReply } from '../../contracts/llm.ts';
import type { Caller, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { ToolListing } from '../../contracts/tools.ts';
import type { FactContext } from '../../contracts/tools.ts';
import type { BudgetBook } from '../../guard/budget/budget.ts';
import type { PanicSwitch } from '../../guard/panic/panic.ts';
import type { PolicyGate, PolicyStore } from '../../guard/policy/policy.ts';
import type { ContextPacker } from '../../mind/context/context.ts';
import type { ParsedCall, ProcessPort, TurnRuntime } from '../../runtime/turns/turns.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface OpsDeps {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly runtime: TurnRuntime;
  readonly gate: PolicyGate;
  readonly budget: Pick<BudgetBook, 'states' | 'planMore' | 'extend'>;
  readonly policy: PolicyStore;
  readonly panic: PanicSwitch;
  readonly packer: ContextPacker;
  readonly processes: ProcessPort;
  readonly facts: FactContext;
  readonly controlplane: {
    retry(turnId: string, model: string | null, caller: Caller): { sessionId: string; turnId: string };
    branch(turnId: string, text: string | null, caller: Caller): { sessionId: string; turnId: string };
    receive(params: OpParsed<'message.send'>, caller: Caller): { sessionId: string; turnId: string };
    runTool(params: OpParsed<'tool.run'>, caller: Caller): { sessionId: string; turnId: string; callId: string };
  };
  readonly tools: {
    list(): ToolListing[];
    parse(name: string, argsJson: string): Result<ParsedCall, AppError>;
  };
  readonly artifacts: ArtifactPort;
  readonly checkpoints: Checkpoints;
  readonly usage: UsagePort;
  readonly models: ModelListPort;
  readonly secrets: SecretPort;
  readonly sandbox: SandboxPort;
  readonly safety: SafetyPort;
  readonly config: { readonly config: Config; readonly path: string; readonly warnings: readonly string[] };
  /** Aborted when the instance closes. */
  readonly closing: AbortSignal;
  checkHealth(): Promise<OpResult<'health.check'>>;
}

export interface ArtifactPort {
  list(query: OpParsed<'artifact.list'>): OpResult<'artifact.list'>['artifacts'];
  /** Fails with not_found. */
  readPage(idOrAlias: string, range: { offset?: number; length?: number }): OpResult<'artifact.get'>;
}

export interface UsagePort {
  usage(query: OpParsed<'usage.get'>): Pick<OpResult<'usage.get'>, 'rows' | 'today'>;
}

export interface ModelListPort {
  list(): OpResult<'model.list'>;
  presets(): OpResult<'model.presets'>['presets'];
  /** A tiny question, tried once. Fails as every call of a model. */
  probe(
    ref: string,
    how: { readonly provider?: ProviderConfig | undefined; readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<{ readonly reply: ModelReply & { readonly firstTokenMs: number | null }; readonly costUsd: number | null }>;
  /** Whether there is a provider of that name. */
  knows(ref: string): boolean;
  /** Until the first look for local servers is over; null when there is nothing to wait for. */
  ready(): Promise<unknown> | null;
}

export interface SecretPort {
  set(name: string, value: string): Promise<void>;
  list(): Promise<readonly string[]>;
  delete(name: string): Promise<boolean>;
  status(): Promise<OpResult<'secret.status'>>;
  /** Fails with `vault_locked`, `vault_damaged`, `conflict` or `invalid_params`. */
  unlock(passphrase: string): Promise<OpResult<'secret.status'>>;
}

export interface SandboxPort {
  explain(command: { readonly attended: boolean; readonly reads: string | null } | null): Promise<OpResult<'sandbox.explain'>>;
}

export interface SafetyPort {
  checkUrl(url: string): OpResult<'safety.url'> | Promise<OpResult<'safety.url'>>;
  redact(text: string): { readonly text: string; readonly found: readonly string[] };
}
