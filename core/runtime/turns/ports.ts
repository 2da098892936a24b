// The ports of the turn runtime, as narrow as it uses them. compose.ts passes the real ones.

import type { Redacted } from '../../base/redacted.ts';
import type { Result } from '../../base/result.ts';
import type { Clock } from '../../base/clock.ts';
import type { Later } from '../../base/later.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { AppError } from '../../contracts/errors.ts';
import type { AfterFile, BeforeFile } from '../../contracts/checkpoints.ts';
import type { HookPoint, HookRan, HookSubject, HookVerdict } from '../../contracts/features/hooks.ts';
import type { AnyDraft, DeltaNotice, EventBodies, TurnLimits } from '../../contracts/events.ts';
import type { DeltaSink, ModelInfo, ModelReply, SafeRequest, ToolSchema, Usage } from '../../contracts/llm.ts';
import type { ArtifactSink, CallFacts, FactContext, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import type { HostedResult, ParsedCall } from '../../hands/tools/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { Admission, BudgetPlace, CallEstimate, Room } from '../../guard/budget/budget.ts';
import type { PolicyGate, PolicyStore } from '../../guard/policy/policy.ts';
import type { CallTaint, Copies, Heard, JudgedCall } from '../../guard/taint/taint.ts';
import type { ContextPacker, PackSource } from '../../mind/context/context.ts';
import type { RouteAsk, RouteChoice } from '../../mind/llm/llm.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { GovernorPort, VerifyPort } from './caution-ports.ts';

export type { HostedResult, ParsedCall } from '../../hands/tools/tools.ts';

export interface ModelPort {
  defaultRef(): string | null;
  /** The default model, or the reason why there is none. */
  defaultChoice(): { readonly ref: string | null; readonly problem: { readonly message: string; readonly hint: string } | null };
  info(ref: string): ModelInfo;
  /** Asks a server whose window is not known for it, once while the program runs. Null where there is nothing to wait for; never rejects. */
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
      /** The turn that asks: what answers for a turn as a whole finds its record by it. */
      place?: { readonly sessionId: string; readonly turnId: string };
      onRetry?: (retry: { attempt: number; waitMs: number; error: AppError }) => void;
    },
  ): Promise<ModelReply & { firstTokenMs: number | null }>;
}

/** Resolves a route to a model; the mind makes the choice. */
export interface RoutePort {
  has(ref: string): boolean;
  /** How often its candidates are gone through again. */
  readonly retries: number;
  choose(ref: string, ask: RouteAsk): RouteChoice;
  preview(ref: string, ask: RouteAsk): RouteChoice;
  excludedBy(ref: string, model: string, error: AppError): { readonly models: readonly string[]; readonly forGood: boolean } | null;
}

export interface ToolPort {
  schemas(): readonly ToolSchema[];
  /** Those offered only where a plan comes first. */
  planSchemas(): readonly ToolSchema[];
  get(name: string): Pick<ToolDefinition, 'class'> | undefined;
  parse(name: string, argsJson: string): Result<ParsedCall, AppError>;
  /** Never throws. */
  run(call: ParsedCall, context: ToolContext): Promise<HostedResult>;
}

/** The agents turns are run as. */
export interface AgentPort {
  modelOf(agentId: string): string | null;
  boundsOf(agentId: string): TurnBounds | null;
  /** Follows the standing instructions; empty for none. */
  identityOf(agentId: string): string;
}

export interface BudgetPort {
  /** Room for one model call, a refusal, or null when the signal aborts while others have to be waited for. */
  reserve(at: BudgetPlace, estimate: CallEstimate, signal: AbortSignal): Admission | Promise<Admission | null>;
  /** The turn has ended: its cached state can be dropped. */
  finishTurn(turnId: string): void;
  /** The room the limits leave for one call now. */
  room?(at: BudgetPlace): Room;
}

/** The hooks a person set up. They can only make things stricter. */
export interface HookPort {
  has(on: HookPoint): boolean;
  /** Fails with `cancelled` when the signal aborts; any other failure is part of the verdict. */
  before(subject: HookSubject, signal: AbortSignal, record: (ran: HookRan) => void): Promise<HookVerdict>;
  /** Never fails, and does not block. */
  after(subject: HookSubject): void;
}

/** The untrusted sources of a session. Recorded events of the session must be in the log before this is asked about a session with any. */
export interface TaintPort {
  isTainted(sessionId: string): boolean;
  of(call: JudgedCall): CallTaint;
  /**
   * Before a call runs: returns how to check afterwards for files it may have copied untrusted content into; null if there is nothing to
   * check.
   */
  watch(facts: CallFacts): (() => Promise<Copies>) | null;
  /** The untrusted sources of a finished call; null for none. */
  marksOf(call: JudgedCall, heard: Heard): EventBodies['taint.marked'] | null;
}

/** Files that background commands copy untrusted content into after their call has returned. */
export interface LateCopiesPort {
  /** Called before a command starts; the returned function is called if it continues in the background. Null for anything but a command. */
  begin(facts: CallFacts): ((callId: string, ended: Promise<unknown>) => void) | null;
  /** Records the copies so far; null if no such command runs. */
  catchUp(): Promise<void> | null;
  /** These files were written by a call that ran in the meantime. */
  account(paths: readonly string[]): Promise<void>;
}

export interface ProcessPort {
  /** Ends every process any tool started, with all their descendants. */
  killAll(): Promise<{ killed: number; tookMs: number }>;
  /** Ends what an earlier run of the program left behind. */
  reap(
    records: readonly { pid: number; startTime: string }[],
    marker: Readonly<Record<string, string>>,
  ): Promise<{ readonly killed: number }>;
}

export interface CheckpointPort {
  /** Records the state of the paths. Fails with `tool_failed`, `cancelled` or a `store_*` error; then the call must not run. */
  take(paths: readonly string[], signal?: AbortSignal): BeforeFile[] | Promise<BeforeFile[]>;
  /** The current state of the paths. Never fails. */
  after(taken: readonly BeforeFile[]): AfterFile[] | Promise<AfterFile[]>;
}

/**
 * Named points between two durable steps. The program does nothing there; the crash tests end the process at one of them.
 * accepted: a message is committed, its sender not yet told. before-request, after-request, after-effect, after-result: around a call.
 * outbound-sending, outbound-sent: a message is about to leave, it has left and nothing says so yet.
 * helper-called, helper-submitted, helper-finished: a call of a helper, its turn, its end is committed and nothing follows yet.
 * spawned: a child process runs and is on record. recovery-reaped, recovery-recorded: while a start settles what the last run left.
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

export interface RedactedStream {
  push(piece: string): string;
  end(): string;
}

/** The output of running calls, kept next to the log in case of a crash. */
export interface LastOutputPort {
  begin(callId: string): { push(piece: string): void; end(): void };
  /** Of a call of an earlier process; empty if nothing was kept. */
  read(callId: string): string;
  clear(): void;
}

/** Notes for the next turn of a session, added next to its message. */
export interface NotePort {
  waiting(sessionId: string): { drafts(turnId: string): readonly AnyDraft[]; delivered(turnId: string): void } | undefined;
}

/** The parts of a conversation that survive compaction. */
export interface ContinuityPort {
  lastSummary(sessionId: string, before?: number): number | null;
  /** Rules a person pinned for the session or its agent, oldest first. */
  rulesFor(sessionId: string, agentId: string): readonly { readonly text: string }[];
}

/** Learns from what servers report of a request. */
export interface LearningPort {
  observe(seen: { readonly ref: string; readonly fixed: number; readonly flow: number; readonly reportedTokens: number }): void;
  overflowed(refused: { readonly ref: string; readonly packTokens: number; readonly limitTokens: number | null }): void;
}

/** The workspaces of turns. */
export interface WorkspacePort {
  /** Null is the configured workspace. Fails with `denied` while a folder is not trusted. */
  contextOf(workspace: string | null): FactContext;
  /** Returns whether a person trusts the folder in its current state. */
  holds(workspace: string): boolean;
}

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
  readonly lateCopies?: LateCopiesPort;
  readonly panic: { readonly engaged: boolean };
  readonly models: ModelPort;
  /** Without them every model is named directly. */
  readonly routes?: RoutePort;
  readonly tools: ToolPort;
  /** Without it a crash loses the output of running commands. */
  readonly lastOutput?: LastOutputPort;
  readonly budget: BudgetPort;
  readonly notes?: NotePort;
  /** None unless the person set one up. */
  readonly verifier?: VerifyPort;
  /** None where it is off. */
  readonly governor?: GovernorPort;
  /** None unless the person set some up. */
  readonly hooks?: HookPort;
  /** Tokens of a text, for what no server counted. */
  estimate(text: string): number;
  readonly packer: ContextPacker;
  readonly continuity: ContinuityPort;
  readonly learning?: LearningPort;
  /** The sources of a pack's parts besides the conversation. */
  readonly packSources?: readonly PackSource[];
  readonly artifacts: ArtifactSink;
  readonly checkpoints: CheckpointPort;
  /** Conversations an artifact came up in. */
  readonly artifactStore: { sessionsOf(idOrAlias: string): readonly string[] };
  readonly workspaces: WorkspacePort;
  readonly limits: TurnLimits & { readonly parallelTurns: number; readonly queuedMessages: number };
  /** Marks every child process of this data folder. */
  readonly instanceMarker: Readonly<Record<string, string>>;
  /** Takes known secrets out of a text before the model, the log or a person sees it. */
  redact(text: string): Redacted;
  /** The same for JSON, which stays JSON; `found` names the redacted secrets. */
  redactJson(text: string): { readonly text: Redacted; readonly found: readonly string[] };
  /** The same for streamed text: the output of `push` and `end` contains no secrets, even ones cut in two. */
  redactStream(): RedactedStream;
  /** The position of a known secret that may begin at the end of the text; the text's length if there is none. */
  unfinishedAt(text: string): number;
  /** None are built while nothing listens: then the size is 0. */
  readonly deltas: { readonly size: number; emit(delta: DeltaNotice): void };
}
