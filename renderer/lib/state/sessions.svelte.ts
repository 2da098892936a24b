// The session list: pages loaded on demand, updated by events. Deletion is delayed some seconds, and archiving can be undone, so that a
// slip is harmless. The host tracks unread sessions; this only reports which were seen.

import type { AnyEvent, EventOf, EventType } from '../../../core/contracts/events.ts';
import type { SessionInfo } from '../../../core/contracts/op-results.ts';
import { systemSessionId } from '../../../core/contracts/system-session.ts';
import type { OpParams } from '../../../core/contracts/ops.ts';
import type { OpClient } from '../client.ts';
import { firstSessions } from '../first-client.ts';
import { oneLine } from '../format.ts';

/** A session that leaves the list and can still be restored. */
export interface LeavingSession {
  readonly sessionId: string;
  readonly title: string;
}

export const undoMs = 6000;
export const pageSessions = firstSessions.limit;
const sessionsMax = 1000;
/** Maximum number of repeated reads of one session. */
const readsMax = 3;
/** Events that arrive within this time are reported as seen together. */
const seeAfterMs = 250;

type Change = Partial<SessionInfo>;
type Changes = { readonly [T in EventType]?: (event: EventOf<T>) => Change };

/** Changes of an entry by event type, as in the host's own list. */
const changes: Changes = {
  'session.renamed': ({ body }) => ({ title: body.title }),
  'session.archived': ({ body }) => ({ archived: body.archived }),
  'session.pinned': ({ body }) => ({ pinned: body.pinned }),
  'session.configured': ({ body: { agentId, model, planFirst } }) => ({
    agentId,
    model,
    ...(planFirst === undefined ? {} : { planFirst: planFirst === 'off' ? null : planFirst }),
  }),
  // A person who writes has read everything before.
  'user.message': ({ body, atMs, seq }) => ({ lastText: oneLine(body.text), updatedAtMs: atMs, unread: 0, seenSeq: seq }),
  'assistant.message': ({ body, atMs }) => ({ lastText: oneLine(body.text), updatedAtMs: atMs }),
  'turn.started': ({ body, atMs }) =>
    body.kind === 'tool' || body.continues !== undefined ? { status: 'running', updatedAtMs: atMs } : { status: 'running' },
  'turn.waiting': () => ({ status: 'waiting' }),
  'turn.resumed': () => ({ status: 'running' }),
  'turn.finished': ({ body }) => ({ status: body.status }),
};

const news: ReadonlySet<string> = new Set(['turn.finished', 'turn.waiting']);
/** Events that also change a fork's entry in the list when they are copied. */
const copiedTypes: ReadonlySet<string> = new Set(['user.message', 'assistant.message']);

export class Sessions {
  all = $state<SessionInfo[]>([]);
  loaded = $state(false);
  loadingMore = $state(false);
  /** About to be deleted permanently. */
  deletion = $state.raw<LeavingSession | null>(null);
  /** Just archived. */
  archival = $state.raw<LeavingSession | null>(null);
  /** The session the person is looking at. */
  lookedAt = $state<string | null>(null);
  #nextCursor = $state<string | null>(null);
  #archivedCursor = $state<string | null>(null);
  readonly #client: OpClient;
  readonly #onError: (cause: unknown) => void;
  readonly #refreshing = new Set<string>();
  /** For each list in flight, the sessions that changed since it was requested; the list may lack these changes. */
  readonly #touched = new Set<Set<string>>();
  #deletionTimer: ReturnType<typeof setTimeout> | undefined;
  #archivalTimer: ReturnType<typeof setTimeout> | undefined;
  #seeTimer: ReturnType<typeof setTimeout> | undefined;

  /** Pinned sessions first, then the newest; without the one about to be deleted. */
  readonly visible = $derived(this.all.filter((session) => session.sessionId !== this.deletion?.sessionId).toSorted(inOrder));
  readonly hasMore = $derived(this.#nextCursor !== null);
  readonly hasMoreArchived = $derived(this.#archivedCursor !== null);

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#onError = onError;
  }

  find(sessionId: string | null): SessionInfo | undefined {
    return this.all.find((session) => session.sessionId === sessionId);
  }

  /** The session with the latest activity. */
  get newest(): SessionInfo | undefined {
    const open = this.visible.filter((session) => !session.archived);
    return open.reduce<SessionInfo | undefined>((a, b) => (a === undefined || b.updatedAtMs > a.updatedAtMs ? b : a), undefined);
  }

  isUnread(session: SessionInfo): boolean {
    return session.unread > 0 && session.sessionId !== this.lookedAt;
  }

  /** Reloads as many entries as were loaded before, or the first page. */
  async load(): Promise<void> {
    const touched = new Set<string>();
    this.#touched.add(touched);
    const held = this.all.filter((session) => !session.archived).length;
    const limit = Math.min(sessionsMax, Math.max(pageSessions, held));
    const { sessions, nextCursor } = await this.#client.op('session.list', { limit }).finally(() => this.#touched.delete(touched));
    const listed = new Set(sessions.map(({ sessionId }) => sessionId));
    const kept = this.all.filter((one) => !listed.has(one.sessionId) && (one.archived || one.sessionId === this.lookedAt));
    this.all = [...sessions, ...kept];
    this.#nextCursor = nextCursor;
    this.loaded = true;
    for (const sessionId of touched) this.refresh(sessionId);
    this.#see();
  }

  /** The next page of the list, or of the archive. */
  async loadMore(archived = false): Promise<void> {
    const cursor = archived ? this.#archivedCursor : this.#nextCursor;
    if (cursor === null || this.loadingMore) return;
    await this.#loadPage(archived, cursor);
  }

  async loadArchived(): Promise<void> {
    await this.#loadPage(true, null);
  }

  async #loadPage(archived: boolean, cursor: string | null): Promise<void> {
    this.loadingMore = true;
    try {
      const place = cursor === null ? {} : { cursor };
      const page = await this.#client.op('session.list', { archived, limit: pageSessions, ...place });
      for (const session of page.sessions) this.put(session);
      if (archived) this.#archivedCursor = page.nextCursor;
      else this.#nextCursor = page.nextCursor;
    } finally {
      this.loadingMore = false;
    }
  }

  /** Reloads one session; a missing one is ignored. One request at a time. */
  refresh(sessionId: string): void {
    if (this.#refreshing.has(sessionId)) return;
    this.#refreshing.add(sessionId);
    void this.#read(sessionId)
      .catch(() => undefined)
      .finally(() => this.#refreshing.delete(sessionId));
  }

  /** Repeats while newer changes arrive before the answer, which may include further ones. */
  async #read(sessionId: string): Promise<void> {
    for (let tries = 0; tries < readsMax; tries++) {
      const { session } = await this.#client.op('session.get', { sessionId, limit: 1 });
      if (this.put(session)) return;
    }
  }

  async create(given: OpParams<'session.create'> = {}): Promise<SessionInfo> {
    const created = await this.#client.op('session.create', given);
    this.put(created);
    return created;
  }

  /** Returns false for an answer older than the entry, which a later event has overtaken. */
  put(info: SessionInfo): boolean {
    const index = this.all.findIndex((session) => session.sessionId === info.sessionId);
    if (info.events < (this.all[index]?.events ?? 0)) return false;
    if (index === -1) this.all.push(info);
    else this.all[index] = info;
    if (info.sessionId === this.lookedAt) this.#seeSoon();
    return true;
  }

  async rename(sessionId: string, title: string): Promise<void> {
    this.put(await this.#client.op('session.rename', { sessionId, title }));
  }

  async pin(sessionId: string, pinned: boolean): Promise<void> {
    this.put(await this.#client.op('session.pin', { sessionId, pinned }));
  }

  /** A null model is the default one. */
  async chooseModel(sessionId: string, model: string | null): Promise<void> {
    this.put(await this.#client.op('session.configure', { sessionId, model }));
  }

  /** Copies a session up to an event, or completely. */
  async fork(sessionId: string, atSessionSeq?: number): Promise<SessionInfo> {
    const forked = await this.#client.op('session.fork', { sessionId, ...(atSessionSeq === undefined ? {} : { atSessionSeq }) });
    this.put(forked);
    return forked;
  }

  async archive(sessionId: string, archived: boolean): Promise<void> {
    this.put(await this.#client.op('session.archive', { sessionId, archived }));
    clearTimeout(this.#archivalTimer);
    this.archival = archived ? { sessionId, title: this.find(sessionId)?.title ?? '' } : null;
    if (archived) this.#archivalTimer = setTimeout(() => (this.archival = null), undoMs);
  }

  /** Hides the session at once and deletes it after `undoMs`. Closing the window cancels the deletion. */
  deleteSoon(sessionId: string): void {
    this.deleteNow();
    this.deletion = { sessionId, title: this.find(sessionId)?.title ?? '' };
    this.#deletionTimer = setTimeout(() => this.deleteNow(), undoMs);
  }

  keep(): void {
    clearTimeout(this.#deletionTimer);
    this.deletion = null;
  }

  deleteNow(): void {
    const pending = this.deletion;
    if (pending === null) return;
    clearTimeout(this.#deletionTimer);
    void this.#delete(pending.sessionId);
  }

  async #delete(sessionId: string): Promise<void> {
    try {
      await this.#client.op('session.delete', { sessionId });
      this.#remove(sessionId);
    } catch (cause) {
      this.#onError(cause);
    } finally {
      if (this.deletion?.sessionId === sessionId) this.deletion = null;
    }
  }

  #remove(sessionId: string): void {
    this.all = this.all.filter((session) => session.sessionId !== sessionId);
  }

  /** Sets the session in view; null for none. */
  look(sessionId: string | null): void {
    // Events just before leaving the session were seen.
    if (this.#seeTimer !== undefined) this.#see();
    this.lookedAt = sessionId;
    this.#see();
  }

  #seeSoon(): void {
    this.#seeTimer ??= setTimeout(() => this.#see(), seeAfterMs);
  }

  #see(): void {
    clearTimeout(this.#seeTimer);
    this.#seeTimer = undefined;
    const session = this.find(this.lookedAt);
    if (session === undefined || session.unread === 0) return;
    const { sessionId } = session;
    // If this fails, the session stays unread, as it does for the host.
    this.#client
      .op('session.seen', { sessionId })
      .then((seen) => this.put(seen))
      .catch(() => undefined);
  }

  apply(event: AnyEvent): void {
    for (const touched of this.#touched) touched.add(event.sessionId);
    if (event.type === 'session.deleted') this.#remove(event.body.sessionId);
    else if (event.sessionId === systemSessionId) return;
    else if (event.type === 'session.created') this.#added(event);
    else if (event.type === 'session.seen') this.#seen(event);
    else this.#changed(event);
  }

  #added({ sessionId, body, atMs }: EventOf<'session.created'>): void {
    if (this.find(sessionId) !== undefined) return;
    this.put({
      sessionId,
      title: body.title,
      agentId: body.agentId,
      channel: body.channel,
      archived: false,
      createdAtMs: atMs,
      updatedAtMs: atMs,
      lastText: '',
      events: 1,
      status: null,
      pendingApprovals: 0,
      pinned: false,
      unread: 0,
      seenSeq: 0,
      model: null,
      workspace: body.workspace ?? null,
      planFirst: null,
    });
  }

  #seen({ sessionId, seq, sessionSeq, body }: EventOf<'session.seen'>): void {
    const session = this.find(sessionId);
    // If everything was seen, nothing is unread; otherwise only the host knows the count.
    if (body.seq < seq - 1) this.refresh(sessionId);
    else if (session !== undefined) assign(session, sessionSeq, { unread: 0, seenSeq: body.seq });
  }

  #changed(event: AnyEvent): void {
    // The table pairs event and change, which the compiler cannot infer.
    const change = changes[event.type] as ((event: AnyEvent) => Change) | undefined;
    if (change === undefined) return;
    const session = this.find(event.sessionId);
    if (session === undefined) {
      // The session is on a later page or in the archive, and moves to the front now.
      if (this.loaded) this.refresh(event.sessionId);
      return;
    }
    const isCopied = event.atMs < session.createdAtMs;
    if (isCopied && !copiedTypes.has(event.type)) return;
    assign(session, event.sessionSeq, { ...change(event), ...(isCopied ? { unread: 0 } : {}) });
    if (isCopied || !news.has(event.type) || event.turnId === null) return;
    session.unread += 1;
    if (session.sessionId === this.lookedAt) this.#seeSoon();
  }
}

/** `events` is the position of the newest change in the entry. */
function assign(session: SessionInfo, sessionSeq: number, change: Change): void {
  Object.assign(session, change, { events: Math.max(session.events, sessionSeq) });
}

/** The host's order. */
function inOrder(a: SessionInfo, b: SessionInfo): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.updatedAtMs !== b.updatedAtMs) return b.updatedAtMs - a.updatedAtMs;
  return a.sessionId < b.sessionId ? 1 : -1;
}
