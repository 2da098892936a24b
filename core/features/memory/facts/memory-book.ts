// Every change of a memory: propose, promote, pin, settle, forget, import and export. Each change is an event. Only promotion.ts decides
// what may be kept without a person.

import { AppError } from '../../../contracts/errors.ts';
import { memoryTextMax, sharedScope, type MemoryState, type MemoryHit, type MemoryView } from '../../../contracts/features/memory.ts';
import type { KeptMemory, MemoryResolver, Proposal } from '../../../contracts/memory-ports.ts';
import type { OpParsed } from '../../../contracts/ops.ts';
import type { Spine } from '../../feature.ts';
import type { MemoryCounts } from './memory-rows.ts';
import { archivedBefore } from './decay.ts';
import { readMemoryFile, writeMemoryFile } from './memory-file.ts';
import type { Recall, MemoryStore, ProposedBy, RecallRequest } from './ports.ts';
import { ruleFor } from './promotion.ts';
import { noteUse, type UsePlace } from './memory-pack-source.ts';
import { viewOf } from './recall.ts';

export interface MemoryBookDeps extends Pick<Spine, 'clock' | 'ids'> {
  readonly store: MemoryStore;
  readonly source: Recall;
  readonly resolver: MemoryResolver;
  /** The maximum number of candidates. When it is exceeded, the oldest candidate is dropped. */
  readonly candidatesMax: number;
}

export interface Proposed extends Proposal {
  readonly scope: string;
  readonly pinned?: boolean;
  /** Derived from the call, so that a repeated call finds the memory it has already made. */
  readonly memoryId?: string;
  readonly createdAtMs?: number;
}

export interface MemoryListQuery extends Omit<OpParsed<'memory.list'>, 'limit' | 'offset'> {
  readonly limit: number;
  readonly offset: number;
}

/** The maximum number of memories that are checked for contradictions. */
const NEIGHBOURS = 20;
/** The maximum number of results of a person's search, before filtering. */
const SEARCHED = 500;
const EXPORT_PAGE = 1_000;

export class MemoryBook {
  readonly #deps: MemoryBookDeps;

  constructor(deps: MemoryBookDeps) {
    this.#deps = deps;
  }

  /** Stores a statement as a kept memory or as a candidate. If it is known already, counts one more mention. */
  propose(proposed: Proposed, origin: ProposedBy): { memory: KeptMemory; isNew: boolean } {
    const { store, ids } = this.#deps;
    return store.transact(() => {
      const text = proposed.text.trim().slice(0, memoryTextMax);
      const known =
        (proposed.memoryId === undefined ? null : store.find(proposed.memoryId)) ??
        store.findSame(text, proposed.scope) ??
        (proposed.scope === sharedScope ? null : store.findSame(text, sharedScope));
      if (known !== null) return { memory: this.#repeat(known, proposed, origin), isNew: false };
      const memoryId = proposed.memoryId ?? ids.next('mem');
      const conflicts = this.#conflictsOf(text, proposed.scope);
      const { untrusted, ...from } = origin;
      const rule = ruleFor({ by: origin.by, untrusted, contradictions: conflicts.length, seenIn: origin.sessionId === null ? 0 : 1 });
      const { kind, scope, importance, createdAtMs } = proposed;
      store.append([
        {
          type: 'memory.remembered',
          body: {
            memory: { memoryId, kind, text, scope, importance, origin: from, untrusted: [...untrusted] },
            state: rule === null ? 'candidate' : 'kept',
            rule,
            ...(proposed.pinned === true ? { pinned: true } : {}),
            ...(createdAtMs === undefined ? {} : { createdAtMs }),
          },
        },
        ...conflicts.map(({ otherId, reason }) => ({ type: 'memory.contradicted', body: { memoryId, otherId, reason } }) as const),
      ]);
      if (rule === null) this.#makeRoom();
      return { memory: this.#find(memoryId), isNew: true };
    });
  }

  get(memoryId: string): MemoryView {
    return this.#view(this.#find(memoryId));
  }

  list({ query, limit, offset, ...filter }: MemoryListQuery): { memories: MemoryView[]; counts: MemoryCounts } {
    const { store, clock } = this.#deps;
    const usedSinceMs = filter.archived === true || filter.contradicted === true ? undefined : archivedBefore(clock.nowMs());
    const found =
      query === undefined
        ? store.list({ ...filter, usedSinceMs }, limit, offset)
        : this.#search(query, filter).slice(offset, offset + limit);
    return { memories: found.map((memory) => this.#view(memory)), counts: store.counts() };
  }

  /** The texts of the kept memories that contradict this one. */
  keptAgainst(memoryId: string): string[] {
    const { store } = this.#deps;
    return store.contradictionsOf(memoryId).flatMap((one) => {
      const other = store.find(one.memoryId === memoryId ? one.otherId : one.memoryId);
      return other?.state === 'kept' ? [other.text] : [];
    });
  }

  recall(request: RecallRequest): Promise<MemoryHit[]> {
    return this.#deps.source.recall(request);
  }

  noteUse(used: readonly MemoryView[], place: Omit<UsePlace, 'nowMs'>): void {
    noteUse(this.#deps.store, used, { ...place, nowMs: this.#deps.clock.nowMs() });
  }

  /**
   * Called only for a person. Checks for contradictions again, because the other memory may have been added after this one was proposed.
   */
  promote(memoryId: string, by: string): MemoryView {
    const memory = this.#find(memoryId);
    if (memory.state === 'kept') throw new AppError('conflict', `${memoryId} is kept already.`);
    const { store } = this.#deps;
    store.transact(() => {
      const known = new Set(store.contradictionsOf(memoryId).flatMap((one) => [one.memoryId, one.otherId]));
      const conflicts = this.#conflictsOf(memory.text, memory.scope, memoryId).filter(({ otherId }) => !known.has(otherId));
      store.append([
        { type: 'memory.promoted', body: { memoryId, by, rule: 'a person accepted it' } },
        ...conflicts.map(({ otherId, reason }) => ({ type: 'memory.contradicted', body: { memoryId, otherId, reason } }) as const),
      ]);
    });
    return this.get(memoryId);
  }

  /** Drops a candidate. A kept memory has to be forgotten instead. */
  reject(memoryId: string, by: string): void {
    if (this.#find(memoryId).state === 'kept') {
      throw new AppError('conflict', `${memoryId} is kept already; it is no longer a candidate.`, { hint: 'Forget it instead.' });
    }
    this.#deps.store.append([{ type: 'memory.rejected', body: { memoryId, by } }]);
  }

  pin(memoryId: string, pinned: boolean, by: string): MemoryView {
    if (this.#find(memoryId).state === 'candidate') {
      throw new AppError('conflict', `${memoryId} is a candidate.`, { hint: 'Accept it first.' });
    }
    this.#deps.store.append([{ type: 'memory.pinned', body: { memoryId, pinned, by } }]);
    return this.get(memoryId);
  }

  forget(memoryId: string, by: string, reason = ''): void {
    this.#find(memoryId);
    this.#deps.store.append([{ type: 'memory.forgotten', body: { memoryId, by, reason } }]);
  }

  /** Resolves a contradiction. A candidate that is chosen becomes a kept memory. Fails with not_found if the contradiction is not open. */
  settle(memoryId: string, otherId: string, keep: 'this' | 'other' | 'both', by: string): { kept: string[] } {
    const { store } = this.#deps;
    const open = store.contradictionsOf(memoryId).some((one) => one.memoryId === otherId || one.otherId === otherId);
    if (!open) throw new AppError('not_found', `Nothing is open between ${memoryId} and ${otherId}.`);
    return store.transact(() => {
      store.append([{ type: 'memory.settled', body: { memoryId, otherId, keep, by } }]);
      const kept = keep === 'both' ? [memoryId, otherId] : [keep === 'this' ? memoryId : otherId];
      for (const id of kept) {
        if (store.find(id)?.state === 'candidate') {
          store.append([{ type: 'memory.promoted', body: { memoryId: id, by, rule: 'a person settled it' } }]);
        }
      }
      return { kept };
    });
  }

  export(): { text: string; count: number } {
    const kept: KeptMemory[] = [];
    for (let offset = 0; ; offset += EXPORT_PAGE) {
      const page = this.#deps.store.list({ state: 'kept' }, EXPORT_PAGE, offset);
      kept.push(...page);
      if (page.length < EXPORT_PAGE) break;
    }
    return { text: writeMemoryFile(kept), count: kept.length };
  }

  /** Imports all entries or none. Fails with invalid_params, which names the line. */
  import(text: string, state: MemoryState, by: string): { added: number; known: number } {
    const entries = readMemoryFile(text);
    const { store } = this.#deps;
    const untrusted = state === 'candidate' ? [{ kind: 'file', where: 'an imported file' } as const] : [];
    return store.transact(() => {
      let added = 0;
      for (const { entry, createdAtMs } of entries) {
        const origin = { by: 'import', actor: by, sessionId: null, turnId: null, untrusted: [...untrusted, ...entry.untrusted] } as const;
        const proposed = { ...entry, pinned: entry.pinned && state === 'kept', ...(createdAtMs === null ? {} : { createdAtMs }) };
        const { memory, isNew } = this.propose(proposed, origin);
        if (isNew) added += 1;
        // A memory that derives from others keeps its mark; the person decides by reading it in.
        if (isNew && state === 'kept' && memory.state === 'candidate') this.promote(memory.memoryId, by);
      }
      return { added, known: entries.length - added };
    });
  }

  /** Drops candidates that have waited longer than it takes a memory to fade. Runs once a day. */
  dropStaleCandidates(nowMs: number): number {
    const { store } = this.#deps;
    const before = archivedBefore(nowMs);
    const stale = store.list({ state: 'candidate' }, this.#deps.candidatesMax).filter(({ usedAtMs }) => usedAtMs < before);
    for (const { memoryId } of stale) {
      store.append([{ type: 'memory.forgotten', body: { memoryId, by: 'trayclaw', reason: 'nobody accepted it in time' } }]);
    }
    return stale.length;
  }

  /**
   * A mention by a person promotes a candidate. Any other mention is counted and promotes the candidate only if promotion.ts has a rule for
   * it.
   */
  #repeat(known: KeptMemory, { pinned }: Proposed, { by, actor, sessionId, turnId, untrusted }: ProposedBy): KeptMemory {
    const { store } = this.#deps;
    const { memoryId } = known;
    if (by !== 'person' && sessionId !== null && known.origin.turnId === turnId && known.origin.sessionId === sessionId) return known;
    store.append([{ type: 'memory.repeated', body: { memoryId, sessionId, turnId, by: actor } }]);
    if (known.state === 'candidate') {
      const standing = {
        by,
        // Repetition does not turn untrusted content into a statement of the person.
        untrusted: [...known.untrusted, ...untrusted],
        contradictions: store.contradictionsOf(memoryId).length,
        seenIn: store.seenIn(memoryId),
      };
      const rule = ruleFor(standing);
      if (rule !== null) store.append([{ type: 'memory.promoted', body: { memoryId, by: actor, rule } }]);
    }
    if (pinned === true && !known.pinned && by === 'person')
      store.append([{ type: 'memory.pinned', body: { memoryId, pinned: true, by: actor } }]);
    return this.#find(memoryId);
  }

  /** Checks against memories and other candidates, because a person may accept both of two candidates. */
  #conflictsOf(text: string, scope: string, ownId?: string): readonly { otherId: string; reason: string }[] {
    const { store, resolver } = this.#deps;
    const near = store
      .at(store.texts.findWords(text, NEIGHBOURS * 2).map(({ row }) => row))
      .filter((other) => other.memoryId !== ownId && (scope === sharedScope || other.scope === sharedScope || other.scope === scope));
    return resolver.contradictions(text, near.slice(0, NEIGHBOURS));
  }

  #search(query: string, filter: Pick<MemoryListQuery, 'state' | 'kind' | 'scope' | 'contradicted'>): KeptMemory[] {
    const { store } = this.#deps;
    return store
      .at(store.texts.findWords(query, SEARCHED).map(({ row }) => row))
      .filter(
        ({ state, kind, scope }) =>
          [filter.state ?? state, filter.kind ?? kind, filter.scope ?? scope].join() === [state, kind, scope].join(),
      )
      .filter(({ memoryId }) => filter.contradicted !== true || store.contradictionsOf(memoryId).length > 0);
  }

  #makeRoom(): void {
    const { store, candidatesMax } = this.#deps;
    const surplus = store.counts().candidates - candidatesMax;
    if (surplus <= 0) return;
    for (const { memoryId } of store.list({ state: 'candidate' }, surplus, candidatesMax)) {
      store.append([{ type: 'memory.forgotten', body: { memoryId, by: 'trayclaw', reason: 'there were too many candidates' } }]);
    }
  }

  #view(memory: KeptMemory): MemoryView {
    return viewOf(memory, this.#deps.store, this.#deps.clock.nowMs());
  }

  #find(memoryId: string): KeptMemory {
    const memory = this.#deps.store.find(memoryId);
    if (memory === null) throw new AppError('not_found', `There is no memory ${memoryId}.`);
    return memory;
  }
}
