// The conversation as the model sees it, extended event by event. Calls and results are never separated. Append-only: `messages` is one
// array until something is dropped, so adapters can cache what they serialised. A summary at its beginning replaces the messages it covers.

import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import { timedOut } from '../../contracts/policy.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';
import { picturesOf, withFiles, type ReadAttachment } from './attached-files.ts';
import { MessageRows, type HeldSummary, type Place } from './message-rows.ts';

type TranscriptChanges = { readonly [T in AnyEvent['type']]?: (event: Extract<TranscriptEvent, { type: T }>) => void };
export type TranscriptEvent = { [T in AnyEvent['type']]: Pick<EventOf<T>, 'type' | 'turnId' | 'sessionSeq' | 'body'> }[AnyEvent['type']];

interface OpenCall {
  readonly id: string;
  readonly tool: string;
  readonly turnId: string | null;
}

const takenUp =
  'A limit ended the turn before this one before its work was done. The person wants it to continue: carry on where it stopped, and do ' +
  'not repeat what is done.';

const planFirst =
  'The person wants a plan first: for now only reads run, and everything else is refused. Read what you need, then propose the plan with ' +
  'the tool plan; a person decides on it. If a plan was approved before, ask to begin its next step with the same tool.';

const insteadOfIt = 'Do not try the same thing again; ask, or find another way.';
const noAnswer =
  'Nobody answered in time, so it was not done. Do not ask for it again now: continue without it, and say at the end what was not done.';

const PICTURES_HELD_MAX = 16;

interface CallResult {
  readonly callId: string;
  readonly artifacts?: readonly ArtifactRef[];
}

export interface TranscriptDeps {
  readonly estimate: (text: string) => number;
  /** Redacts every text for the model, once. */
  readonly redact?: (text: string) => Redacted;
  /** Changes whenever more secrets are known. */
  readonly secretsVersion?: () => number;
  readonly readAttachment?: ReadAttachment;
}

export class Transcript extends MessageRows {
  readonly #open = new Map<string, OpenCall>();
  /** Turns and calls that a person started directly. They may run during a conversation, and never close its calls. */
  readonly #directTurns = new Set<string>();
  readonly #direct = new Map<string, { tool: string; args: string }>();
  /** The arguments of open calls that the person edited. */
  readonly #edited = new Map<string, string>();
  readonly #queuedUsers = new Map<string, { text: string; files: readonly ArtifactRef[] }>();
  /** The number of pictures in results since earlier ones were last left out. */
  #pictures = 0;
  /** Messages that must wait until every open call has its result. */
  #deferred: { readonly message: ChatMessage; readonly turnId: string | null }[] = [];
  readonly #redact: (text: string) => Redacted;
  readonly #secretsVersion: () => number;
  #lookedAt: number;
  readonly #readAttachment: ReadAttachment | undefined;

  readonly #changes: TranscriptChanges = {
    'user.message': ({ body, turnId }) => void this.#queuedUsers.set(turnId ?? '', { text: body.text, files: body.attachments ?? [] }),
    'turn.started': (event) => this.#startTurn(event),
    'turn.steered': (event) => this.#steer(event),
    'reflection.recorded': (event) => this.#pushWhenClosed({ role: 'note', text: event.body.note }, event),
    'model.finished': (event) => this.#pushReply(event.body, event),
    'turn.finished': (event) => this.#endTurn(event),
    'turn.superseded': ({ turnId }) => {
      this.#queuedUsers.delete(turnId ?? '');
      // The turn has ended, so none of its calls is open. A person's direct calls during it stay.
      if (turnId !== null) this.takeOut(turnId);
    },
    'summary.written': ({ body }) => this.sumUp(body, this.#redact),
    'tool.finished': (event) => this.#pushResult(event.body, event.body.forModel, event.body.outcome !== 'ok', event),
    'tool.rejected': (event) => {
      const { message, hint } = event.body.error;
      this.#pushResult(event.body, hint === undefined ? message : `${message} ${hint}`, true, event);
    },
    'policy.decided': (event) => {
      if (event.body.decision === 'deny') this.#pushResult(event.body, `Not allowed: ${event.body.reason}`, true, event);
    },
    'approval.decided': (event) => this.#applyAnswer(event),
  };

  constructor(deps: TranscriptDeps) {
    super({ id: 'estimate', count: deps.estimate });
    this.#redact = deps.redact ?? stillRedacted;
    this.#secretsVersion = deps.secretsVersion ?? ((): number => 0);
    this.#lookedAt = this.#secretsVersion();
    this.#readAttachment = deps.readAttachment;
  }

  /** Redacted again on read: a text may have been stored before one of its secrets was known. */
  override get messages(): readonly Redacted<ChatMessage>[] {
    this.#lookAgain();
    return super.messages;
  }

  override get summary(): HeldSummary | null {
    this.#lookAgain();
    return super.summary;
  }

  #lookAgain(): void {
    const version = this.#secretsVersion();
    if (version === this.#lookedAt) return;
    this.#lookedAt = version;
    this.lookAgain((message) => this.#withoutSecrets(message), this.#redact);
  }

  apply(event: TranscriptEvent): void {
    // The table's keys are the event types, so the handler matches the event.
    (this.#changes[event.type] as ((event: TranscriptEvent) => void) | undefined)?.(event);
  }

  /** Steering text for a message that is still queued is added to that message, not to the turn before it. */
  #steer(event: Extract<TranscriptEvent, { type: 'turn.steered' }>): void {
    const queued = this.#queuedUsers.get(event.turnId ?? '');
    if (queued === undefined) this.#pushWhenClosed({ role: 'user', text: event.body.text }, event);
    else this.#queuedUsers.set(event.turnId ?? '', { ...queued, text: `${queued.text}\n\n${event.body.text}` });
  }

  /** Direct calls and messages that never left the queue end outside the conversation, so they do not close its open calls. */
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
    if (event.body.bounds?.planFirst !== undefined) this.#push({ role: 'note', text: planFirst }, event);
    if (event.body.continues !== undefined) this.#push({ role: 'note', text: takenUp }, event);
  }

  #pushReply(body: EventOf<'model.finished'>['body'], place: Place): void {
    if (body.text === '' && body.calls.length === 0) return;
    this.#push(
      {
        role: 'assistant',
        text: body.text,
        calls: body.calls.map((call) => ({ id: call.providerCallId, tool: call.tool, args: call.args })),
        ...(body.phase === undefined ? {} : { phase: body.phase }),
      },
      place,
    );
    for (const call of body.calls) this.#open.set(call.callId, { id: call.providerCallId, tool: call.tool, turnId: place.turnId });
  }

  #applyAnswer(event: Extract<TranscriptEvent, { type: 'approval.decided' }>): void {
    const { callId, decision, by, reason, edited } = event.body;
    if (edited !== undefined) this.#edited.set(callId, edited.args);
    else if (decision === 'deny') this.#pushResult({ callId }, by === timedOut ? noAnswer : saidNo(reason), true, event);
  }

  #pushResult({ callId, artifacts = [] }: CallResult, said: string, isError: boolean, place: Place): void {
    const edited = this.#edited.get(callId);
    this.#edited.delete(callId);
    const text = edited === undefined ? said : `The person changed this call. Its arguments were: ${edited}\nResult:\n${said}`;
    const direct = this.#direct.get(callId);
    if (direct !== undefined) {
      this.#direct.delete(callId);
      this.#pushWhenClosed({ role: 'note', text: `The person ran ${direct.tool} ${direct.args} directly. Result:\n${text}` }, place);
      return;
    }
    const call = this.#open.get(callId);
    if (call === undefined) return;
    this.#open.delete(callId);
    const images = artifacts.length === 0 ? [] : picturesOf(artifacts, this.#readAttachment);
    if (images.length > 0) this.#makeRoomFor(images.length);
    const result = { role: 'tool', id: call.id, tool: call.tool, text, isError } as const;
    this.#push(images.length === 0 ? result : { ...result, images }, { ...place, turnId: call.turnId });
    if (this.#open.size === 0) this.#releaseDeferred(place);
  }

  /** Vendors limit the pictures per request. Earlier pictures of tools are left out all together, so that the past changes rarely. */
  #makeRoomFor(count: number): void {
    this.#pictures += count;
    if (this.#pictures <= PICTURES_HELD_MAX) return;
    this.#pictures = count;
    this.lookAgain(withoutPictures, stillRedacted);
  }

  #pushWhenClosed(message: ChatMessage, place: Place): void {
    if (this.#open.size === 0) this.#push(message, place);
    else this.#deferred.push({ message, turnId: place.turnId });
  }

  #closeAll(text: string, { sessionSeq }: Place): void {
    for (const { id, tool, turnId } of this.#open.values())
      this.#push({ role: 'tool', id, tool, text, isError: true }, { sessionSeq, turnId });
    this.#open.clear();
    this.#edited.clear();
    this.#releaseDeferred({ sessionSeq });
  }

  /**
   * A deferred message gets the position of the event that released it: positions ascend, and a past pack is found by its first message.
   */
  #releaseDeferred({ sessionSeq }: Pick<Place, 'sessionSeq'>): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    for (const { message, turnId } of deferred) this.#push(message, { sessionSeq, turnId });
  }

  /** Arguments were redacted as JSON when the call was recorded. A call that contains a secret learned since then gets empty arguments. */
  #withoutSecrets(message: ChatMessage): Redacted<ChatMessage> {
    const text = this.#redact(message.text);
    const safe = text === message.text ? message : { ...message, text };
    if (safe.role !== 'assistant' || safe.calls.length === 0) return stillRedacted(safe);
    const calls = safe.calls.map((call) => (this.#redact(call.args) === call.args ? call : { ...call, args: '{}' }));
    return stillRedacted(calls.every((call, index) => call === safe.calls[index]) ? safe : { ...safe, calls });
  }

  #push(unsafe: ChatMessage, place: Place): void {
    this.add(this.#withoutSecrets(unsafe), place);
  }
}

function withoutPictures(message: ChatMessage): Redacted<ChatMessage> {
  if (message.role !== 'tool' || message.images === undefined) return stillRedacted(message);
  const { images: _images, ...rest } = message;
  return stillRedacted({ ...rest, text: `${rest.text}\n[Its pictures are no longer shown.]` });
}

function saidNo(reason: string | undefined): string {
  return reason === undefined ? `The person said no. ${insteadOfIt}` : `The person said no: ${reason}\n${insteadOfIt}`;
}
