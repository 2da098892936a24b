// For tests only: the turn runtime over a real log, gate and tool host in a temporary folder, with a scripted model. A restart closes
// everything and reopens it with the same folder, like a new start of the program.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../doubles/manual-clock.ts';
import { CountingIds } from '../doubles/counting-ids.ts';
import { silentLogger, type Logger } from '../../core/base/logger.ts';
import { stillRedacted } from '../../core/base/redacted.ts';
import { configSchema, type ConfigInput } from '../../core/contracts/config.ts';
import { AppError } from '../../core/contracts/errors.ts';
import type { AnyDraft, AnyEvent, EventBodies, EventOf, EventType } from '../../core/contracts/events.ts';
import type { ChatMessage, DeltaSink, ModelReply, ModelRequest } from '../../core/contracts/llm.ts';
import type { TurnBounds } from '../../core/contracts/turn-bounds.ts';
import type { Approval, GrantScope } from '../../core/contracts/policy.ts';
import { noTaint, type CallTaint, type TaintSource, type ToolDefinition } from '../../core/contracts/tools.ts';
import { replayTurn, type ReplayReport } from '../../core/agent/brain/brain.ts';
import { PanicSwitch } from '../../core/guard/panic/panic.ts';
import { PolicyGate, PolicyStore, policyMigrations } from '../../core/guard/policy/policy.ts';
import type { JudgedCall } from '../../core/guard/taint/taint.ts';
import { ToolHost } from '../../core/hands/tools/tools.ts';
import { ContextPacker, type PackSource } from '../../core/mind/context/context.ts';
import { ArtifactStore, artifactMigrations } from '../../core/store/artifact/artifact.ts';
import { CheckpointRows, Checkpoints, checkpointMigrations } from '../../core/store/checkpoint/checkpoint.ts';
import { ContinuityRows, continuityMigrations } from '../../core/store/continuity/continuity.ts';
import { SessionLog, sessionMigrations } from '../../core/store/session/session.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import {
  loadTranscript,
  recoverLog,
  TurnRuntime,
  type AgentPort,
  type BudgetPort,
  type LearningPort,
  type Recovery,
  type TurnDeps,
  type VerifyPort,
} from '../../core/runtime/turns/turns.ts';

export type Reply =
  | { readonly say: string }
  | { readonly calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[]; readonly say?: string }
  | { readonly fail: AppError }
  /** Never answers, until the turn is interrupted. */
  | { readonly hang: true };

interface SendOptions {
  readonly sessionId?: string;
  readonly dedupeKey?: string;
  readonly bounds?: TurnBounds;
}

export interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly system: string;
  readonly tail: string | undefined;
}

export interface BenchOptions {
  readonly tools?: readonly ToolDefinition[];
  readonly limits?: Partial<TurnDeps['limits']>;
  readonly budget?: BudgetPort;
  readonly verifier?: VerifyPort;
  readonly governor?: TurnDeps['governor'];
  readonly contextTokens?: number;
  readonly packSources?: readonly PackSource[];
  readonly learning?: LearningPort;
  readonly policy?: NonNullable<ConfigInput['policy']>;
}

const migrations = [...sessionMigrations, ...policyMigrations, ...artifactMigrations, ...checkpointMigrations, ...continuityMigrations];
const noBudget: BudgetPort = {
  reserve: () => ({ ok: true, reservation: { settle: () => undefined }, unpriced: [], room: { usd: null, tokens: null } }),
  finishTurn: () => undefined,
};

export class TurnBench {
  readonly clock = new ManualClock();
  readonly ids = new CountingIds();
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-turns-')));
  readonly workspace = join(this.root, 'workspace');
  readonly home = join(this.root, 'home');
  /** The model's answers, in order; after them every answer is "ok". */
  readonly script: Reply[] = [];
  readonly asked: Asked[] = [];
  /** The tools offered in each request. */
  readonly offered: string[][] = [];
  /** Called when the model is called, before it answers. */
  onAsked: () => void = () => undefined;
  /** The agents' settings; empty unless a test sets them. */
  readonly agents: { -readonly [K in keyof AgentPort]: AgentPort[K] } = { modelOf: () => null, boundsOf: () => null, identityOf: () => '' };
  /** The taint of a tool's calls. */
  taintOf: (tool: string) => CallTaint = () => noTaint;
  /** The untrusted sources of a tool's results. */
  sourcesOf: (tool: string) => readonly TaintSource[] = () => [];
  /** Pending timers, until `passTime`. */
  readonly timers = new Set<{ readonly atMs: number; readonly action: () => void }>();
  readonly notes: string[] = [];
  readonly logger: Logger = { ...silentLogger, log: (level, message) => void this.notes.push(`${level}: ${message}`) };
  readonly #options: BenchOptions;
  #calls = 0;
  readonly reaped: unknown[] = [];
  storage!: Storage;
  log!: SessionLog;
  policy!: PolicyStore;
  continuity!: ContinuityRows;
  gate!: PolicyGate;
  panic!: PanicSwitch;
  packer!: ContextPacker;
  runtime!: TurnRuntime;
  tools!: ToolHost;

  constructor(options: BenchOptions = {}) {
    this.#options = options;
    mkdirSync(this.workspace);
    this.open();
  }

  open(): void {
    this.storage = Storage.open({ home: this.home, migrations });
    this.policy = new PolicyStore(this.storage.db);
    const rows = new CheckpointRows(this.storage.db);
    this.continuity = new ContinuityRows(this.storage.db);
    const projections = [this.policy, rows, this.continuity];
    this.log = new SessionLog({ storage: this.storage, clock: this.clock, logger: this.logger, projections });
    this.panic = new PanicSwitch();
    const artifacts = new ArtifactStore({ db: this.storage.db, folder: join(this.home, 'artifacts'), clock: this.clock });
    this.tools = new ToolHost({
      tools: this.#options.tools ?? [],
      clock: this.clock,
      logger: this.logger,
      outputBytesMax: 48_000,
      artifacts,
    });
    this.gate = new PolicyGate({
      ...this.#gateDeps(),
      policy: configSchema.parse({ policy: { denyTools: ['forbidden'], ...this.#options.policy } }).policy,
      workspace: this.workspace,
      extraFolders: [],
      domains: () => ({ covers: () => false }),
      entryWords: (entry) => entry.split(' '),
      confines: () => true,
    });
    this.packer = new ContextPacker({ estimate: (text) => Math.ceil(text.length / 4), system: () => 'You are a test.' });
    const checkpoints = new Checkpoints({
      db: this.storage.db,
      rows,
      store: artifacts,
      clock: this.clock,
      forbids: () => null,
      undoDays: 30,
      isStopped: () => this.panic.engaged,
    });
    this.runtime = new TurnRuntime({ ...this.#gateDeps(), ...this.#turnDeps(), artifacts, checkpoints });
  }

  #gateDeps() {
    return { store: this.policy, clock: this.clock, ids: this.ids, panic: this.panic };
  }

  #turnDeps(): Omit<TurnDeps, 'clock' | 'ids' | 'panic' | 'artifacts' | 'checkpoints'> {
    return {
      crashPoints: { reach: () => undefined },
      later: (delayMs, action) => {
        const timer = { atMs: this.clock.nowMs() + delayMs, action };
        this.timers.add(timer);
        return () => void this.timers.delete(timer);
      },
      agents: this.agents,
      log: this.log,
      logger: this.logger,
      gate: this.gate,
      policy: this.policy,
      taint: { isTainted: () => false, of: (call) => this.taintOf(call.tool), watch: () => null, marksOf: (call) => this.#marksOf(call) },
      artifactStore: { sessionsOf: () => [] },
      models: {
        defaultRef: () => 'lab/m',
        defaultChoice: () => ({ ref: 'lab/m', problem: null }),
        info: (ref) => ({
          ref,
          contextTokens: this.#options.contextTokens ?? 100_000,
          inputUsdPerMillion: null,
          cachedInputUsdPerMillion: null,
          outputUsdPerMillion: null,
        }),
        cost: () => 0.5,
        stream: (_ref, request, sink, { signal }) => this.#answer(request, sink, signal),
      },
      tools: this.tools,
      budget: this.#options.budget ?? noBudget,
      verifier: this.#options.verifier ?? null,
      governor: this.#options.governor ?? null,
      hooks: null,
      lateCopies: null,
      lastOutput: null,
      packer: this.packer,
      continuity: this.continuity,
      ...(this.#options.packSources === undefined ? {} : { packSources: this.#options.packSources }),
      ...(this.#options.learning === undefined ? {} : { learning: this.#options.learning }),
      workspaces: {
        holds: () => false,
        contextOf: () => ({ workspace: this.workspace, home: this.home, extraFolders: [] }),
      },
      limits: {
        steps: 50,
        turnMs: 3_600_000,
        sameCall: 3,
        parallelReads: 8,
        parallelTurns: 8,
        queuedMessages: 20,
        ...this.#options.limits,
      },
      instanceMarker: { TRAYCLAW_INSTANCE: 'test' },
      estimate: (text) => Math.ceil(text.length / 4),
      redact: stillRedacted,
      redactJson: (text) => ({ text: stillRedacted(text), found: [] }),
      redactStream: () => ({ push: (piece) => piece, end: () => '' }),
      unfinishedAt: (text) => text.length,
      deltas: { size: 0, emit: () => undefined },
    };
  }

  #marksOf({ tool, callId = '' }: JudgedCall): EventBodies['taint.marked'] | null {
    const sources = this.sourcesOf(tool);
    return sources.length === 0 ? null : { callId, sources: [...sources], paths: [] };
  }

  async #answer(
    { messages, tools, system, tail }: Omit<ModelRequest, 'modelId'>,
    sink: DeltaSink,
    signal: AbortSignal,
  ): Promise<ModelReply & { firstTokenMs: number | null }> {
    this.asked.push({ messages: structuredClone([...messages]), system, tail });
    this.offered.push(tools.map(({ name }) => name));
    const reply = this.script.shift() ?? { say: 'ok' };
    this.onAsked();
    if ('fail' in reply) throw reply.fail;
    if ('hang' in reply) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    if (signal.aborted) throw new AppError('cancelled', 'The answer was cut off.');
    const calls = 'calls' in reply ? reply.calls.map(([tool, args]) => ({ id: this.#callId(), tool, args: JSON.stringify(args) })) : [];
    const text = 'say' in reply ? (reply.say ?? '') : '';
    sink.text(text);
    const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 };
    const finishReason = calls.length > 0 ? 'tool_calls' : 'stop';
    return { text, reasoning: '', calls, usage, usageReported: true, finishReason, firstTokenMs: 1 };
  }

  #callId(): string {
    this.#calls += 1;
    return `p${this.#calls}`;
  }

  send(text: string, options: SendOptions = {}): { sessionId: string; turnId: string } {
    const sessionId = options.sessionId ?? 's1';
    const body = { title: text, agentId: 'main', channel: 'cli', forkedFrom: null };
    const before: AnyDraft[] = this.log.index.session(sessionId) === null ? [{ type: 'session.created', body }] : [];
    const place = { sessionId, agentId: 'main', channel: 'cli', sender: 'ada' };
    const bounds = options.bounds === undefined ? {} : { bounds: options.bounds };
    return this.runtime.submit({ ...place, text, dedupeKey: options.dedupeKey ?? null, before, ...bounds });
  }

  direct(tool: string, args: Readonly<Record<string, unknown>>, sessionId = 's1'): { turnId: string; callId: string } {
    const body = { title: tool, agentId: 'main', channel: 'cli', forkedFrom: null };
    const before: AnyDraft[] = this.log.index.session(sessionId) === null ? [{ type: 'session.created', body }] : [];
    return this.runtime.runTool({ sessionId, agentId: 'main', tool, args: JSON.stringify(args), channel: 'cli', before });
  }

  /** Resolves to the status of the turn once it is idle. */
  async rest(turnId: string): Promise<string> {
    await this.runtime.whenResting(turnId);
    return this.log.index.turn(turnId)?.status ?? 'missing';
  }

  async ask(text: string, options: SendOptions = {}): Promise<string> {
    return this.rest(this.send(text, options).turnId);
  }

  /** Advances the clock and runs timers that became due. */
  passTime(ms: number): void {
    this.clock.advance(ms);
    for (const timer of this.timers) {
      if (timer.atMs > this.clock.nowMs()) continue;
      this.timers.delete(timer);
      timer.action();
    }
  }

  pending(): Approval {
    const [first] = this.policy.pendingApprovals();
    if (first === undefined) throw new Error('no approval is pending');
    return first;
  }

  /** Like the operation: records the answer and its grant in one transaction, then the turn continues. */
  decide(decision: 'approve' | 'deny', scope: GrantScope = { kind: 'once' }, approval = this.pending()): void {
    const parsed = this.tools.parse(approval.tool, approval.args);
    if (!parsed.ok) throw parsed.error;
    const grant = decision === 'approve' ? this.gate.grantFor(approval, scope, parsed.value.argsHash) : null;
    const { approvalId, callId, sessionId, turnId } = approval;
    const body = { approvalId, callId, decision, scope: grant?.scope ?? null, by: 'ada', grantId: grant?.grantId ?? null };
    this.runtime.appendToTurn(sessionId, turnId ?? '', [{ type: 'approval.decided', turnId: turnId ?? null, body }], () => {
      if (grant !== null) this.log.append('system', [{ type: 'grant.created', body: { grant } }]);
    });
    this.runtime.continueTurn(turnId ?? '');
  }

  /** The person edits the call and approves it; if `covered` is false, the edited call needs another approval. */
  decideEdited(args: object, covered = true, approval = this.pending()): void {
    const parsed = this.tools.parse(approval.tool, JSON.stringify(args));
    if (!parsed.ok) throw parsed.error;
    const { tool, args: given, argsHash, argsJson } = parsed.value;
    const facts = tool.facts(given, { workspace: this.workspace, home: this.home, extraFolders: [] });
    const grant = covered ? this.gate.grantForEdited(approval, { argsHash, facts }) : null;
    const { approvalId, callId, sessionId, turnId } = approval;
    const decision = grant === null ? ('withdraw' as const) : ('approve' as const);
    const edited = { args: argsJson };
    const body = { approvalId, callId, decision, scope: grant?.scope ?? null, by: 'ada', grantId: grant?.grantId ?? null, edited };
    this.runtime.appendToTurn(sessionId, turnId ?? '', [{ type: 'approval.decided', turnId: turnId ?? null, body }], () => {
      if (grant !== null) this.log.append('system', [{ type: 'grant.created', body: { grant } }]);
    });
    this.runtime.continueTurn(turnId ?? '');
  }

  events(turnId: string): AnyEvent[] {
    const row = this.log.index.turn(turnId);
    return row === null ? [] : this.log.reads.turn(row.sessionId, turnId, row.firstSeq);
  }

  of<T extends EventType>(turnId: string, type: T): EventOf<T>['body'][] {
    return this.events(turnId).flatMap((event) => (event.type === type ? [event.body as EventOf<T>['body']] : []));
  }

  /** Replays every turn in the log. */
  replays(): ReplayReport[] {
    const rows = this.storage.db.prepare('SELECT turn_id AS turnId FROM turns').all() as { turnId: string }[];
    return rows.map(({ turnId }) => this.replay(turnId));
  }

  replay(turnId: string): ReplayReport {
    return replayTurn(this.events(turnId));
  }

  /** The conversation as it would be read from the log now. */
  reloaded(sessionId = 's1'): readonly ChatMessage[] {
    return loadTranscript(this, sessionId).messages;
  }

  /** Ends this run, interrupting everything, and starts the next one. */
  async restart(): Promise<Recovery> {
    await this.runtime.dispose();
    this.storage.dispose();
    this.open();
    const recovery = await recoverLog({
      log: this.log,
      clock: this.clock,
      processes: {
        killAll: () => Promise.resolve({ killed: 0, tookMs: 0, survivors: 0 }),
        reap: (records) => {
          this.reaped.push(...records);
          return Promise.resolve({ killed: records.length, tookMs: 0, survivors: 0 });
        },
      },
      instanceMarker: {},
      resumes: true,
      crashPoints: { reach: () => undefined },
    });
    this.runtime.resume();
    return recovery;
  }

  async dispose(): Promise<void> {
    await this.runtime.dispose();
    this.storage.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}
