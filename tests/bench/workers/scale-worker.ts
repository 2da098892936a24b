// Years of use in one data folder: fills it through the real log and its projections with copies of a real turn, and measures the program
// there. Filling imports the sources, because the bundle does not export the log.

import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInFeatures } from '../../../core/compose-features.ts';
import { composeBase, composeStore } from '../../../core/compose-spine.ts';
import type { IdPrefix } from '../../../core/base/ids.ts';
import { systemClock, type Clock } from '../../../core/base/clock.ts';
import { Lifetimes } from '../../../core/base/disposable.ts';
import type { AnyDraft, AnyEvent } from '../../../core/contracts/events.ts';
import { loadConfig } from '../../../core/store/config/config.ts';
import { loadLibrary } from '../subjects/trayclaw.ts';
import { createWordSource, type WordSource } from './words.ts';
import { serveJob } from './worker.ts';

export type ScaleJob = FillJob | SettleJob | LookJob;

interface Place {
  readonly home: string;
  readonly libraryFile: string;
  readonly baseUrl: string;
}

export interface FillJob extends Place {
  readonly what: 'fill';
  /** The total number of sessions, including those of an earlier fill. */
  readonly sessions: number;
  readonly turnsEach: number;
}

/** One run of the program that catches up on counts, indexes the documents and imports the memories. */
export interface SettleJob extends Place {
  readonly what: 'settle';
  /** The total number, including those of an earlier run. */
  readonly memories: number;
  readonly passages: number;
}

export interface LookJob extends Place {
  readonly what: 'look';
}

export interface ScaleFigures {
  readonly events: number;
  readonly sessions: number;
  readonly diskBytes: number;
  /** Resident memory, after the start and after everything else. */
  readonly rssBytes: readonly [started: number, used: number];
  /** Milliseconds of processor time, by activity. */
  readonly tookMs: Readonly<Record<string, number>>;
}

const YEARS_MS = 3 * 365 * 86_400_000;
const TIMES = 15;
const PAGE = 50;
const PASSAGES_A_FILE = 100;
/** About nine hundred characters. */
const WORDS_OF_A_PASSAGE = 120;
const asked = 'a question of the template';

const steps = { fill, settle, look };
await serveJob<ScaleJob, ScaleFigures | null>((job) => steps[job.what](job as never));

function configOf({ home, baseUrl }: Place) {
  return {
    knowledge: { sources: { papers: { kind: 'directory' as const, path: documentsOf(home), watch: false } } },
    providers: { bench: { kind: 'openai-compatible' as const, baseUrl, contextTokens: 2_000_000 } },
    models: { default: 'bench/bench' },
  };
}

async function fill(job: FillJob): Promise<null> {
  const template = await templateOf(job);
  const words = createWordSource(1);
  const lifetimes = new Lifetimes();
  const { log, storage, ids, tick } = await openStore(job, lifetimes);
  storage.db.pragma('synchronous = OFF');
  try {
    const { n: done } = storage.db.prepare('SELECT count(*) AS n FROM sessions').get() as { n: number };
    for (let session = done; session < job.sessions; session++) {
      tick(session / job.sessions);
      const sessionId = ids.next('ses');
      log.transact(() => {
        const body = { title: words.text(4), agentId: 'main', channel: 'library', forkedFrom: null };
        log.append(sessionId, [{ type: 'session.created', body }]);
        for (let turn = 0; turn < job.turnsEach; turn++)
          log.append(
            sessionId,
            turnLike(template, words, (prefix) => ids.next(prefix)),
          );
      });
    }
  } finally {
    await lifetimes.dispose();
  }
  return null;
}

/** The store as the program opens it, with a clock that the caller moves through the years. */
async function openStore({ home, ...job }: FillJob, lifetimes: Lifetimes) {
  let nowMs = systemClock.nowMs() - YEARS_MS;
  const clock: Clock = { nowMs: () => Math.floor(nowMs), monotonicMs: () => systemClock.monotonicMs() };
  const base = composeBase({ home, clock }, await loadConfig(home, configOf({ home, ...job })), lifetimes);
  const { log, storage, ids } = await composeStore(base, builtInFeatures.all);
  const tick = (share: number): void => {
    nowMs = Math.max(nowMs, systemClock.nowMs() - YEARS_MS * (1 - share));
  };
  return { log, storage, ids, tick };
}

/** The events of one turn with a tool call. */
async function templateOf(job: Place): Promise<AnyEvent[]> {
  const { createTrayClaw } = await loadLibrary(job.libraryFile);
  const claw = await createTrayClaw({ home: job.home, config: configOf(job) });
  try {
    const { sessionId, turnId } = await claw.ask(asked);
    const { events } = await claw.op('session.get', { sessionId, limit: 100 });
    return (events as AnyEvent[]).filter((event) => event.turnId === turnId);
  } finally {
    await claw.close();
  }
}

/** A copy of the turn with new ids and different text. */
function turnLike(template: readonly AnyEvent[], words: WordSource, nextId: (prefix: IdPrefix) => string): AnyDraft[] {
  const ids = new Map<string, string>();
  const text = JSON.stringify(template.map(({ type, turnId, step, phase, body }) => ({ type, turnId, step, phase, body })))
    .replaceAll(/\b([a-z]+)_[0-9A-Z]{26}\b/g, (id, prefix: IdPrefix) => {
      const known = ids.get(id) ?? nextId(prefix);
      ids.set(id, known);
      return known;
    })
    .replaceAll(asked, words.text(20))
    .replaceAll(/word0 word1[\w ]*/g, words.text(60));
  return JSON.parse(text) as AnyDraft[];
}

function documentsOf(home: string): string {
  return `${home}-documents`;
}

/** Writes files with one paragraph per passage. */
function writeDocuments({ home, passages }: SettleJob): void {
  const folder = documentsOf(home);
  mkdirSync(folder, { recursive: true });
  for (let file = readdirSync(folder).length; file < passages / PASSAGES_A_FILE; file++) {
    const words = createWordSource(file);
    const paragraphs = Array.from({ length: PASSAGES_A_FILE }, () => words.text(WORDS_OF_A_PASSAGE));
    writeFileSync(join(folder, `${file}.txt`), paragraphs.join('\n\n'));
  }
}

/** Memories in export format. Those of an earlier run come first and are already known. */
function memoriesLike(count: number): string {
  const words = createWordSource(2);
  return Array.from({ length: count }, () => JSON.stringify({ kind: 'fact', text: `The ${words.text(8)}.`, scope: 'shared' })).join('\n');
}

async function settle(job: SettleJob): Promise<null> {
  writeDocuments(job);
  const { createTrayClaw } = await loadLibrary(job.libraryFile);
  const claw = await createTrayClaw({ home: job.home, config: configOf(job) });
  await claw.op('knowledge.reindex', {});
  await claw.op('memory.import', { text: memoriesLike(job.memories), state: 'kept' });
  await claw.op('usage.get', { by: 'session', days: 366 });
  await claw.ask('hello');
  await claw.close();
  return null;
}

async function look(job: LookJob): Promise<ScaleFigures> {
  const tookMs: Record<string, number> = {};
  const time = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const before = process.cpuUsage();
    const done = await work();
    const { user, system } = process.cpuUsage(before);
    tookMs[name] = Math.min(tookMs[name] ?? Infinity, (user + system) / 1000);
    return done;
  };
  const { createTrayClaw } = await loadLibrary(job.libraryFile);
  const claw = await time('start', () => createTrayClaw({ home: job.home, config: configOf(job) }));
  try {
    const started = process.memoryUsage.rss();
    const { sessions } = await time('first page of the sessions', () => claw.op('session.list', { limit: PAGE }));
    const sessionId = sessions.at(-1)?.sessionId ?? '';
    for (let n = 0; n < TIMES; n++) {
      await time('first page of the sessions', () => claw.op('session.list', { limit: PAGE }));
      await time('search, a frequent word', () => claw.op('session.search', { query: 'word5', limit: PAGE }));
      await time('search, two rare words', () => claw.op('session.search', { query: 'worda1b wordb2c', limit: PAGE }));
      await time('opening a session', () => claw.op('session.get', { sessionId, limit: PAGE }));
      await time('a turn in a new session', () => claw.ask('hello'));
      await time('a turn in an old session', () => claw.ask('hello', { sessionId }));
      await time('recall, two words of many memories', () => claw.op('memory.recall', { query: 'word5 worda1b' }));
      await time('search of the documents, two words', () => claw.op('knowledge.search', { query: 'word5 worda1b' }));
      await time('usage of 30 days', () => claw.op('usage.get', { by: 'day', days: 30 }));
    }
    await time('verification of the log', () => claw.op('audit.verify', {}));
    await time('backup', () => claw.op('backup.create', {}));
    const { events } = await claw.op('audit.verify', {});
    const { length } = (await claw.op('session.list', { limit: 1 })).sessions;
    return { events, sessions: length, diskBytes: sizeOf(job.home), rssBytes: [started, process.memoryUsage.rss()], tookMs };
  } finally {
    await claw.close();
  }
}

/** The size of the database. */
function sizeOf(home: string): number {
  const files = readdirSync(home).filter((name) => name.startsWith('trayclaw.db'));
  return files.reduce((sum, name) => sum + statSync(join(home, name)).size, 0);
}
