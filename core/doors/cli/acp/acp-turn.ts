// One prompt of an editor: runs its turn and reports it live. An approval or a question of an MCP server is asked in the editor and stays
// open at every other door. The first answer decides, and the question disappears elsewhere.

import {
  methods,
  type AgentContext,
  type ElicitationCapabilities,
  type RequestPermissionRequest,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { overlap } from '../../../base/overlap.ts';
import { revealed } from '../../../base/visible-text.ts';
import { boundedText } from '../../../contracts/approval-text.ts';
import type { Claw } from '../../../contracts/claw.ts';
import { isCommandLine, messageOf } from '../../../contracts/command-line.ts';
import { AppError, isAppError } from '../../../contracts/errors.ts';
import type { AnyEvent, DeltaNotice, EventBodies } from '../../../contracts/events.ts';
import type { McpQuestion } from '../../../contracts/features/mcp.ts';
import type { OpParams } from '../../../contracts/ops.ts';
import type { Approval } from '../../../contracts/policy.ts';
import { quickAnswers } from '../../../contracts/question-fields.ts';
import { cliCaller } from '../caller.ts';
import {
  answerOf,
  callTitle,
  decisionOf,
  diffContent,
  elicitationOf,
  inputOf,
  permissionOptions,
  questionOptions,
  stopReasonOf,
  toolKind,
  type Prompt,
} from './acp-words.ts';

export interface AcpTurnDeps {
  readonly claw: Claw;
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The forms that the editor supports; null if it supports none. */
  readonly forms?: ElicitationCapabilities | null;
}

/** The most of an approval that an editor is asked to show. */
const ASKED_CHARS_MAX = 12_000;

type PlanStep = { content: string; priority: 'medium'; status: 'pending' | 'in_progress' | 'completed' };

export class AcpTurn {
  readonly #deps: AcpTurnDeps;
  readonly #over = new AbortController();
  /** The open requests in the editor, by the id of the approval or question. */
  readonly #asked = new Map<string, AbortController>();
  readonly #titles = new Map<string, string>();
  readonly #plan = new Map<string, PlanStep>();
  readonly #early: DeltaNotice[] = [];
  #turnId: string | null = null;
  #isCancelled = false;
  /** The updates to the editor, one after the other. */
  #line: Promise<void> = Promise.resolve();
  #said = '';
  /** The model request whose text was sent last. */
  #requestId: string | undefined;
  #size = 0;
  #used = 0;

  constructor(deps: AcpTurnDeps) {
    this.#deps = deps;
  }

  /** Fails with the error of the turn. */
  async run(prompt: Prompt): Promise<StopReason> {
    const { claw, sessionId } = this.#deps;
    const stopDeltas = claw.onDelta((delta) => this.#hear(delta));
    // Subscribes before the message is sent, so that no event of its turn is missed.
    const events = claw.events({ after: 'latest', sessionId, signal: this.#over.signal });
    try {
      const turnId = isCommandLine(prompt.text) ? await this.#runCommand(prompt.text) : await this.#send(prompt);
      if (turnId === null) return 'end_turn';
      this.#turnId = turnId;
      if (this.#isCancelled) await this.#cancelTurn(turnId);
      for (const delta of this.#early.splice(0)) this.#hear(delta);
      this.#askEarlier(turnId).catch(() => undefined);
      for await (const event of events) {
        // An approval of an earlier turn too.
        if (event.type === 'approval.decided') this.#asked.get(event.body.approvalId)?.abort();
        if (event.type === 'session.renamed') await this.#tell({ sessionUpdate: 'session_info_update', title: event.body.title });
        if (event.turnId !== turnId) continue;
        const shown = this.#inOrder(() => this.#show(event));
        if (event.type !== 'turn.finished') continue;
        await shown;
        return await this.#end(event.body);
      }
      throw new AppError('shutting_down', 'TrayClaw ended before the turn did. The turn continues when it runs again.');
    } finally {
      stopDeltas();
      this.#over.abort();
      for (const asked of this.#asked.values()) asked.abort();
    }
  }

  async #send({ text, attachments }: Prompt): Promise<string> {
    const { claw, sessionId } = this.#deps;
    const files = attachments.length === 0 ? {} : { attachments: [...attachments] };
    const { turnId } = await claw.op('message.send', { text: messageOf(text), sessionId, ...files }, cliCaller);
    return turnId;
  }

  /** Runs a slash command and says what came of it. Returns the turn to follow, or null if there is none. */
  async #runCommand(line: string): Promise<string | null> {
    const { claw, sessionId } = this.#deps;
    const { text, file, turnId, follow } = await claw.op('command.run', { line, sessionId }, cliCaller);
    if (turnId !== null && follow) return turnId;
    this.#say(file?.text ?? text, false);
    await this.#line;
    return null;
  }

  async cancel(): Promise<void> {
    this.#isCancelled = true;
    if (this.#turnId !== null) await this.#cancelTurn(this.#turnId);
  }

  /** The prompt comes after an earlier turn that waits for the person, who is asked here. Each approval is asked once. */
  async #askEarlier(turnId: string): Promise<void> {
    const { claw } = this.#deps;
    const known = new Set<string>();
    while (!this.#over.signal.aborted) {
      const { behind } = await claw.op('turn.wait', { turnId }, cliCaller);
      if (behind === undefined) return;
      const { approvals } = await claw.op('approval.list', {}, cliCaller);
      const asked = approvals.filter((one) => one.turnId === behind && !known.has(one.approvalId));
      if (asked.length === 0) return;
      for (const { approvalId } of asked) known.add(approvalId);
      await Promise.all(asked.map((approval) => this.#ask(approval)));
    }
  }

  async #cancelTurn(turnId: string): Promise<void> {
    try {
      await this.#deps.claw.op('turn.cancel', { turnId }, cliCaller);
    } catch (cause) {
      // The turn ended at the same moment.
      if (!isAppError(cause)) throw cause;
    }
  }

  #tell(update: SessionUpdate): Promise<void> {
    return this.#deps.client.notify(methods.client.session.update, { sessionId: this.#deps.sessionId, update });
  }

  #hear(delta: DeltaNotice): void {
    if (delta.sessionId !== this.#deps.sessionId || this.#over.signal.aborted) return;
    if (this.#turnId === null) this.#early.push(delta);
    else if (delta.turnId === this.#turnId && delta.kind !== 'output') this.#piece(delta.kind, delta);
  }

  /** Separates an answer from that of the previous step. The delta names its request, because the stream of events may lag behind. */
  #piece(kind: 'text' | 'reasoning', { text, requestId }: DeltaNotice): void {
    if (kind === 'reasoning') return this.#chunk('agent_thought_chunk', text);
    const isApart = this.#said !== '' && requestId !== this.#requestId;
    this.#requestId = requestId;
    this.#say(text, isApart);
  }

  #say(text: string, isApart: boolean): void {
    this.#said += text;
    this.#chunk('agent_message_chunk', isApart ? `\n\n${text}` : text);
  }

  #chunk(sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk', text: string): void {
    void this.#inOrder(() => this.#tell({ sessionUpdate, content: { type: 'text', text } }));
  }

  /** Showing an event may need another operation first. Text that arrives during it is sent afterwards. */
  #inOrder(show: () => Promise<void>): Promise<void> {
    // A broken connection ends the prompt elsewhere.
    this.#line = this.#line.then(show).catch(() => this.#over.abort());
    return this.#line;
  }

  async #show(event: AnyEvent): Promise<void> {
    switch (event.type) {
      case 'pack.built':
        this.#size = event.body.budgetTokens;
        // Our count, until the server reports its own: a request that is cancelled has none.
        this.#used = event.body.tokens;
        return;
      case 'model.finished':
        this.#used = event.body.usage.inputTokens + event.body.usage.outputTokens;
        for (const { callId, tool, args } of event.body.calls) this.#titles.set(callId, callTitle(tool, args));
        return;
      case 'plan.drafted':
        return this.#draft(event.body);
      case 'policy.decided':
        return this.#newCall(event.body);
      case 'approval.requested':
        // Not awaited, because the approval may be decided at another door, or the turn may be cancelled.
        this.#ask(event.body.approval).catch(() => undefined);
        return;
      case 'approval.decided':
        return this.#decided(event.body);
      case 'mcp.asked':
        // Not awaited, for the same reason as an approval.
        this.#askForServer(event.body.questionId).catch(() => undefined);
        return;
      case 'mcp.answered':
        this.#asked.get(event.body.question)?.abort();
        return;
      case 'tool.requested':
        await this.#tell({ sessionUpdate: 'tool_call_update', toolCallId: event.body.callId, status: 'in_progress' });
        return this.#step(event.body.callId, 'in_progress');
      case 'tool.finished':
        await this.#finishCall(event.body);
        return this.#step(event.body.callId, 'completed');
      default:
        return;
    }
  }

  #draft({ calls }: EventBodies['plan.drafted']): Promise<void> {
    for (const { callId, tool } of calls)
      this.#plan.set(callId, { content: this.#titles.get(callId) ?? tool, priority: 'medium', status: 'pending' });
    return this.#tellPlan();
  }

  async #newCall({ callId, tool, facts, decision, reason }: EventBodies['policy.decided']): Promise<void> {
    const title = this.#titles.get(callId) ?? tool;
    const locations = facts.paths.map(({ real }) => ({ path: real }));
    await this.#tell({ sessionUpdate: 'tool_call', toolCallId: callId, title, kind: toolKind(facts.class), status: 'pending', locations });
    if (decision === 'deny') await this.#refuse(callId, reason);
  }

  async #decided({ callId, decision, reason }: EventBodies['approval.decided']): Promise<void> {
    if (decision !== 'approve') await this.#refuse(callId, reason ?? 'It was not approved.');
  }

  async #finishCall({ callId, outcome, forUser }: EventBodies['tool.finished']): Promise<void> {
    const { files } = await this.#deps.claw.op('checkpoint.diff', { callId }, cliCaller).catch(() => ({ files: [] }));
    const content = [
      ...files.flatMap(diffContent),
      ...(forUser === '' ? [] : [{ type: 'content' as const, content: { type: 'text' as const, text: forUser } }]),
    ];
    await this.#tell({ sessionUpdate: 'tool_call_update', toolCallId: callId, status: outcome === 'ok' ? 'completed' : 'failed', content });
  }

  /** Reports a call that is not made. */
  #refuse(toolCallId: string, why: string): Promise<void> {
    const content = [{ type: 'content' as const, content: { type: 'text' as const, text: why } }];
    return this.#tell({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed', content });
  }

  async #step(callId: string, status: PlanStep['status']): Promise<void> {
    const step = this.#plan.get(callId);
    if (step === undefined) return;
    step.status = status;
    await this.#tellPlan();
  }

  #tellPlan(): Promise<void> {
    return this.#plan.size === 0 ? Promise.resolve() : this.#tell({ sessionUpdate: 'plan', entries: [...this.#plan.values()] });
  }

  /** Runs the work until the request is answered here or elsewhere. */
  async #whileAsked(askId: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const asked = new AbortController();
    this.#asked.set(askId, asked);
    try {
      await work(asked.signal);
    } finally {
      this.#asked.delete(askId);
    }
  }

  async #askForServer(questionId: string): Promise<void> {
    const { claw } = this.#deps;
    const { questions } = await claw.op('mcp.list', {}, cliCaller);
    const question = questions.find((one) => one.questionId === questionId);
    if (question === undefined) return;
    await this.#whileAsked(questionId, async (signal) => {
      const answer = await this.#answerOf(question, signal);
      if (answer !== null && !signal.aborted) await claw.op('mcp.answer', { questionId, ...answer }, cliCaller);
    });
  }

  /** Asks in a form of the editor, or with its buttons. Null if the editor supports neither, or the person did not answer. */
  async #answerOf(question: McpQuestion, signal: AbortSignal): Promise<Omit<OpParams<'mcp.answer'>, 'questionId'> | null> {
    const { client, sessionId, forms } = this.#deps;
    const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true };
    const form = elicitationOf(question, sessionId, forms ?? null);
    if (form !== null) return answerOf(await client.request(methods.client.elicitation.create, form, waiting));
    const { callId, server, message } = question;
    const asks = `The MCP server ${server} asks: ${message}`;
    const quick = quickAnswers(question);
    if (quick.length === 0) {
      this.#say(`${asks}\n(Answer it in the window of TrayClaw.)\n`, this.#said !== '');
      return null;
    }
    const toolCall = { toolCallId: callId, title: question.url === null ? asks : `${asks} ${question.url}` };
    const request: RequestPermissionRequest = { sessionId, toolCall, options: questionOptions(quick) };
    const { outcome } = await client.request(methods.client.session.requestPermission, request, waiting);
    if (outcome.outcome !== 'selected') return null;
    if (outcome.optionId === 'decline') return { action: 'decline' };
    const content = quick[request.options.findIndex(({ optionId }) => optionId === outcome.optionId)]?.content;
    return content === undefined ? null : { action: 'accept', ...(content === null ? {} : { content }) };
  }

  async #ask(approval: Approval): Promise<void> {
    const { claw, client, sessionId } = this.#deps;
    const { approvalId, callId, summary, tool, args } = approval;
    const { text, isWhole } = boundedText(approval, ASKED_CHARS_MAX);
    await this.#whileAsked(approvalId, async (signal) => {
      const { files } = await claw.op('approval.diff', { approvalId }, cliCaller).catch(() => ({ files: [] }));
      const about = { type: 'content' as const, content: { type: 'text' as const, text } };
      const title = revealed(summary === '' ? tool : summary);
      const toolCall = { toolCallId: callId, title, rawInput: inputOf(args), content: [about, ...files.flatMap(diffContent)] };
      const asking: RequestPermissionRequest = { sessionId, toolCall, options: permissionOptions(approval, isWhole) };
      const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true };
      const { outcome } = await client.request(methods.client.session.requestPermission, asking, waiting);
      const offered = outcome.outcome === 'selected' && asking.options.some(({ optionId }) => optionId === outcome.optionId);
      const decided = offered ? decisionOf(outcome.optionId) : null;
      if (decided !== null && !signal.aborted) await claw.op('approval.decide', { approvalId, ...decided }, cliCaller);
    });
  }

  /** Deltas may be lost or late, so the missing rest of the final text is sent here. */
  async #end(finished: EventBodies['turn.finished']): Promise<StopReason> {
    const { text, costUsd } = finished;
    const wanted = text.trim();
    const sent = this.#said.trimEnd();
    if (!sent.endsWith(wanted)) {
      const known = overlap(sent, wanted);
      this.#say(wanted.slice(known), known === 0 && sent !== '');
      await this.#line;
    }
    if (this.#size > 0) {
      const cost = costUsd === null ? {} : { cost: { amount: costUsd, currency: 'USD' } };
      await this.#tell({ sessionUpdate: 'usage_update', used: this.#used, size: this.#size, ...cost });
    }
    if (finished.status !== 'done' && this.#isCancelled) return 'cancelled';
    return stopReasonOf(finished);
  }
}
