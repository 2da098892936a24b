// The ports of the turn runtime, restricted to the methods it uses. compose.ts passes the real objects.

import type { Redacted } from '../../base/redacted.ts';
import type { Clock, Later } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { AppError } from '../../contracts/errors.ts';
import type { HookPort } from '../../contracts/features/hooks.ts';
import type { AnyDraft, DeltaNotice, TurnLimits } from '../../contracts/events.ts';
import type { DeltaSink, ModelInfo, ModelReply, SafeRequest, Usage } from '../../contracts/llm.ts';
import type { ArtifactSink, ToolDefinition } from '../../contracts/tools.ts';
import type { AgentRegistry } from '../../agent/registry/registry.ts';
import type { BudgetBook } from '../../guard/budget/budget.ts';
import type { PolicyGate, PolicyStore } from '../../guard/policy/policy.ts';
import type { StreamRedactor } from '../../guard/safety/safety.ts';
import type { LateCopies, TaintBook } from '../../guard/taint/taint.ts';
import type { Workspaces } from '../../guard/workspace/workspace.ts';
import type { LastOutput, ProcessTrees, ToolHost } from '../../hands/tools/tools.ts';
import type { ContextPacker, PackSource } from '../../mind/context/context.ts';
import type { ModelLearning, Routes } from '../../mind/llm/llm.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import type { ContinuityRows } from '../../store/continuity/continuity.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { GovernorPort, VerifyPort } from './caution-ports.ts';

export type { HostedResult, ParsedCall } from '../../hands/tools/tools.ts';

export interface ModelPort {
  defaultRef(): string | null;
  /** The default model, or the reason why there is none. */
  defaultChoice(): { readonly ref: string | null; readonly problem: { readonly message: string; readonly hint: string } | null };
  info(ref: string): ModelInfo;
  /** Asks the server for an unknown window, once per run of the program. Null if there is nothing to wait for; never rejects. */
  askWindow?(ref: string, signal: AbortSignal): Promise<void> | null;
  cost(ref: string, usage: Usage): number | null;
  /** Fails with an AppError: `model_*`, or `cancelled` once the signal aborts. */
  stream(
    ref: string,
    request: SafeRequest,
    sink: DeltaSink,
    options: {
      signal: AbortSignal;
      once?: boolean;
      /** The turn that asks, by which a double that answers for whole turns finds its recording. */
      place?: { readonly sessionId: string; readonly turnId: string };
      onRetry?: (retry: { attempt: number; waitMs: number; error: AppError }) => void;
    },
  ): Promise<ModelReply & { firstTokenMs: number | null }>;
}

/** Resolves a route to a model; the mind makes the choice. */
export type RoutePort = Pick<Routes, 'has' | 'retries' | 'choose' | 'preview' | 'excludedBy'>;

export interface ToolPort extends Pick<ToolHost, 'schemas' | 'planSchemas' | 'parse' | 'run'> {
  get(name: string): Pick<ToolDefinition, 'class'> | undefined;
}

/** The agents that turns run as. */
export type AgentPort = Pick<AgentRegistry, 'modelOf' | 'boundsOf' | 'identityOf'>;

export type BudgetPort = Pick<BudgetBook, 'reserve' | 'finishTurn'> & Partial<Pick<BudgetBook, 'room'>>;

/** For a session with recorded but unwritten events, flush before calling this. */
export type TaintPort = Pick<TaintBook, 'isTainted' | 'of' | 'watch' | 'marksOf'>;

export type LateCopiesPort = Pick<LateCopies, 'begin' | 'catchUp' | 'account'>;

export type ProcessPort = Pick<ProcessTrees, 'killAll' | 'reap'>;

export type CheckpointPort = Pick<Checkpoints, 'take' | 'after'>;

/**
 * Named points between two durable steps, at which the crash tests end the process. Normally nothing happens there.
 * accepted: a message is committed, and its sender not yet informed.
 * before-request, after-request, after-effect, after-result: around a call.
 * outbound-sending, outbound-sent: a message is about to be sent; it was sent and that is not recorded yet.
 * helper-called, helper-submitted, helper-finished: the call of a subagent, its turn, or its end is committed and nothing follows yet.
 * spawned: a child process runs and is recorded.
 * recovery-reaped, recovery-recorded: while a start settles what the last run left.
 */
export type CrashPoint =
  | 'accepted'
  | 'helper-called'
  | 'helper-submitted'
  | 'helper-finished'
  | 'before-request'
  | 'after-request'
  | 'spawned'
  | 'after-effect'
  | 'after-result'
  | 'outbound-sending'
  | 'outbound-sent'
  | 'recovery-reaped'
  | 'recovery-recorded';

export interface CrashPoints {
  reach(point: CrashPoint | 'migration'): void;
}

export type RedactedStream = Pick<StreamRedactor, 'push' | 'end'>;

/** The output of running calls, stored next to the log in case of a crash. */
export type LastOutputPort = Pick<LastOutput, 'begin' | 'read' | 'clear'>;

/** Notes for the next turn of a session, added next to its message. */
export interface NotePort {
  waiting(sessionId: string): { drafts(turnId: string): readonly AnyDraft[]; delivered(turnId: string): void } | undefined;
}

/** The parts of a conversation that survive compaction. */
export type ContinuityPort = Pick<ContinuityRows, 'lastSummary' | 'rulesFor'>;

/** Learns from what servers report about a request. */
export type LearningPort = Pick<ModelLearning, 'observe' | 'overflowed'>;

export type WorkspacePort = Pick<Workspaces, 'contextOf' | 'holds'>;

export interface TurnDeps {
  readonly crashPoints: CrashPoints;
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly later: Later;
  readonly logger: Logger;
  readonly agents: AgentPort;
  readonly gate: PolicyGate;
  readonly policy: PolicyStore;
  readonly taint: TaintPort;
  readonly lateCopies: LateCopiesPort | null;
  readonly panic: { readonly engaged: boolean };
  readonly models: ModelPort;
  /** If absent, every model is named directly. */
  readonly routes?: RoutePort;
  readonly tools: ToolPort;
  /** If null, a crash loses the output of running commands. */
  readonly lastOutput: LastOutputPort | null;
  readonly budget: BudgetPort;
  readonly notes?: NotePort;
  /** Null unless the person set one up. Required, as the next two, so that none can be left out by mistake. */
  readonly verifier: VerifyPort | null;
  /** Null if it is switched off. */
  readonly governor: GovernorPort | null;
  /** Null unless the person set some up. */
  readonly hooks: HookPort | null;
  /** Estimates the tokens of a text that no server counted. */
  estimate(text: string): number;
  readonly packer: ContextPacker;
  readonly continuity: ContinuityPort;
  readonly learning?: LearningPort;
  /** The sources of a pack's parts besides the conversation. */
  readonly packSources?: readonly PackSource[];
  readonly artifacts: ArtifactSink;
  readonly checkpoints: CheckpointPort;
  /** The conversations in which an artifact appeared. */
  readonly artifactStore: { sessionsOf(idOrAlias: string): readonly string[] };
  readonly workspaces: WorkspacePort;
  readonly limits: TurnLimits & { readonly parallelTurns: number; readonly queuedMessages: number };
  /** Marks every child process of this data folder. */
  readonly instanceMarker: Readonly<Record<string, string>>;
  /** Removes known secrets from a text before the model, the log or a person sees it. */
  redact(text: string): Redacted;
  /** The same for JSON, which stays valid JSON; `found` names the redacted secrets. */
  redactJson(text: string): { readonly text: Redacted; readonly found: readonly string[] };
  /** The same for streamed text: the output of `push` and `end` contains no secrets, even if they were split in two. */
  redactStream(): RedactedStream;
  /** The position of a known secret that may begin at the end of the text; the text's length if there is none. */
  unfinishedAt(text: string): number;
  /** `size` is 0 without listeners; no deltas are built then. */
  readonly deltas: { readonly size: number; emit(delta: DeltaNotice): void };
}
