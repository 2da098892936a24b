// Answers a request to one of our agents with a normal turn, with our tools and our gate. The client waits for the turn; approvals are
// given elsewhere. The turn is cancelled when the client disconnects.

import { overlap } from '../../base/overlap.ts';
import { titleOf } from '../../base/session-title.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { DoorCaller } from '../../contracts/door-route.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { ArtifactRef, TaintSource } from '../../contracts/tools.ts';
import { addUsage } from '../../contracts/spending.ts';
import type { InboundMessage } from '../../runtime/turns/turns.ts';
import type { Spine } from '../feature.ts';
import type { Answer, Asked, AnswerWriter, Said } from './asked.ts';
import type { Conversations, Place } from './conversations.ts';
import { refuse } from './read-parts.ts';

export interface AgentDeps extends Pick<Spine, 'log' | 'ids' | 'turns' | 'artifacts' | 'later'> {
  readonly claw: Claw;
  readonly conversations: Conversations;
  /** How long a request without streaming waits for an approval. */
  readonly approvalMs: number;
}

export interface AgentRequest {
  readonly caller: DoorCaller;
  readonly agentId: string;
  readonly asked: Asked;
  /** The session that the client named. */
  readonly named: string | undefined;
  readonly writer: AnswerWriter;
  /** Aborts when the program disconnects or its token is revoked. */
  readonly signal: AbortSignal;
  /** Called once the turn has begun. From then on the request must not be repeated. */
  begun(turnId: string): void;
}

/** Fails with the error that ended the turn, and with `denied` if the turn waits too long for an approval. */
export async function answerAsAgent(deps: AgentDeps, request: AgentRequest): Promise<Answer> {
  const { caller, agentId, asked, writer } = request;
  if (asked.tools.length > 0)
    throw refuse('tools', 'An agent has its own tools. To use yours, name a model to pass through to, such as passthrough/PROVIDER/MODEL.');
  const { door, name } = caller.token;
  const by: Caller = { channel: door, actor: `${door}:${name}` };
  const watch = new TurnWatch(deps, asked.stream && asked.output.kind === 'text' ? writer : null);
  try {
    const started = accept(deps, request, by);
    watch.follow(started.turnId);
    await started.onDisk;
    request.begun(started.turnId);
    writer.begin({ 'x-trayclaw-session': started.sessionId, 'x-trayclaw-turn': started.turnId });
    watch.open();
    const result = await waitFor(deps, { ...request, by, watch, turnId: started.turnId });
    const answer = await answerOf(deps, request, by, result);
    watch.end(answer.text);
    // A program that streams has the text of every step, and sends all of it back.
    for (const text of new Set([answer.text, watch.sent]))
      deps.conversations.note(caller, agentId, [...asked.said, { role: 'assistant', text, calls: [] }], started.sessionId);
    return answer;
  } finally {
    watch.dispose();
  }
}

/** Fails with not_found, invalid_params, over_budget, queue_full, panic_engaged or a store error. After a failure no turn has begun. */
function accept(
  deps: AgentDeps,
  { caller, agentId, asked, named }: AgentRequest,
  { channel, actor: sender }: Caller,
): ReturnType<Spine['turns']['accept']> {
  const { conversations, ids, turns } = deps;
  const place = conversations.placeOf(caller, agentId, asked, named);
  const bounds = caller.bounds(channel);
  const sessionId = place.known?.sessionId ?? place.sessionId ?? ids.next('ses');
  const files = place.fresh.flatMap((one) => (one.role === 'user' ? one.images : [])).map((image) => keepImage(deps, sessionId, image));
  const { instructions } = asked;
  return turns.accept({
    sessionId,
    agentId: place.known?.agentId ?? agentId,
    ...wordsOf(place, conversations.areNew(sessionId, instructions) ? instructions : '', sender),
    channel,
    sender,
    dedupeKey: null,
    attached: { files, sources: files.map(({ name }) => ({ kind: 'file', where: `attached:${name}` })) },
    bounds,
    before: (text) =>
      place.known === null ? [{ type: 'session.created', body: { title: titleOf(text), agentId, channel, forkedFrom: null } }] : [],
    alongside: (turnId) => {
      caller.begins({ sessionId, turnId, bounds });
      conversations.noteInstructions(sessionId, instructions);
    },
  });
}

function keepImage({ artifacts }: AgentDeps, sessionId: string, image: { name: string; mediaType: string; base64: string }): ArtifactRef {
  return artifacts.put(Buffer.from(image.base64, 'base64'), { name: image.name, mediaType: image.mediaType, sessionId });
}

/**
 * The last message, and besides it the instructions of the client and earlier messages where the session lacks them. Those may contain
 * anything the client has read, so they are untrusted.
 */
function wordsOf({ fresh, earlier, known }: Place, instructions: string, sender: string): Pick<InboundMessage, 'text' | 'told'> {
  const said = fresh.filter(({ text }) => text.trim() !== '');
  const hasImages = fresh.some((one) => one.role === 'user' && one.images.length > 0);
  if (said.length === 0 && !hasImages) throw refuse('messages', 'There is nothing to answer: the last message is empty.');
  const parts = instructions === '' ? [] : [`Instructions of the program that asks:\n${instructions}`];
  const before = [...(known === null ? earlier.filter(({ text }) => text !== '') : []), ...said.slice(0, -1)];
  if (before.length > 0) parts.push(`Earlier in this conversation:\n${before.map(lineOf).join('\n')}`);
  const untrusted: TaintSource[] = [{ kind: 'message', where: sender }];
  return { text: said.at(-1)?.text ?? '', told: parts.length === 0 ? [] : [{ text: `---\n${parts.join('\n\n')}`, sender, untrusted }] };
}

function lineOf({ role, text }: Said): string {
  return `${role}: ${text}`;
}

interface Waiting extends AgentRequest {
  readonly by: Caller;
  readonly watch: TurnWatch;
  readonly turnId: string;
}

async function waitFor({ claw, later, approvalMs }: AgentDeps, { asked, writer, signal, by, watch, turnId }: Waiting): Promise<AskResult> {
  const cancel = (): void => {
    // The turn may end at the same moment, so a failure is ignored.
    claw.op('turn.cancel', { turnId }, by).catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  const late = new AbortController();
  let callOff: (() => void) | null = null;
  try {
    for (;;) {
      const result = await claw.op('turn.wait', { turnId }, by);
      if (result.status !== 'waiting') return result;
      const [pending] = result.pending ?? [];
      if (late.signal.aborted) throw approvalWaits(pending, turnId);
      if (pending !== undefined) writer.alive(`waiting for approval ${pending.approvalId}: ${pending.summary}`);
      if (!asked.stream) callOff ??= later(approvalMs, () => late.abort());
      await watch.nextChange(late.signal);
    }
  } finally {
    callOff?.();
    signal.removeEventListener('abort', cancel);
  }
}

function approvalWaits(pending: NonNullable<AskResult['pending']>[number] | undefined, turnId: string): AppError {
  const { approvalId = '', summary = 'a call' } = pending ?? {};
  const hint = `Approve or deny it in TrayClaw, or with: trayclaw approvals approve ${approvalId}. The turn then continues; a streaming request waits for it.`;
  return new AppError('denied', `The turn waits for the approval ${approvalId} (${summary}).`, { data: { approvalId, turnId }, hint });
}

async function answerOf({ claw }: AgentDeps, { asked }: AgentRequest, by: Caller, result: AskResult): Promise<Answer> {
  const { turnId, status, error, text, usage } = result;
  if (status !== 'done') throw endOf(result);
  const endReason = 'stop';
  if (asked.output.kind === 'text') return { text, calls: [], usage, endReason };
  const schema = asked.output.kind === 'json' ? { type: 'object' } : asked.output.schema;
  const value = await claw.op('turn.value', { turnId, schema }, by);
  if (error !== undefined) throw endOf(result);
  return { text: JSON.stringify(value.value), calls: [], usage: addUsage(usage, value.usage), endReason };
}

function endOf({ status, error, turnId }: AskResult): AppError {
  if (error !== undefined) return new AppError(error.code, error.message, { data: { turnId }, hint: error.hint });
  if (status === 'over_budget') return new AppError('over_budget', 'The turn reached a budget.', { data: { turnId } });
  if (status === 'stopped') return new AppError('panic_engaged', 'The panic stop ended the turn.', { data: { turnId } });
  return new AppError('cancelled', 'The turn was stopped.', { data: { turnId } });
}

const changes: ReadonlySet<string> = new Set(['turn.started', 'turn.resumed', 'turn.finished', 'turn.waiting']);

/** Follows one turn: streams its text, and notices when its state may have changed. */
class TurnWatch {
  readonly #deps: AgentDeps;
  readonly #writer: AnswerWriter | null;
  readonly #ends: (() => void)[] = [];
  #turnId: string | null = null;
  /** The text that was sent or is still held back. */
  #said = '';
  /** Everything the program was sent, including the separators between steps. */
  #sent = '';
  /** Text that arrived before the message was on disk; null once the reply has begun. */
  #held: string[] | null = [];
  /** The request of the step whose text was sent last. */
  #requestId: string | undefined;
  #change = Promise.withResolvers<void>();

  constructor(deps: AgentDeps, writer: AnswerWriter | null) {
    this.#deps = deps;
    this.#writer = writer;
    this.#ends.push(deps.log.onCommitted((events) => this.#hear(events)));
    if (writer !== null)
      this.#ends.push(
        deps.claw.onDelta(({ kind, turnId, text, requestId }) => {
          if (kind !== 'text' || turnId !== this.#turnId) return;
          this.#say(text, this.#said !== '' && requestId !== this.#requestId);
          this.#requestId = requestId;
        }),
      );
  }

  get sent(): string {
    return this.#sent;
  }

  follow(turnId: string): void {
    this.#turnId = turnId;
  }

  /** Called when the reply has begun. Sends the text held back so far; later text is sent at once. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const text of held) this.#writer?.text(text);
  }

  /** Resolves when the turn no longer waits for itself or an earlier one, waits for something else, or the signal aborts. */
  async nextChange(signal: AbortSignal): Promise<void> {
    const status = this.#deps.log.index.turn(this.#turnId ?? '')?.status;
    if ((status !== 'waiting' && status !== 'queued') || signal.aborted) return;
    const change = Promise.withResolvers<void>();
    this.#change = change;
    const onAbort = (): void => change.resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    await change.promise;
    signal.removeEventListener('abort', onAbort);
  }

  /** Sends the part of the final text that was not streamed, because deltas may be lost. */
  end(text: string): void {
    if (this.#writer === null) return;
    const wanted = text.trim();
    const sent = this.#said.trimEnd();
    if (sent.endsWith(wanted)) return;
    const known = overlap(sent, wanted);
    this.#say(wanted.slice(known), known === 0 && sent !== '');
  }

  dispose(): void {
    for (const end of this.#ends) end();
    this.#change.resolve();
  }

  #hear(events: readonly AnyEvent[]): void {
    for (const { type, turnId } of events) {
      if (turnId === null || turnId !== this.#turnId) continue;
      if (changes.has(type)) this.#change.resolve();
    }
  }

  /** Separates the text of a step from that of the step before. */
  #say(text: string, isApart: boolean): void {
    if (text === '') return;
    const said = isApart ? `\n\n${text}` : text;
    if (this.#held === null) this.#writer?.text(said);
    else this.#held.push(said);
    this.#said += text;
    this.#sent += said;
  }
}
