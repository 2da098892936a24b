// The text of one session by author: the person's messages, earlier trusted results, and untrusted content with its sources. Reads the log
// incrementally, with limits on events and characters. Decides nothing about calls.

import { parseJson, valueAt } from '../../base/json.ts';
import { applyByType, type Changes } from '../../contracts/event-table.ts';
import type { AnyEvent, EventOf, EventType } from '../../contracts/events.ts';
import { answerChannel } from '../../contracts/system-session.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { SessionReads, SliceQuery } from '../../store/session/session.ts';
import type { Said } from './missing-pieces.ts';
import { distinct, shownSources } from './result-sources.ts';
import type { SessionTaint } from './taint-store.ts';
import { foldText, saysVerbatim, singleSpaced, wordsOf } from './text-words.ts';

export type LogSlices = Pick<SessionReads, 'slice' | 'head'>;

/** The maximum history: events of each kind, characters of each kind, and log positions. */
const EVENTS_MAX = 200;
const CHARS_MAX = 256 * 1024;
const PLACES_MAX = 6_000;
const NEW_EVENTS_MAX = 2_000;

const spokenTypes: readonly EventType[] = ['user.message', 'turn.steered', 'turn.started', 'taint.marked'];
const callTypes: readonly EventType[] = ['tool.requested', 'tool.finished', 'model.finished', 'policy.decided', 'taint.marked'];
const allTypes: readonly EventType[] = [...new Set([...spokenTypes, ...callTypes])];

interface SaidText {
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

interface ForeignText {
  readonly text: string;
  /** Null if it is unknown which of the session's sources the text came from. */
  readonly sources: readonly TaintSource[] | null;
}

export class SessionWords {
  readonly #sessionId: string;
  readonly #reads: LogSlices;
  readonly firstSeq: number;
  #readTo = 0;
  readonly #person = new Kept<SaidText>();
  readonly #workspace = new Kept<SaidText>();
  readonly #foreign = new Kept<ForeignText>();
  /** Calls made by a person, or by the model before it had read untrusted content. */
  readonly #ownCalls = new Set<string>();
  readonly #earlierCalls = new Set<string>();
  readonly #forwardedTurns = new Map<string, readonly TaintSource[]>();
  readonly #callSources = new Map<string, TaintSource[]>();

  readonly #changes: Changes = {
    'user.message': ({ body, turnId }) => this.#hear(body.text, turnId === null ? undefined : this.#forwardedTurns.get(turnId)),
    'turn.steered': ({ body }) => this.#hear(body.text, body.untrusted),
    'turn.started': ({ body }) => {
      for (const call of body.calls)
        if (body.channel === answerChannel) this.#hear(pathIn(call.args), undefined);
        else this.#takeOwnCall(call);
    },
    'taint.marked': (event) => this.#takeMark(event),
    'model.finished': (event) => {
      if (this.#isBefore(event)) for (const call of event.body.calls) this.#ownCalls.add(call.callId);
    },
    'tool.requested': (event) => {
      if (this.#isBefore(event)) this.#earlierCalls.add(`${event.body.tool} ${event.body.argsHash}`);
    },
    'policy.decided': ({ body }) => this.#addSources(body.callId, shownSources(body.facts)),
    'tool.finished': (event) => this.#takeResult(event, this.#isBefore(event)),
  };

  constructor(reads: LogSlices, sessionId: string, taint: SessionTaint) {
    this.#reads = reads;
    this.#sessionId = sessionId;
    this.firstSeq = taint.firstSeq;
  }

  /** Reads new events of the log. */
  catchUp(): void {
    const head = this.#reads.head(this.#sessionId)?.sessionSeq ?? 0;
    if (head <= this.#readTo) return;
    const events = this.#readTo === 0 ? this.#lookBack(head) : this.#newest(head);
    this.#readTo = head;
    for (const event of events) applyByType(this.#changes, event);
  }

  readonly person: Said = {
    word: (word) => this.#person.items.some((said) => said.words.has(word)),
    verbatim: (text) => this.#person.items.some((said) => saysVerbatim(said.text, text)),
  };

  readonly workspace: Said = {
    word: (word) => this.#workspace.items.some((said) => said.words.has(word)),
    verbatim: (text) => this.#workspace.items.some((said) => saysVerbatim(said.text, text)),
  };

  /**
   * Returns whether the call was made by a person, written by the model before it read untrusted content, or is the same as a call from
   * then.
   */
  isEarlierCall(call: { readonly callId?: string; readonly tool: string; readonly argsHash: string }): boolean {
    return (call.callId !== undefined && this.#ownCalls.has(call.callId)) || this.#earlierCalls.has(`${call.tool} ${call.argsHash}`);
  }

  /** Returns the sources whose text contains the piece. Returns null, meaning any source, if none does or if a source is unknown. */
  sourcesOf(piece: string): readonly TaintSource[] | null {
    const found = this.#foreign.items.filter(({ text }) => (piece.length < 4 ? saysVerbatim(text, piece) : text.includes(piece)));
    if (found.length === 0) return null;
    const sources = found.map((item) => item.sources);
    return sources.includes(null) ? null : distinct(sources.flatMap((known) => known ?? []));
  }

  /** Returns the sources of which no text is kept. These can never be ruled out. */
  unseen(sources: readonly TaintSource[]): TaintSource[] {
    const kept = new Set(this.#foreign.items.flatMap((item) => item.sources ?? []).map((source) => `${source.kind}:${source.where}`));
    return sources.filter((source) => !kept.has(`${source.kind}:${source.where}`));
  }

  /** Returns whether a source showed exactly this text. */
  wasShownBy(source: TaintSource, text: string): boolean {
    return this.#foreign.items.some(
      (item) =>
        (item.sources ?? []).some((known) => known.kind === source.kind && known.where === source.where) && saysVerbatim(item.text, text),
    );
  }

  #lookBack(head: number): AnyEvent[] {
    const after = Math.max(0, head - PLACES_MAX);
    const spoken = this.#slice({ after, types: spokenTypes, limit: EVENTS_MAX * 2, newest: true });
    if (spoken.length === EVENTS_MAX * 2 || after > 0) dropUnmarked(spoken);
    const before = this.#slice({ after, before: this.firstSeq, types: callTypes, limit: EVENTS_MAX, newest: true });
    const since = this.#slice({ after: Math.max(after, this.firstSeq - 1), types: callTypes, limit: EVENTS_MAX * 2, newest: true });
    const all = new Map([...spoken, ...before, ...since].map((event) => [event.sessionSeq, event]));
    return [...all.values()].sort((a, b) => a.sessionSeq - b.sessionSeq);
  }

  #newest(head: number): AnyEvent[] {
    const after = Math.max(this.#readTo, head - PLACES_MAX);
    const events = this.#slice({ after, types: allTypes, limit: NEW_EVENTS_MAX, newest: true });
    if (after > this.#readTo || events.length === NEW_EVENTS_MAX) dropUnmarked(events);
    return events;
  }

  #slice(query: SliceQuery): AnyEvent[] {
    return this.#reads.slice(this.#sessionId, query);
  }

  /** Returns whether the event is from before the session read untrusted content. */
  #isBefore({ sessionSeq }: AnyEvent): boolean {
    return sessionSeq < this.firstSeq;
  }

  #takeOwnCall(call: { readonly callId: string; readonly args: string }): void {
    this.#ownCalls.add(call.callId);
    this.#hear(call.args, undefined);
  }

  #takeMark({ body, turnId }: EventOf<'taint.marked'>): void {
    if (body.callId !== null) this.#addSources(body.callId, body.sources);
    else if (turnId !== null && body.attached !== true) this.#forwardedTurns.set(turnId, body.sources);
  }

  #hear(text: string, forwarded: readonly TaintSource[] | undefined): void {
    if (forwarded === undefined) this.#person.add(saidText(text), text.length);
    else this.#foreign.add({ text: singleSpaced(foldText(text)), sources: forwarded }, text.length);
  }

  #takeResult(event: EventOf<'tool.finished'>, isBefore: boolean): void {
    const { callId, forModel } = event.body;
    if (isBefore) {
      this.#workspace.add(saidText(forModel), forModel.length);
      return;
    }
    const sources = this.#callSources.get(callId) ?? [];
    this.#callSources.delete(callId);
    this.#foreign.add({ text: singleSpaced(foldText(forModel)), sources: sources.length === 0 ? null : sources }, forModel.length);
  }

  #addSources(callId: string, sources: readonly TaintSource[]): void {
    if (sources.length > 0) this.#callSources.set(callId, distinct([...(this.#callSources.get(callId) ?? []), ...sources]));
  }
}

/** The file that a person named for answers. The rest of such a call is the answer. */
function pathIn(args: string): string {
  const parsed = parseJson(args);
  const path = parsed.ok ? valueAt(parsed.value, 'path') : undefined;
  return typeof path === 'string' ? path : '';
}

/** Drops leading messages. The event that marks such a message as forwarded may have been cut off, so it might not be the person's. */
function dropUnmarked(events: AnyEvent[]): void {
  while (events[0]?.type === 'user.message') events.shift();
}

function saidText(text: string): SaidText {
  const part = text.slice(0, CHARS_MAX);
  return { text: singleSpaced(foldText(part)), words: wordsOf(part) };
}

/** Keeps the newest texts, within the limits. */
class Kept<T> {
  #items: { readonly item: T; readonly chars: number }[] = [];
  #chars = 0;
  #shown: T[] | null = null;

  get items(): readonly T[] {
    this.#shown ??= this.#items.map(({ item }) => item);
    return this.#shown;
  }

  add(item: T, chars: number): void {
    this.#items.push({ item, chars });
    this.#chars += chars;
    this.#shown = null;
    while (this.#items.length > EVENTS_MAX || (this.#chars > CHARS_MAX && this.#items.length > 1)) {
      this.#chars -= this.#items.shift()?.chars ?? 0;
    }
  }
}
