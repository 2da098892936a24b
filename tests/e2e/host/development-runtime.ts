// The operations the window uses, over the log in memory. For the window's own specs only; nothing of it is shipped.

import { AppError } from '../../../core/contracts/errors.ts';
import { systemSessionId, type AnyEvent } from '../../../core/contracts/events.ts';
import { configSchema } from '../../../core/contracts/config.ts';
import type { OpHandlers, OpResult, SessionInfo } from '../../../core/contracts/ops.ts';
import type { Approval, Grant, GrantScope, PanicStatus } from '../../../core/contracts/policy.ts';
import { DevelopmentTurn, type Answer, type Ending, type TurnWorld } from './development-turn.ts';
import { EventLog } from './event-log.ts';
import { addHistory, artifactText, exampleArtifact, exampleChecks, exampleModels } from './examples.ts';
import type { HostOptions, ScriptedReply } from './window-host.ts';

const calm: PanicStatus = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
const scopeOnce: GrantScope = { kind: 'once' };

export class DevelopmentRuntime implements TurnWorld {
  readonly log = new EventLog();
  readonly files: Map<string, string>;
  readonly model = exampleModels[0].ref;
  readonly handlers: Partial<OpHandlers>;
  readonly #replies: ScriptedReply[];
  readonly #sessions = new Map<string, SessionInfo>();
  readonly #approvals = new Map<string, Approval>();
  readonly #grants = new Map<string, Grant>();
  readonly #answers = new Map<string, (answer: Answer) => void>();
  readonly #turns = new Map<string, DevelopmentTurn>();
  readonly #secrets = new Set(['lab-key']);
  readonly #outcomes: OpResult<'outcome.list'>['outcomes'] = [];
  #panic = calm;
  #lastId = 0;

  constructor(options: HostOptions) {
    this.files = new Map(Object.entries(options.files ?? { 'notes.md': '# Notes\n\nBuy milk.\n' }));
    this.#replies = [...(options.replies ?? [])];
    this.handlers = this.#createHandlers();
    if (options.historyTurns) addHistory(this.log, this.#newSession('Earlier work').sessionId, options.historyTurns);
  }

  nextId(prefix: string): string {
    this.#lastId += 1;
    return `${prefix}_${String(this.#lastId).padStart(6, '0')}`;
  }

  nextReply(): ScriptedReply {
    return this.#replies.shift() ?? { text: 'Done.' };
  }

  answerOf(approval: Approval, signal: AbortSignal): Promise<Answer> {
    this.#approvals.set(approval.approvalId, approval);
    return new Promise((resolve, reject) => {
      this.#answers.set(approval.approvalId, resolve);
      signal.addEventListener('abort', () => {
        this.#approvals.set(approval.approvalId, { ...approval, state: 'withdrawn', decidedAtMs: Date.now() });
        reject(signal.reason);
      });
    });
  }

  addUnknownOutcome(): void {
    const { sessionId } = this.#newSession('Before the power cut');
    const turnId = this.nextId('trn');
    const call = { callId: this.nextId('call'), tool: 'exec', args: '{"command":"git push"}' };
    const reason = 'TrayClaw was ended while this ran.';
    this.log.append(sessionId, { type: 'tool.outcome_unknown', turnId, phase: 'observe', body: { ...call, reason } });
    this.#outcomes.push({ ...call, reason, sessionId, turnId, atMs: Date.now() });
  }

  close(): void {
    this.#stopTurns('cancelled');
  }

  #info(session: SessionInfo): SessionInfo {
    const events = this.log.ofSession(session.sessionId);
    const said = events.findLast((event) => event.type === 'user.message' || event.type === 'assistant.message');
    const lastText = said?.type === 'user.message' || said?.type === 'assistant.message' ? said.body.text.slice(0, 200) : '';
    return { ...session, lastText, updatedAtMs: events.at(-1)?.atMs ?? session.createdAtMs, events: events.length };
  }

  #session(sessionId: string): SessionInfo {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new AppError('not_found', `There is no session ${sessionId}.`);
    return session;
  }

  #newSession(title: string): SessionInfo {
    const nowMs = Date.now();
    const sessionId = this.nextId('ses');
    const base = { sessionId, title, agentId: 'main', channel: 'window', archived: false, createdAtMs: nowMs, updatedAtMs: nowMs };
    const info: SessionInfo = { ...base, lastText: '', events: 1, status: null, pendingApprovals: 0 };
    this.#sessions.set(sessionId, info);
    this.log.append(sessionId, { type: 'session.created', body: { title, agentId: 'main', channel: 'window', forkedFrom: null } });
    return info;
  }

  #changeSession(sessionId: string, change: Partial<SessionInfo>): SessionInfo {
    const changed = { ...this.#session(sessionId), ...change };
    this.#sessions.set(sessionId, changed);
    return this.#info(changed);
  }

  #send(text: string, given: string | undefined): OpResult<'message.send'> {
    if (this.#panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped.');
    const { sessionId, title } = given === undefined ? this.#newSession('') : this.#session(given);
    if (title === '') {
      this.#changeSession(sessionId, { title: text.slice(0, 60) });
      this.log.append(sessionId, { type: 'session.renamed', body: { title: text.slice(0, 60) } });
    }
    const turn = new DevelopmentTurn(this, sessionId, this.nextId('trn'));
    this.#turns.set(turn.turnId, turn);
    const body = { text, channel: 'window', sender: 'person', dedupeKey: null };
    this.log.append(sessionId, { type: 'user.message', turnId: turn.turnId, body });
    setImmediate(() => void turn.run());
    return { sessionId, turnId: turn.turnId };
  }

  #decide(approvalId: string, decision: 'approve' | 'deny', scope: GrantScope): Approval {
    const approval = this.#approvals.get(approvalId);
    if (approval?.state !== 'pending') throw new AppError('approval_not_pending', 'This approval no longer waits.');
    const state = decision === 'approve' ? 'approved' : 'denied';
    const decided: Approval = {
      ...approval,
      state,
      decidedAtMs: Date.now(),
      decidedBy: 'window',
      scope: decision === 'approve' ? scope : null,
    };
    this.#approvals.set(approvalId, decided);
    if (decision === 'approve' && scope.kind !== 'once') this.#grant(decided, scope);
    this.#answers.get(approvalId)?.({ decision, scope });
    return decided;
  }

  #grant(approval: Approval, scope: GrantScope): void {
    const nowMs = Date.now();
    const grant: Grant = {
      grantId: this.nextId('grt'),
      scope,
      match: { kind: 'exact', tool: approval.tool, argsHash: 'h' },
      covers: approval.widerScope ?? approval.summary,
      sessionId: approval.sessionId,
      approvalId: approval.approvalId,
      createdAtMs: nowMs,
      expiresAtMs: scope.kind === 'minutes' ? nowMs + scope.minutes * 60_000 : null,
      revokedAtMs: null,
      spentAtMs: null,
    };
    this.#grants.set(grant.grantId, grant);
    this.log.append(systemSessionId, { type: 'grant.created', body: { grant } });
  }

  #stopTurns(ending: Ending): number {
    let ended = 0;
    for (const turn of this.#turns.values()) {
      ended += turn.running;
      turn.ending = ending;
      turn.stop.abort();
    }
    this.#turns.clear();
    return ended;
  }

  #engage(reason: string): PanicStatus {
    this.log.append(systemSessionId, { type: 'panic.engaged', body: { reason, by: 'window' } });
    const killed = this.#stopTurns('stopped');
    const tookMs = killed > 0 ? 12 : null;
    this.#panic = { engaged: true, sinceMs: Date.now(), reason, killed, tookMs };
    if (tookMs !== null) this.log.append(systemSessionId, { type: 'panic.measured', body: { killed, tookMs } });
    return this.#panic;
  }

  #page(sessionId: string, before: number | undefined, limit: number): AnyEvent[] {
    return this.log
      .ofSession(sessionId)
      .filter((event) => before === undefined || event.seq < before)
      .slice(-limit);
  }

  #createHandlers(): Partial<OpHandlers> {
    return { ...this.#sessionHandlers(), ...this.#turnHandlers(), ...this.#gateHandlers(), ...this.#systemHandlers() };
  }

  #sessionHandlers(): Partial<OpHandlers> {
    return {
      'session.list': ({ archived }) => ({
        sessions: [...this.#sessions.values()].filter((session) => archived || !session.archived).map((session) => this.#info(session)),
      }),
      'session.get': ({ sessionId, before, limit }) => ({
        session: this.#info(this.#session(sessionId)),
        events: this.#page(sessionId, before, limit ?? 5000),
      }),
      'session.create': ({ title }) => this.#newSession(title ?? ''),
      'session.rename': ({ sessionId, title }) => {
        this.log.append(sessionId, { type: 'session.renamed', body: { title } });
        return this.#changeSession(sessionId, { title });
      },
      'session.archive': ({ sessionId, archived }) => {
        this.log.append(sessionId, { type: 'session.archived', body: { archived } });
        return this.#changeSession(sessionId, { archived });
      },
      'session.delete': ({ sessionId }) => {
        const events = this.log.countOf(this.#session(sessionId).sessionId);
        this.#sessions.delete(sessionId);
        this.log.append(systemSessionId, { type: 'session.deleted', body: { sessionId, headSeq: events, headHash: 'h' } });
        return { sessionId, events };
      },
      'session.search': ({ query }) => ({
        hits: this.log.events.flatMap((event) =>
          event.type === 'user.message' && event.body.text.toLowerCase().includes(query.toLowerCase())
            ? [
                {
                  sessionId: event.sessionId,
                  title: this.#sessions.get(event.sessionId)?.title ?? '',
                  seq: event.seq,
                  atMs: event.atMs,
                  type: event.type,
                  excerpt: event.body.text,
                },
              ]
            : [],
        ),
      }),
    };
  }

  #turnHandlers(): Partial<OpHandlers> {
    return {
      'message.send': ({ text, sessionId }) => this.#send(text, sessionId),
      'turn.cancel': ({ turnId }) => {
        const turn = this.#turns.get(turnId);
        if (turn === undefined) throw new AppError('turn_not_running', 'This turn is not running.');
        this.log.append(turn.sessionId, { type: 'turn.cancel_requested', turnId, body: { reason: 'Stop turn', by: 'person' } });
        turn.stop.abort();
        return { turnId, status: 'cancelled' };
      },
      'turn.steer': ({ turnId, text }) => {
        const turn = this.#turns.get(turnId);
        const isOver = this.log.events.some((event) => event.turnId === turnId && event.type === 'turn.finished');
        if (turn === undefined || isOver) throw new AppError('turn_not_running', 'This turn is not running.');
        this.log.append(turn.sessionId, { type: 'turn.steered', turnId, body: { text, sender: 'person' } });
        return { turnId };
      },
      'pack.get': ({ packId }) => {
        const event = this.log.events.find((candidate) => candidate.type === 'pack.built' && candidate.body.packId === packId);
        if (event?.type !== 'pack.built') throw new AppError('not_found', `There is no pack ${packId}.`);
        const { fromSessionSeq: _, ...pack } = event.body;
        const messages = [
          { role: 'system', text: 'You are TrayClaw.' },
          { role: 'user', text: 'Hello' },
        ];
        return { ...pack, turnId: event.turnId ?? '', messages };
      },
      'replay.run': () => ({ identical: true, decisions: 3, differences: [] }),
      'outcome.list': () => ({ outcomes: this.#outcomes }),
      'outcome.settle': ({ callId, answer }) => {
        const index = this.#outcomes.findIndex((outcome) => outcome.callId === callId);
        const [outcome] = index === -1 ? [] : this.#outcomes.splice(index, 1);
        if (outcome === undefined) throw new AppError('not_found', 'Nothing is unknown about this call.');
        const { sessionId, turnId } = outcome;
        this.log.append(sessionId, { type: 'tool.outcome_settled', turnId, body: { callId, answer, by: 'window' } });
        return { callId, turnId };
      },
    };
  }

  #gateHandlers(): Partial<OpHandlers> {
    return {
      'approval.list': ({ all }) => ({
        approvals: [...this.#approvals.values()].filter((approval) => all || approval.state === 'pending'),
      }),
      'approval.decide': ({ approvalId, decision, scope }) => this.#decide(approvalId, decision, scope ?? scopeOnce),
      'grant.list': () => ({ grants: [...this.#grants.values()] }),
      'grant.revoke': ({ grantId }) => {
        const grant = this.#grants.get(grantId);
        if (grant === undefined) throw new AppError('not_found', 'There is no such grant.');
        const revoked = { ...grant, revokedAtMs: Date.now() };
        this.#grants.set(grantId, revoked);
        this.log.append(systemSessionId, { type: 'grant.revoked', body: { grantId, by: 'window' } });
        return revoked;
      },
      'panic.status': () => this.#panic,
      'panic.engage': ({ reason }) => this.#engage(reason ?? ''),
      'panic.release': () => {
        this.#panic = calm;
        this.log.append(systemSessionId, { type: 'panic.released', body: { by: 'window' } });
        return calm;
      },
    };
  }

  #systemHandlers(): Partial<OpHandlers> {
    const row = { key: 'today', turns: 3, modelCalls: 5, inputTokens: 9200, outputTokens: 410, cachedInputTokens: 0, costUsd: 0.31 };
    return {
      'model.list': () => ({ models: [...exampleModels], defaultModel: this.model }),
      'usage.get': () => ({ rows: [row], today: row, budget: { perTurnUsd: 1, perSessionUsd: null, perDayUsd: 10 } }),
      'config.get': () => ({
        config: configSchema.parse({ budget: { perDayUsd: 10 } }),
        path: '/home/ada/.config/trayclaw/config.yaml',
        warnings: [],
      }),
      'health.check': () => ({ ok: false, checks: [...exampleChecks] }),
      'audit.verify': () => ({ ok: true, events: this.log.seq, sessions: this.#sessions.size }),
      'secret.list': () => ({ names: [...this.#secrets].sort() }),
      'secret.set': ({ name }) => {
        this.#secrets.add(name);
        return { name };
      },
      'secret.delete': ({ name }) => ({ name, deleted: this.#secrets.delete(name) }),
      'artifact.list': () => ({ artifacts: [exampleArtifact] }),
      'artifact.get': () => ({ artifact: exampleArtifact, text: artifactText, base64: null, nextOffset: null }),
    };
  }
}
