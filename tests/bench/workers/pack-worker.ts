// Measures the cost of building a long session's context packs, and of full-text search in a long log.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyDraft, AnyEvent, EventBodies } from '../../../core/contracts/events.ts';
import { noUsage, type ModelInfo } from '../../../core/contracts/llm.ts';
import { planCut, Summarizer } from '../../../core/mind/compress/compress.ts';
import { ContextPacker } from '../../../core/mind/context/context.ts';
import { estimateTokens } from '../../../core/mind/llm/llm.ts';
import { loadTranscript } from '../../../core/runtime/turns/turns.ts';
import type { SessionLog } from '../../../core/store/session/session.ts';
import { summarize, type Summary } from '../statistics.ts';
import { openLog, type OpenLog } from './open-log.ts';
import { serveJob } from './worker.ts';
import { createWordSource } from './words.ts';

export interface PackJob {
  readonly messages: number;
  readonly repetitions: number;
  /** Log sizes at which the search is measured, ascending. */
  readonly documents: readonly number[];
  readonly queries: number;
  /** Lengths of a session, in events, at which the next pack is measured. */
  readonly sessionEvents: readonly number[];
  /** Lengths of a conversation, in turns, at which its history is counted. */
  readonly turns: readonly number[];
}

export interface SearchFigures {
  readonly documents: number;
  readonly byWords: Readonly<Record<string, Summary>>;
  readonly hits: number;
}

/** Milliseconds. */
export interface PackFigures {
  /** A further pack of an active session, after two more messages. */
  readonly hot: Summary;
  /** The first pack after a start, when the transcript is read from the log. */
  readonly cold: Summary;
  readonly tokens: number;
  readonly search: readonly SearchFigures[];
  readonly growth: readonly { readonly events: number; readonly pack: Summary }[];
  readonly history: readonly HistoryFigures[];
}

/** Tokens of the conversation in a request: uncompacted, and with everything before the last exchanges summarised. */
export interface HistoryFigures {
  readonly turns: number;
  readonly whole: number;
  readonly ours: number;
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
  const { log, storage, continuity } = openLog(join(folder, 'home'));
  try {
    const packs = measurePacks({ log, continuity }, job);
    const search = job.documents.map((documents) => measureSearch(log, documents, job.queries));
    const growth = job.sessionEvents.map((events) => measureGrowth({ log, continuity }, events, Math.max(200, job.repetitions * 10)));
    return measureHistory(job.turns).then((history) => ({ ...packs, search, growth, history }));
  } finally {
    storage.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Grows a session to the given length with a summary every ten turns, as compaction does; then times a pack after each further turn. */
function measureGrowth(
  { log, continuity }: Pick<OpenLog, 'log' | 'continuity'>,
  events: number,
  repetitions: number,
): { events: number; pack: Summary } {
  const words = createWordSource(events);
  const session = `ses_grown_${events}`;
  const packer = new ContextPacker({ estimate: estimateTokens, system: () => 'You are a helpful assistant.' });
  let turn = 0;
  const grow = (): readonly AnyEvent[] => log.append(session, turnDrafts((turn += 1), words.text(WORDS_PER_MESSAGE)));
  const sumUp = (toSessionSeq: number): readonly AnyEvent[] =>
    log.append(session, [{ type: 'summary.written', body: summaryOf(`sum_${turn}`, words.text(200), toSessionSeq) }]);
  for (let seq = 0; seq < events;) {
    seq = grow().at(-1)?.sessionSeq ?? events;
    if (turn % 10 === 0) sumUp(Math.max(1, seq - 8));
  }
  const small = { ...model, contextTokens: 32_768 };
  const transcript = loadTranscript({ log, packer, continuity }, session);
  const samples: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const drafts = [...grow()];
    if (turn % 10 === 0) drafts.push(...sumUp((drafts.at(-1)?.sessionSeq ?? 8) - 8));
    const startedMs = performance.now();
    for (const event of drafts) transcript.apply(event);
    packer.build({ packId: `trn-p${i}`, transcript, model: small, tools: [], smaller: false, rules: ['Be brief.'] });
    samples.push(performance.now() - startedMs);
  }
  return { events, pack: summarize(samples) };
}

/** Summarises by rule, as the program does without a model. */
async function measureHistory(turns: readonly number[]): Promise<HistoryFigures[]> {
  const summarizer = new Summarizer({ count: estimateTokens, ask: () => Promise.resolve({ refused: 'none here' }) });
  const packer = new ContextPacker({ estimate: estimateTokens, system: () => '' });
  const figures: HistoryFigures[] = [];
  for (const count of turns) {
    const words = createWordSource(count);
    const [whole, ours] = [packer.createTranscript(), packer.createTranscript()];
    let sessionSeq = 0;
    for (let turn = 1; turn <= count; turn++) {
      for (const draft of turnDrafts(turn, words.text(WORDS_PER_MESSAGE))) {
        sessionSeq += 1;
        for (const one of [whole, ours]) one.apply({ ...draft, turnId: draft.turnId ?? null, sessionSeq });
      }
      if (ours.unsummed.messages <= 20) continue;
      const head = ours.summary === null ? 0 : 1;
      const cut = planCut(ours.boundaries, ours.count, 4) ?? head;
      const job = { messages: ours.messages.slice(head, cut), boundaries: [], previous: ours.summary?.text ?? null, contextTokens: 32_768 };
      const { text } = await summarizer.write(job, new AbortController().signal);
      const toSessionSeq = ours.at(cut).sessionSeq - 1;
      ours.apply({ type: 'summary.written', turnId: null, sessionSeq, body: summaryOf(`sum_${turn}`, text, toSessionSeq) });
    }
    figures.push({ turns: count, whole: whole.totalTokens, ours: ours.totalTokens });
  }
  return figures;
}

function summaryOf(summaryId: string, text: string, toSessionSeq: number): EventBodies['summary.written'] {
  return {
    summaryId,
    text,
    covers: { fromSessionSeq: 1, toSessionSeq },
    replaces: null,
    reason: 'messages',
    method: 'extract',
    model: null,
    source: { messages: 16, turns: 8, results: 0, tokens: 0, shortened: 0 },
    tokens: 0,
    keptMessages: 4,
    quality: { ok: true, checked: 0, missing: [], repaired: false },
    modelCalls: 0,
    usage: noUsage,
    costUsd: 0,
    tookMs: 0,
  };
}

function measurePacks(
  { log, continuity }: Pick<OpenLog, 'log' | 'continuity'>,
  job: PackJob,
): Pick<PackFigures, 'hot' | 'cold' | 'tokens'> {
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
    transcript = loadTranscript({ log, packer, continuity }, SESSION);
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
