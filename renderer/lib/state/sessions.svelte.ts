// The session list, kept true by events. Deleting waits some seconds first, so that a slip can be taken back.

import { SvelteSet } from 'svelte/reactivity';
import type { AnyEvent, EventOf, EventType } from '../../../core/contracts/events.ts';
import type { SessionInfo } from '../../../core/contracts/op-results.ts';
import type { OpClient } from '../client.ts';
import { oneLine } from '../format.ts';

export interface PendingDeletion {
  readonly sessionId: string;
  readonly title: string;
}

export const undoMs = 6000;

type Change = Partial<SessionInfo>;
type Changes = { readonly [T in EventType]?: (event: EventOf<T>) => Change };

const changes: Changes = {
  'session.renamed': ({ body }) => ({ title: body.title }),
  'session.archived': ({ body }) => ({ archived: body.archived }),
  'user.message': ({ body, atMs }) => ({ lastText: oneLine(body.text), updatedAtMs: atMs }),
  'assistant.message': ({ body, atMs }) => ({ lastText: oneLine(body.text), updatedAtMs: atMs }),
  'turn.started': ({ atMs }) => ({ status: 'running', updatedAtMs: atMs }),
  'turn.waiting': () => ({ status: 'waiting' }),
  'turn.resumed': () => ({ status: 'running' }),
  'turn.finished': ({ body, atMs }) => ({ status: body.status, updatedAtMs: atMs }),
};

const unreadTypes: ReadonlySet<string> = new Set(['assistant.message', 'turn.finished', 'approval.requested', 'tool.outcome_unknown']);

export class Sessions {
  all = $state<SessionInfo[]>([]);
  loaded = $state(false);
  deletion = $state.raw<PendingDeletion | null>(null);
  readonly unread = new SvelteSet<string>();
  readonly #client: OpClient;
  readonly #onError: (cause: unknown) => void;
  #deletionTimer: ReturnType<typeof setTimeout> | undefined;

  /** Newest first, without the one about to be deleted. */
  readonly visible = $derived(
    this.all.filter((session) => session.sessionId !== this.deletion?.sessionId).toSorted((a, b) => b.updatedAtMs - a.updatedAtMs),
  );

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#onError = onError;
  }

  find(sessionId: string | null): SessionInfo | undefined {
    return this.all.find((session) => session.sessionId === sessionId);
  }

  async load(): Promise<void> {
    const { sessions } = await this.#client.op('session.list', { limit: 1000 });
    const archived = this.all.filter((session) => session.archived && !sessions.some((other) => other.sessionId === session.sessionId));
    this.all = [...sessions, ...archived];
    this.loaded = true;
  }

  async loadArchived(): Promise<void> {
    const { sessions } = await this.#client.op('session.list', { archived: true, limit: 1000 });
    for (const session of sessions) this.put(session);
  }

  async create(): Promise<SessionInfo> {
    const created = await this.#client.op('session.create', {});
    this.put(created);
    return created;
  }

  put(info: SessionInfo): void {
    const index = this.all.findIndex((session) => session.sessionId === info.sessionId);
    if (index === -1) this.all.push(info);
    else this.all[index] = info;
  }

  async rename(sessionId: string, title: string): Promise<void> {
    this.put(await this.#client.op('session.rename', { sessionId, title }));
  }

  async archive(sessionId: string, archived: boolean): Promise<void> {
    this.put(await this.#client.op('session.archive', { sessionId, archived }));
  }

  /** Hides the session at once and deletes it after `undoMs`. A closed window deletes nothing. */
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
    this.unread.delete(sessionId);
  }

  /** `lookedAt` is the session on screen; it is never unread. */
  apply(event: AnyEvent, lookedAt: string | null): void {
    if (event.type === 'session.deleted') this.#remove(event.body.sessionId);
    else if (event.type === 'session.created') this.#added(event);
    else this.#changed(event);
    if (unreadTypes.has(event.type) && event.sessionId !== lookedAt && this.find(event.sessionId)) this.unread.add(event.sessionId);
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
    });
  }

  #changed(event: AnyEvent): void {
    // Paired by the table, which the compiler cannot follow.
    const change = changes[event.type] as ((event: AnyEvent) => Change) | undefined;
    const session = change && this.find(event.sessionId);
    if (session && change) Object.assign(session, change(event));
  }
}
