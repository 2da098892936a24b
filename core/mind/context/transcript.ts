// The conversation as the model is shown it, grown event by event. Calls and results are never torn apart.
// Append-only: `messages` is one array object until something is dropped, so adapters can keep what they serialised.

import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';
import { withFiles, type ReadAttachment } from './attached-files.ts';

export type TranscriptEvent = { [T in AnyEvent['type']]: Pick<EventOf<T>, 'type' | 'turnId' | 'sessionSeq' | 'body'> }[AnyEvent['type']];

export interface Dropped {
  readonly count: number;
  readonly tokens: number;
}

interface OpenCall {
  readonly id: string;
  readonly tool: string;
  readonly turnId: string | null;
}

/** Where a message came into the conversation, and the turn it leaves with if that is superseded. */
type Place = Pick<TranscriptEvent, 'sessionSeq' | 'turnId'>;

const takenUp =
  'The turn before this one was ended by a limit before its work was done. The person wants it to go on: take the work up where it ' +
  'stopped, and do not do again what is done.';

/** Per-message overhead of the wire formats, in tokens. */
const MESSAGE_TOKENS = 4;
/** About what the vendors count for a large image. */
const IMAGE_TOKENS = 1_600;
/** Characters a cut leaves at least. */
const TEXT_KEPT_MIN = 200;

export interface TranscriptDeps {
  readonly estimate: (text: string) => number;
  /** Sees every text on its way to the model, once. */
  readonly redact?: (text: string) => string;
  readonly readAttachment?: ReadAttachment;
}

export class Transcript {
  #messages: ChatMessage[] = [];
  #tokens: number[] = [];
  #seqs: number[] = [];
  #turns: (string | null)[] = [];
  #totalTokens = 0;
  readonly #open = new Map<string, OpenCall>();
  /** Turns and calls a person made directly; they may run beside a conversation and never close its calls. */
  readonly #directTurns = new Set<string>();
  readonly #direct = new Map<string, { tool: string; args: string }>();
  readonly #queuedUsers = new Map<string, { text: string; files: readonly ArtifactRef[] }>();
  /** What must wait until every open call has its result. */
  #deferred: { readonly message: ChatMessage; readonly turnId: string | null }[] = [];
  readonly #estimate: (text: string) => number;
  readonly #redact: (text: string) => string;
  readonly #readAttachment: ReadAttachment | undefined;

  constructor(deps: TranscriptDeps) {
    this.#estimate = deps.estimate;
    this.#redact = deps.redact ?? ((text) => text);
    this.#readAttachment = deps.readAttachment;
  }

  get messages(): readonly ChatMessage[] {
    return this.#messages;
  }

  get totalTokens(): number {
    return this.#totalTokens;
  }

  get count(): number {
    return this.#messages.length;
  }

  /** Session sequence of the oldest message kept; 0 for none. */
  get fromSessionSeq(): number {
    return this.#seqs[0] ?? 0;
  }

  apply(event: TranscriptEvent): void {
    switch (event.type) {
      case 'user.message':
        this.#queuedUsers.set(event.turnId ?? '', { text: event.body.text, files: event.body.attachments ?? [] });
        return;
      case 'turn.started':
        this.#startTurn(event);
        return;
      case 'turn.steered':
        this.#steer(event);
        return;
      case 'reflection.recorded':
        this.#pushWhenClosed({ role: 'note', text: event.body.note }, event);
        return;
      case 'model.finished':
        this.#pushReply(event.body, event);
        return;
      case 'turn.finished':
        this.#endTurn(event);
        return;
      case 'turn.superseded':
        this.#takeOut(event.turnId);
        return;
      default:
        this.#applyResult(event);
    }
  }

  /** Forgets the oldest whole exchanges until at most `keepTokens` remain; the newest exchange always stays. */
  dropOldest(keepTokens: number): Dropped {
    let cut = 0;
    let tokens = 0;
    let passedTokens = 0;
    let lastUserSeq = this.#messages[0]?.role === 'user' ? this.#seqs[0] : undefined;
    for (let i = 0; i < this.#messages.length; i++) {
      // A person's message begins an exchange: nothing before it is still waiting for a result.
      if (i > 0 && this.#messages[i]?.role === 'user' && this.#seqs[i] !== lastUserSeq) {
        lastUserSeq = this.#seqs[i];
        cut = i;
        tokens = passedTokens;
        if (this.#totalTokens - passedTokens <= keepTokens) break;
      }
      passedTokens += this.#tokens[i] ?? 0;
    }
    if (cut > 0) this.#forget(cut);
    return { count: cut, tokens };
  }

  /** Leaves only what stands at or after a place of the log: a past pack's first message. */
  keepFrom(sessionSeq: number): void {
    if ((this.#seqs[0] ?? sessionSeq) >= sessionSeq) return;
    // A pack that does not begin with the session begins with a person's words: results may share their place.
    const cut = this.#seqs.findIndex((seq, index) => seq >= sessionSeq && this.#messages[index]?.role === 'user');
    if (cut > 0) this.#forget(cut);
  }

  /** Cuts the longest tool results, and the arguments of calls, down to `keepTokens` each. Returns what was cut. */
  truncateLongest(keepTokens: number): { what: string; fromTokens: number; toTokens: number }[] {
    const cuts: { what: string; fromTokens: number; toTokens: number }[] = [];
    const messages = this.#messages.map((message, index) => {
      const tokens = this.#tokens[index] ?? 0;
      const shorter = tokens <= keepTokens ? null : cutMessage(message, keepTokens / tokens);
      if (shorter === null) return message;
      const toTokens = this.#count(shorter.message);
      cuts.push({ what: shorter.what, fromTokens: tokens, toTokens });
      this.#totalTokens += toTokens - tokens;
      this.#tokens[index] = toTokens;
      return shorter.message;
    });
    if (cuts.length > 0) this.#messages = messages;
    return cuts;
  }

  #forget(count: number): void {
    for (const tokens of this.#tokens.slice(0, count)) this.#totalTokens -= tokens;
    this.#messages = this.#messages.slice(count);
    this.#tokens = this.#tokens.slice(count);
    this.#seqs = this.#seqs.slice(count);
    this.#turns = this.#turns.slice(count);
  }

  /** A turn has ended when it is superseded: none of its calls is open. What a person did beside it stays. */
  #takeOut(turnId: string | null): void {
    this.#queuedUsers.delete(turnId ?? '');
    if (!this.#turns.includes(turnId)) return;
    const stays = this.#turns.map((turn) => turn !== turnId);
    this.#messages = this.#messages.filter((_, index) => stays[index]);
    this.#seqs = this.#seqs.filter((_, index) => stays[index]);
    this.#tokens = this.#tokens.filter((_, index) => stays[index]);
    this.#turns = this.#turns.filter((turn) => turn !== turnId);
    this.#totalTokens = this.#tokens.reduce((sum, tokens) => sum + tokens, 0);
  }

  /** Words for a message that is still queued belong to that message, not to the turn before it. */
  #steer(event: Extract<TranscriptEvent, { type: 'turn.steered' }>): void {
    const queued = this.#queuedUsers.get(event.turnId ?? '');
    if (queued === undefined) this.#pushWhenClosed({ role: 'user', text: event.body.text }, event);
    else this.#queuedUsers.set(event.turnId ?? '', { ...queued, text: `${queued.text}\n\n${event.body.text}` });
  }

  /** A direct call and a message that never left the queue end beside the conversation: its open calls are not theirs to close. */
  #endTurn(event: Extract<TranscriptEvent, { type: 'turn.finished' }>): void {
    const turnId = event.turnId ?? '';
    if (this.#directTurns.delete(turnId) || this.#queuedUsers.delete(turnId)) return;
    this.#closeAll('Not run: the turn ended first.', event);
  }

  #startTurn(event: Extract<TranscriptEvent, { type: 'turn.started' }>): void {
    if (event.body.kind === 'tool') {
      this.#directTurns.add(event.turnId ?? '');
      for (const call of event.body.calls) this.#direct.set(call.callId, { tool: call.tool, args: call.args });
      return;
    }
    this.#closeAll('Not run: the turn ended first.', event);
    const user = this.#queuedUsers.get(event.turnId ?? '');
    if (user !== undefined) {
      this.#queuedUsers.delete(event.turnId ?? '');
      this.#push(withFiles(user.text, user.files, this.#readAttachment), event);
    }
    if (event.body.continues !== undefined) this.#push({ role: 'note', text: takenUp }, event);
  }

  #pushReply(body: EventOf<'model.finished'>['body'], place: Place): void {
    if (body.text === '' && body.calls.length === 0) return;
    this.#push(
      {
        role: 'assistant',
        text: body.text,
        calls: body.calls.map((call) => ({ id: call.providerCallId, tool: call.tool, args: call.args })),
      },
      place,
    );
    for (const call of body.calls) this.#open.set(call.callId, { id: call.providerCallId, tool: call.tool, turnId: place.turnId });
  }

  #applyResult(event: TranscriptEvent): void {
    switch (event.type) {
      case 'tool.finished':
        this.#pushResult(event.body.callId, event.body.forModel, event.body.outcome !== 'ok', event);
        return;
      case 'tool.rejected':
        this.#pushResult(
          event.body.callId,
          `${event.body.error.message}${event.body.error.hint === undefined ? '' : ` ${event.body.error.hint}`}`,
          true,
          event,
        );
        return;
      case 'policy.decided':
        if (event.body.decision === 'deny') this.#pushResult(event.body.callId, `Not allowed: ${event.body.reason}`, true, event);
        return;
      case 'approval.decided':
        if (event.body.decision === 'deny')
          this.#pushResult(event.body.callId, 'The person said no. Do not try the same again; ask or find another way.', true, event);
        return;
      default:
        return;
    }
  }

  #pushResult(callId: string, text: string, isError: boolean, place: Place): void {
    const direct = this.#direct.get(callId);
    if (direct !== undefined) {
      this.#direct.delete(callId);
      this.#pushWhenClosed({ role: 'note', text: `The person ran ${direct.tool} ${direct.args} directly. Result:\n${text}` }, place);
      return;
    }
    const call = this.#open.get(callId);
    if (call === undefined) return;
    this.#open.delete(callId);
    this.#push({ role: 'tool', id: call.id, tool: call.tool, text, isError }, { ...place, turnId: call.turnId });
    if (this.#open.size === 0) this.#releaseDeferred(place);
  }

  #pushWhenClosed(message: ChatMessage, place: Place): void {
    if (this.#open.size === 0) this.#push(message, place);
    else this.#deferred.push({ message, turnId: place.turnId });
  }

  #closeAll(text: string, { sessionSeq }: Place): void {
    for (const { id, tool, turnId } of this.#open.values())
      this.#push({ role: 'tool', id, tool, text, isError: true }, { sessionSeq, turnId });
    this.#open.clear();
    this.#releaseDeferred({ sessionSeq });
  }

  /** What waited takes the place of the event that let it in: places ascend, and a past pack is found again by its first. */
  #releaseDeferred({ sessionSeq }: Pick<Place, 'sessionSeq'>): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    for (const { message, turnId } of deferred) this.#push(message, { sessionSeq, turnId });
  }

  #count(message: ChatMessage): number {
    let tokens = this.#estimate(message.text) + MESSAGE_TOKENS;
    if (message.role === 'user') tokens += (message.images?.length ?? 0) * IMAGE_TOKENS;
    if (message.role === 'assistant') for (const call of message.calls) tokens += this.#estimate(call.args) + MESSAGE_TOKENS;
    return tokens;
  }

  /** Arguments were redacted as JSON when the call was recorded; one that still holds a secret learned of since becomes an empty call. */
  #withoutSecrets(message: ChatMessage): ChatMessage {
    const text = this.#redact(message.text);
    const safe = text === message.text ? message : { ...message, text };
    if (safe.role !== 'assistant' || safe.calls.every((call) => this.#redact(call.args) === call.args)) return safe;
    return { ...safe, calls: safe.calls.map((call) => (this.#redact(call.args) === call.args ? call : { ...call, args: '{}' })) };
  }

  #push(unsafe: ChatMessage, { sessionSeq, turnId }: Place): void {
    const message = this.#withoutSecrets(unsafe);
    const tokens = this.#count(message);
    this.#messages.push(message);
    this.#tokens.push(tokens);
    this.#seqs.push(sessionSeq);
    this.#turns.push(turnId);
    this.#totalTokens += tokens;
  }
}

/** Null for what is never cut: a person's words, and calls that are short. What is left of arguments stays a JSON object. */
function cutMessage(message: ChatMessage, share: number): { message: ChatMessage; what: string } | null {
  if (message.role === 'tool') {
    const text = cutMiddle(message.text, Math.max(TEXT_KEPT_MIN, Math.floor(message.text.length * share)));
    return { message: { ...message, text }, what: `result of ${message.tool}` };
  }
  if (message.role !== 'assistant') return null;
  const keep = (args: string): number => Math.max(TEXT_KEPT_MIN, Math.floor(args.length * share));
  const long = message.calls.filter((call) => call.args.length > keep(call.args));
  if (long.length === 0) return null;
  const calls = message.calls.map((call) =>
    long.includes(call) ? { ...call, args: JSON.stringify({ _shortened: cutMiddle(call.args, keep(call.args)) }) } : call,
  );
  return { message: { ...message, calls }, what: `arguments of ${long.map((call) => call.tool).join(', ')}` };
}

function cutMiddle(text: string, keep: number): string {
  if (text.length <= keep) return text;
  const half = Math.floor(keep / 2);
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters left out …\n${text.slice(-half)}`;
}
