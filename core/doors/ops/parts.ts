// The dependencies of the operations, by name. Each group of handlers takes the few it needs: `Pick<OpsParts, 'log' | 'clock'>`, and
// sees no other.

import type { Result } from '../../base/result.ts';
import type { AppError } from '../../contracts/errors.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import type { ModelInfo, ModelReply, ToolSchema } from '../../contracts/llm.ts';
import type { Caller, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { ToolDefinition, ToolListing, ToolShown, FactContext } from '../../contracts/tools.ts';
import type { AgentRegistry } from '../../agent/registry/registry.ts';
import type { BudgetBook } from '../../guard/budget/budget.ts';
import type { PanicSwitch } from '../../guard/panic/panic.ts';
import type { Workspaces } from '../../guard/workspace/workspace.ts';
import type { Routes } from '../../mind/llm/llm.ts';
import type { Settings } from '../../runtime/settings/settings.ts';
import type { Compaction } from '../../runtime/compaction/compaction.ts';
import type { ChatRows, Outbox } from '../../runtime/outbox/outbox.ts';
import type { ParsedCall, ProcessPort, TurnRuntime, TurnDeps } from '../../runtime/turns/turns.ts';
import type { ArtifactInfo, ArtifactPage } from '../../store/artifact/artifact.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import type { ContinuityRows } from '../../store/continuity/continuity.ts';
import type { BackgroundCommands } from '../../hands/tools/tools.ts';
import type { LogHead } from '../../store/session/session.ts';

export interface OpsParts extends Pick<TurnDeps, 'log' | 'clock' | 'ids' | 'logger' | 'gate' | 'policy' | 'packer'> {
  readonly background: Pick<BackgroundCommands, 'list' | 'stop'>;
  readonly head: Pick<LogHead, 'secure'>;
  readonly turns: TurnRuntime;
  readonly agents: AgentRegistry;
  /** Conversations that helpers of a session lead. */
  readonly helpers: { sessionsBelow(sessionId: string): readonly string[] };
  readonly budget: Pick<BudgetBook, 'states' | 'planMore' | 'extend' | 'room'>;
  readonly panic: PanicSwitch;
  readonly continuity: ContinuityRows;
  readonly compaction: Pick<Compaction, 'compact'>;
  readonly processes: ProcessPort;
  readonly facts: FactContext;
  readonly workspaces: Workspaces;
  readonly controlplane: {
    retry(params: OpParsed<'turn.retry'>, caller: Caller): { sessionId: string; turnId: string };
    branch(turnId: string, text: string | null, caller: Caller): { sessionId: string; turnId: string };
    receive(params: OpParsed<'message.send'>, caller: Caller): ReturnType<TurnRuntime['accept']>;
    runTool(params: OpParsed<'tool.run'>, caller: Caller): { sessionId: string; turnId: string; callId: string };
  };
  readonly outbox: Pick<Outbox, 'list' | 'settle'>;
  readonly chats: Pick<ChatRows, 'chat' | 'chats'>;
  readonly tools: {
    list(): ToolListing[];
    shown(): Record<string, ToolShown>;
    schemas(): readonly ToolSchema[];
    planSchemas(): readonly ToolSchema[];
    get(name: string): Pick<ToolDefinition, 'class'> | undefined;
    parse(name: string, argsJson: string): Result<ParsedCall, AppError>;
  };
  readonly artifactStore: ArtifactPort;
  readonly checkpoints: Checkpoints;
  /** Skills a message can call with a slash. */
  readonly prompts: { list(): readonly { readonly name: string; readonly text: string }[] };
  readonly skills: { list(): readonly { readonly name: string; readonly description: string; readonly isOffered: boolean }[] };
  readonly models: ModelListPort;
  readonly secrets: SecretPort;
  readonly sandbox: SandboxPort;
  readonly safety: SafetyPort;
  readonly settings: Settings;
  /** Aborted when the instance closes. */
  readonly closing: AbortSignal;
}

export interface ArtifactPort {
  list(query: OpParsed<'artifact.list'>): ArtifactInfo[];
  /** Fails with not_found. */
  readPage(idOrAlias: string, range: { offset?: number; length?: number }): ArtifactPage;
}

/** A provider that need not be in config, and its key where that is kept nowhere yet. */
export interface ProviderTrial {
  readonly provider?: ProviderConfig | undefined;
  readonly key?: string | undefined;
  readonly signal: AbortSignal;
}

export interface ModelListPort {
  readonly routes: Pick<Routes, 'explain'>;
  defaultChoice(): { readonly ref: string | null; readonly problem: { readonly message: string; readonly hint: string } | null };
  list(): OpResult<'model.list'>;
  presets(): OpResult<'model.presets'>['presets'];
  /** A tiny question, tried once. Fails as every call of a model. */
  probe(
    ref: string,
    how: ProviderTrial & { readonly tools: readonly ToolSchema[]; readonly timeoutMs: number },
  ): Promise<{ readonly reply: ModelReply & { readonly firstTokenMs: number | null }; readonly costUsd: number | null }>;
  /** Lists the models of a provider's server, and its default one. Fails like every call of a model. */
  survey(name: string, how: ProviderTrial): Promise<{ readonly models: readonly ModelInfo[]; readonly usual: string | null }>;
  /** Asks the servers of configured providers, each at most once in a few minutes; the one named, now. Never rejects. */
  lookAtServers(signal: AbortSignal, only?: string): Promise<void>;
  /** Returns whether there is a provider of that name. */
  knows(ref: string): boolean;
  /** Asks the model servers of this computer. Never rejects. */
  discover(signal: AbortSignal): Promise<unknown>;
  /** Until the first look for local servers is over; null when there is nothing to wait for. */
  ready(): Promise<unknown> | null;
}

export interface SecretPort {
  /** `isKeptOut`: it is long enough to be distinguished from ordinary text, and so is redacted from logs and prompts. */
  set(name: string, value: string): Promise<{ readonly isKeptOut: boolean }>;
  /** Redacts it from logs and prompts from now on, without storing it. */
  guard(value: string, name: string): boolean;
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
  url(url: string): OpResult<'safety.url'> | Promise<OpResult<'safety.url'>>;
  redact(text: string): { readonly text: string; readonly found: readonly string[] };
}
