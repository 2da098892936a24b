// Measures what a long session costs to show to a model, and how quickly words are found in a long log.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyDraft } from '../../../core/contracts/events.ts';
import { noUsage, type ModelInfo } from '../../../core/contracts/llm.ts';
import { ContextPacker } from '../../../core/mind/context/context.ts';
import { estimateTokens } from '../../../core/mind/llm/llm.ts';
import { loadTranscript } from '../../../core/runtime/turns/turns.ts';
import type { SessionLog } from '../../../core/store/session/session.ts';
import { summarize, type Summary } from '../statistics.ts';
import { openLog } from './open-log.ts';
import { serveJob } from './worker.ts';
import { createWordSource } from './words.ts';

export interface PackJob {
  readonly messages: number;
  readonly repetitions: number;
  /** Sizes of the log at which is searched, ascending. */
  readonly documents: readonly number[];
  readonly queries: number;
}

export interface SearchFigures {
  readonly documents: number;
  readonly byWords: Readonly<Record<string, Summary>>;
  readonly hits: number;
}

/** Milliseconds. */
export interface PackFigures {
  /** A further pack of a session in use, after two more messages. */
  readonly hot: Summary;
  /** The first after a start: the transcript is read from the log. */
  readonly cold: Summary;
  readonly tokens: number;
  readonly search: readonly SearchFigures[];
}

const model: ModelInfo = {
  ref: 'bench/bench',
  contextTokens: 2_000_000,
  inputUsdPerMillion: null,
  cachedInputUsdPerMillion: null,
  outputUsdPerMillion: null,
};
const SESSION = 'ses_bench';
const WORDS_PER_MESSAGE = 40;
const BATCH = 500;
const HITS_MAX = 20;

await serveJob(measure);

function measure(job: PackJob): Promise<PackFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const { log, storage } = openLog(join(folder, 'home'));
  try {
    const packs = measurePacks(log, job);
    const search = job.documents.map((documents) => measureSearch(log, documents, job.queries));
    return Promise.resolve({ ...packs, search });
  } finally {
    storage.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

function measurePacks(log: SessionLog, job: PackJob): Omit<PackFigures, 'search'> {
  const words = createWordSource(1);
  for (let message = 0; message < job.messages; message += 2) log.append(SESSION, turnDrafts(message / 2, words.text(WORDS_PER_MESSAGE)));
  const packer = new ContextPacker({ estimate: estimateTokens, system: () => 'You are a helpful assistant.' });
  const cold: number[] = [];
  let transcript = packer.createTranscript();
  let tokens = 0;
  const build = (number: number): void => {
    tokens = packer.build({ packId: `trn-p${number}`, transcript, model, tools: [], smaller: false }).event.tokens;
  };
  for (let i = 0; i < job.repetitions; i++) {
    const startedMs = performance.now();
    transcript = loadTranscript(log, packer, SESSION);
    build(i);
    cold.push(performance.now() - startedMs);
  }
  const tokensOfAll = tokens;
  const hot: number[] = [];
  for (let i = 0; i < job.repetitions; i++) {
    const events = log.append(SESSION, turnDrafts(job.messages + i, words.text(WORDS_PER_MESSAGE)));
    const startedMs = performance.now();
    for (const event of events) transcript.apply(event);
    build(i);
    hot.push(performance.now() - startedMs);
  }
  return { hot: summarize(hot), cold: summarize(cold), tokens: tokensOfAll };
}

function turnDrafts(number: number, text: string): AnyDraft[] {
  const turnId = `trn_${number}`;
  const limits = { steps: 50, turnMs: 3_600_000, sameCall: 3, parallelReads: 8 };
  const reply = { reasoning: '', calls: [], usage: noUsage, usageReported: true, costUsd: 0, finishReason: 'stop' as const };
  return [
    { type: 'user.message', turnId, body: { text, channel: 'library', sender: 'bench', dedupeKey: null } },
    { type: 'turn.started', turnId, body: { kind: 'chat', agentId: 'main', model: model.ref, limits, calls: [] } },
    { type: 'model.finished', turnId, body: { requestId: `req_${number}`, text, ...reply, tookMs: 1, firstTokenMs: 1 } },
    {
      type: 'turn.finished',
      turnId,
      body: { status: 'done', text, error: null, usage: noUsage, costUsd: 0, modelCalls: 1, toolCalls: 0 },
    },
  ];
}

function measureSearch(log: SessionLog, documents: number, queries: number): SearchFigures {
  const words = createWordSource(documents);
  while (log.lastSeq < documents) {
    const drafts = Array.from({ length: BATCH }, (): AnyDraft => ({
      type: 'assistant.message',
      body: { text: words.text(WORDS_PER_MESSAGE) },
    }));
    log.append(`ses_${log.lastSeq}`, drafts);
  }
  while (log.search.catchUp());
  let hits = 0;
  const time = (query: () => string): Summary => {
    const samples: number[] = [];
    for (let i = 0; i < queries; i++) {
      const wanted = query();
      const startedMs = performance.now();
      hits += log.search.find(wanted, HITS_MAX).length;
      samples.push(performance.now() - startedMs);
    }
    return summarize(samples);
  };
  const byWords = {
    'a rare word': time(() => words.word(0.95)),
    'a common word': time(() => words.word(0.3)),
    'three words': time(() => `${words.word(0.5)} ${words.word(0.6)} ${words.word(0.7)}`),
  };
  return { documents, byWords, hits };
}
