// Taint tracking: marks the untrusted content that a call read, and reports for a later call whether its deciding arguments may come from
// it. Makes no decisions: the gate decides what follows.

import type { EventBodies } from '../../contracts/events.ts';
import { noTaint, type CallFacts, type CallTaint, type CommandFact, type TaintSource } from '../../contracts/tools.ts';
import { sep } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { isInside } from '../../base/inside-folder.ts';
import { changedSince } from './changed-files.ts';
import { contentValues, decidingValues, type DecidingValue, type ValueContext } from './deciding-values.ts';
import type { Copies, FindCopies } from './late-copies.ts';
import { missingPieces } from './missing-pieces.ts';
import {
  distinct,
  isWithin,
  markedBelow,
  markedFilesRead,
  readsHistory,
  saysGit,
  shownSources,
  wholeFileTools,
  type SeenFacts,
} from './result-sources.ts';
import { SessionWords, type LogSlices } from './session-words.ts';
import { taintKey, type SessionTaint, type TaintStore } from './taint-store.ts';
import { foldText } from './text-words.ts';

export { filesOnDisk } from './files-on-disk.ts';
export { LateCopies, type Copies, type FindCopies } from './late-copies.ts';
export { TaintStore, taintMigrations } from './taint-store.ts';

export interface TaintBookDeps {
  readonly store: TaintStore;
  readonly reads: LogSlices;
  /** The workspace and additional opened folders, real paths. */
  readonly folders: readonly string[];
  readonly files: TaintFiles;
}

export interface TaintFiles {
  exists(path: string): boolean;
  isExecutable(path: string): boolean;
  isFolder(path: string): boolean;
  isTracked(path: string): boolean;
  /** Returns whether a script that the command names or is made of uses git. */
  runsGit(command: CommandFact): boolean;
}

export interface JudgedCall {
  readonly sessionId: string;
  readonly callId?: string;
  readonly tool: string;
  readonly argsJson: string;
  readonly argsHash: string;
  readonly facts: CallFacts;
}

/** Further data a call has read, beyond its facts. */
export interface Heard {
  /** Sources that the tool reported. */
  readonly untrusted: readonly TaintSource[];
  /** Other sessions that the result shows parts of. */
  readonly sessions: readonly string[];
  readonly resultText: string;
  readonly ok: boolean;
  /** The origin of what the call fetched, and may have written into the copies. */
  readonly fetched?: TaintSource;
  /** Files changed by a command that could read marked files, or fetched. */
  readonly copies?: Copies;
}

const SOURCES_MAX = 200;
/** The maximum number of marked files checked before a command. */
const MARKED_MAX = 200;
/** Represents all sources beyond the limit. */
const anywhere: TaintSource = { kind: 'web', where: '*' };
const SESSIONS_READ_MAX = 8;

export class TaintBook {
  readonly #deps: TaintBookDeps;
  readonly #values: ValueContext;
  /** Tainted sessions in use. The least recently used session is evicted. */
  readonly #words = new Map<string, SessionWords>();

  constructor(deps: TaintBookDeps) {
    this.#deps = deps;
    this.#values = { folders: deps.folders, files: deps.files };
  }

  /** Returns whether the session contains untrusted content. Its events must be in the log before `of` is called. */
  isTainted(sessionId: string): boolean {
    return this.#deps.store.session(sessionId) !== null;
  }

  /** Costs one map lookup for a session without untrusted content. */
  of(call: JudgedCall): CallTaint {
    const taint = this.#deps.store.session(call.sessionId);
    if (taint === null) return noTaint;
    return { session: taint.sources, derived: this.#deriveCall(call, taint), sensitive: taint.sensitive };
  }

  /**
   * Called before a command runs. Returns a function that afterwards finds files into which the command may have copied untrusted content:
   * any if it `fetched`, none if no file is marked. Returns null for a command that only reads. Uses the system clock, because file times
   * do.
   */
  watch(given: CallFacts, sinceMs = systemClock.nowMs()): FindCopies | null {
    const { store, files } = this.#deps;
    const { command, class: kind, workspace } = given;
    if (command === null || kind === 'read') return null;
    const facts = this.#seen(given);
    const opened = [...new Set([...(workspace === undefined ? [] : [workspace]), ...this.#deps.folders])];
    const folders = opened.filter((folder) => !opened.some((other) => other !== folder && isInside(folder, other)));
    const markedNow = (): string[] =>
      (store.hasFiles ? folders.flatMap((folder) => store.filesBelow(folder, '', MARKED_MAX)) : []).filter(
        (path) => isWithin(path, facts) && this.#isThere(path, facts),
      );
    const marked = markedNow();
    const present = marked.filter((path) => files.exists(path));
    return async (fetched) => {
      // A file may become marked only while the command runs.
      if (!fetched && marked.length === 0 && markedNow().length === 0) return { paths: [], folders };
      const moved = present.some((path) => !files.exists(path));
      return { paths: await changedSince({ folders, sinceMs, moved }), folders };
    };
  }

  /** Returns the new taint that a finished call read or wrote, or null if there is none. */
  marksOf(given: JudgedCall, heard: Heard): EventBodies['taint.marked'] | null {
    const { store } = this.#deps;
    const call = { ...given, facts: this.#seen(given.facts) };
    const taint = store.session(call.sessionId);
    const shown = shownSources(call.facts);
    const copies = heard.copies?.paths ?? [];
    const told = [
      ...heard.untrusted,
      ...heard.sessions.filter((sessionId) => sessionId !== call.sessionId).flatMap((sessionId) => store.session(sessionId)?.sources ?? []),
      ...markedFilesRead({ ...call, resultText: heard.resultText }, store, (path) => this.#isThere(path, call.facts)),
      ...(copies.length === 0 ? [] : markedBelow(heard.copies?.folders ?? [], call, store)),
      ...(copies.length === 0 || heard.fetched === undefined ? [] : [heard.fetched]),
    ];
    const { paths: written, cleaned } = this.#writtenFiles(call, heard, shown.length + told.length > 0);
    const paths = [...new Set([...written, ...copies.filter((path) => store.writerOf(path) !== call.sessionId)])];
    const isNew = (source: TaintSource): boolean => taint?.keys.has(taintKey(source)) !== true;
    const shownKeys = new Set(shown.map(taintKey));
    // Sources that the facts do not show are recorded each time. Otherwise the source of the text could not be determined later.
    const sources = withinLimit(
      distinct([...shown, ...told]).filter((source) => isNew(source) || !shownKeys.has(taintKey(source))),
      taint,
    );
    if (sources.length + paths.length + cleaned.length === 0) return null;
    return { callId: call.callId ?? null, sources, paths, ...(cleaned.length > 0 ? { cleaned } : {}) };
  }

  #seen(facts: CallFacts): SeenFacts {
    const { store, files } = this.#deps;
    if (facts.command === null || !store.hasFiles || saysGit(facts)) return facts;
    return { ...facts, runsGit: files.runsGit(facts.command) };
  }

  /** Returns whether the call can find the file: git may still have one that is gone. */
  #isThere(path: string, facts: SeenFacts): boolean {
    return this.#deps.files.exists(path) || (readsHistory(facts) && this.#deps.files.isTracked(path));
  }

  #deriveCall(call: JudgedCall, taint: SessionTaint): readonly TaintSource[] {
    const values = decidingValues(call, this.#values);
    if (values.length === 0) return [];
    const words = this.#wordsOf(call.sessionId, taint);
    if (words.isEarlierCall(call) || followsOwnLink(call.facts, values, words)) return [];
    return derive(values, words, taint);
  }

  /** Returns the files that contain untrusted content from now on, and the files that no longer do. */
  #writtenFiles(call: JudgedCall, { ok, copies }: Heard, broughtIn: boolean): { paths: string[]; cleaned: string[] } {
    const { store, files } = this.#deps;
    const named = call.facts.paths.filter((path) => path.access === 'write').map((path) => path.real);
    // A folder counts as a whole, unless the files that changed in it are known.
    const placeOf = (path: string): string[] => (files.isFolder(path) ? (copies === undefined ? [path + sep] : []) : [path]);
    const written = named.flatMap(placeOf);
    if (written.length === 0) return { paths: [], cleaned: [] };
    if (broughtIn || this.#writesForeign(call)) {
      return { paths: written.filter((path) => store.writerOf(path) !== call.sessionId), cleaned: [] };
    }
    const isWhole = ok && wholeFileTools.has(call.tool);
    return { paths: [], cleaned: isWhole ? written.filter((path) => store.writerOf(path) !== null) : [] };
  }

  #writesForeign(call: JudgedCall): boolean {
    const taint = this.#deps.store.session(call.sessionId);
    if (taint === null) return false;
    const values = call.facts.command === null ? contentValues(call) : decidingValues(call, this.#values);
    const words = this.#wordsOf(call.sessionId, taint);
    return !words.isEarlierCall(call) && derive(values, words, taint).length > 0;
  }

  #wordsOf(sessionId: string, taint: SessionTaint): SessionWords {
    const kept = this.#words.get(sessionId);
    const words = kept?.firstSeq === taint.firstSeq ? kept : new SessionWords(this.#deps.reads, sessionId, taint);
    this.#words.delete(sessionId);
    this.#words.set(sessionId, words);
    if (this.#words.size > SESSIONS_READ_MAX) {
      const oldest = this.#words.keys().next();
      if (oldest.done !== true) this.#words.delete(oldest.value);
    }
    words.catchUp();
    return words;
  }
}

/** Returns whether the call only fetches a link that the same host showed, with no other values. Such a call tells the host nothing new. */
function followsOwnLink({ request }: CallFacts, values: readonly DecidingValue[], words: SessionWords): boolean {
  const given = values[0]?.value;
  if (request?.reads !== true || values.length !== 1 || given === undefined) return false;
  const url = URL.parse(given);
  if (url === null || url.href !== URL.parse(request.url)?.href) return false;
  return [url.host, url.hostname].some((where) => words.wasShownBy({ kind: 'web', where }, foldText(given)));
}

/**
 * A piece that no trusted source said comes from every source that contains it. If none contains it verbatim, it may come from any source.
 */
function derive(values: readonly DecidingValue[], words: SessionWords, taint: SessionTaint): readonly TaintSource[] {
  const found = new Map<string, TaintSource>();
  for (const { value, kind, vouched } of values) {
    const both = {
      word: (word: string) => words.person.word(word) || words.workspace.word(word),
      verbatim: (text: string) => words.person.verbatim(text) || words.workspace.verbatim(text),
    };
    const spoken = { word: (word: string) => words.person.word(word), verbatim: (text: string) => both.verbatim(text) };
    const said = vouched === 'workspace' ? both : kind === 'command' ? spoken : words.person;
    for (const piece of missingPieces(value, kind, said)) {
      const sources = words.sourcesOf(piece);
      if (sources === null) return taint.sources;
      for (const source of sources) found.set(taintKey(source), source);
    }
  }
  if (found.size === 0) return [];
  return distinct([...found.values(), ...words.unseen(taint.sources)]);
}

function withinLimit(sources: readonly TaintSource[], taint: SessionTaint | null): TaintSource[] {
  const room = SOURCES_MAX - (taint?.keys.size ?? 0);
  const fresh = sources.filter((source) => taint?.keys.has(taintKey(source)) !== true);
  if (fresh.length < room) return [...sources];
  const known = sources.filter((source) => !fresh.includes(source));
  const kept = fresh.slice(0, Math.max(0, room - 1));
  return taint?.keys.has(taintKey(anywhere)) === true ? [...known, ...kept] : [...known, ...kept, anywhere];
}
