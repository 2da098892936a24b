// The making of sessions, one way for all. What is typed or sent where a session is being made belongs to that session; the window goes
// there, unless the person has gone elsewhere meanwhile.

import type { OpClient } from '../client.ts';
import type { DraftFile } from '../draft-files.ts';
import type { Place, Route } from './route.svelte.ts';
import type { Sessions } from './sessions.svelte.ts';

/** The draft for a session that is being made next to the one shown. */
const unmadeKey = 'new';

interface Making {
  /** Where the person was when it began. */
  readonly from: Place;
  /** The draft of what is written there meanwhile. */
  readonly key: string;
  /** The session, or null where none could be made. */
  readonly made: Promise<string | null>;
}

/** A draft that is being worked on; its key changes when the draft moves to a session that was made. */
export interface HeldDraft {
  key: string;
  release(): void;
}

export interface NewSessionParts {
  readonly client: OpClient;
  readonly sessions: Sessions;
  readonly route: Route;
  readonly drafts: Record<string, string>;
  readonly draftFiles: Record<string, DraftFile[]>;
}

export class NewSession {
  readonly #parts: NewSessionParts;
  readonly #held = new Set<HeldDraft>();
  #making = $state.raw<Making | null>(null);

  constructor(parts: NewSessionParts) {
    this.#parts = parts;
  }

  /** Goes to a session to write in: the open one where it is still empty, else a new one. */
  async begin(): Promise<void> {
    if (this.#making !== null) return void (await this.#making.made);
    const { drafts, draftFiles, route, sessions } = this.#parts;
    const open = sessions.find(route.place.sessionId);
    const isBlank = open !== undefined && open.lastText === '' && open.title === '' && (open.workspace ?? null) === null;
    const isUsed = isBlank && ((drafts[open.sessionId] ?? '') !== '' || (draftFiles[open.sessionId] ?? []).length > 0);
    if (isBlank && !isUsed) return route.go('chat', open.sessionId);
    await this.make(() => sessions.create());
  }

  /** From the next turn on; where there is no session yet, one is made that has it. A null model is the default one. */
  async chooseModel(shownId: string | null, model: string | null): Promise<void> {
    const { sessions } = this.#parts;
    const sessionId = await this.settled(shownId);
    if (sessionId === undefined) return;
    if (sessionId !== null) return sessions.chooseModel(sessionId, model);
    await this.make(() => sessions.create(model === null ? {} : { model }));
  }

  /** A new session that works in a folder or in a new worktree of it; `trusts` is the person's yes to that folder. */
  async workIn(folder: string, { trusts, inWorktree }: { readonly trusts: boolean; readonly inWorktree: boolean }): Promise<void> {
    const { client, sessions } = this.#parts;
    await this.make(async () => {
      if (trusts) await client.op('workspace.trust', { path: folder });
      return inWorktree ? client.op('worktree.begin', { folder }) : sessions.create({ workspace: folder });
    }, true);
  }

  /** Without `takesDraft`, what was already written in the session that is shown stays there. */
  async make(create: () => Promise<{ readonly sessionId: string }>, takesDraft = false): Promise<void> {
    while (this.#making !== null) await this.#making.made;
    const from = this.#parts.route.place;
    const shownKey = from.view === 'chat' ? (from.sessionId ?? '') : unmadeKey;
    const key = takesDraft || shownKey === '' ? shownKey : unmadeKey;
    const making = this.#make(create, from, key);
    this.#making = { from, key, made: making.catch(() => null) };
    await making;
  }

  async #make(create: () => Promise<{ readonly sessionId: string }>, from: Place, key: string): Promise<string> {
    try {
      const { sessionId } = await create();
      this.moveDraft(key, sessionId);
      const { route } = this.#parts;
      if (isSame(route.place, from)) route.go('chat', sessionId);
      return sessionId;
    } finally {
      this.#making = null;
    }
  }

  /** The draft of what is written where a session is shown. */
  draftKey(shownId: string | null): string {
    return this.#makingFrom(shownId)?.key ?? shownId ?? '';
  }

  /** The session that is meant where one is shown, once it is made; undefined if it could not be made, null if there is none. */
  async settled(shownId: string | null): Promise<string | null | undefined> {
    const making = this.#makingFrom(shownId);
    return making === undefined ? shownId : ((await making.made) ?? undefined);
  }

  /**
   * Another window or a command has deleted a session. If it is the one shown, what is written there stays, for a new one, and its title is
   * returned.
   */
  leaveDeleted(sessionId: string): string | null {
    const { drafts, draftFiles, route, sessions } = this.#parts;
    const isShown = route.place.view === 'chat' && route.place.sessionId === sessionId;
    if (isShown) {
      this.moveDraft(sessionId, '');
      route.replace('chat');
    }
    if (route.lastSessionId === sessionId) route.lastSessionId = null;
    for (const kept of [drafts, draftFiles]) delete kept[sessionId];
    return isShown ? (sessions.find(sessionId)?.title ?? '') : null;
  }

  /** Follows a draft wherever it moves, until it is released. */
  holdDraft(key: string): HeldDraft {
    const held: HeldDraft = { key, release: () => void this.#held.delete(held) };
    this.#held.add(held);
    return held;
  }

  /** Puts a draft and its files at the beginning of those of a session. */
  moveDraft(key: string, sessionId: string): void {
    if (key === sessionId) return;
    const { drafts, draftFiles } = this.#parts;
    drafts[sessionId] = (drafts[key] ?? '') + (drafts[sessionId] ?? '');
    draftFiles[sessionId] = [...(draftFiles[key] ?? []), ...(draftFiles[sessionId] ?? [])];
    drafts[key] = '';
    draftFiles[key] = [];
    for (const held of this.#held) if (held.key === key) held.key = sessionId;
  }

  #makingFrom(shownId: string | null): Making | undefined {
    const making = this.#making;
    return making !== null && making.from.view === 'chat' && making.from.sessionId === shownId ? making : undefined;
  }
}

function isSame(a: Place, b: Place): boolean {
  return a.view === b.view && a.sessionId === b.sessionId;
}
