import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { silentLogger, type Logger } from '../../base/logger.ts';
import { LineFile, PackLog } from './pack-log.ts';
import { NOON_MS, openUsage, UsageLog } from '../../../tests/rigs/core/features/usage/usage-bench.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'telemetry-'));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const redact = (line: string): string => line;
const row = (seq: number) => ({
  kind: 'context.pack',
  packId: `pak_${seq}`,
  seq,
  sessionId: 's1',
  turnId: null,
  atMs: 1,
  tokens: 2,
  budgetTokens: 3,
});

test('a turn gives one line each for packs, calls and its outcome, and none twice', () => {
  const { db, rows } = openUsage();
  const log = new UsageLog();
  const path = join(newFolder(), 'packs.jsonl');
  const packLog = new PackLog(db, { path, logger: silentLogger, redact });
  const take = (): void => {
    rows.take(log.events);
    rows.settle();
  };
  log.turn('t0');
  log.finish('t0', 1);
  take();
  packLog.begin(log.events.at(-1)?.seq ?? 0);
  log.turn('t1');
  const cuts = { dropped: [{ what: 'old', count: 3, tokens: 9, reason: 'cap' }], truncated: [], fromSessionSeq: 1 };
  log.add('pack.built', { packId: 'pak_r1', tokens: 100, budgetTokens: 1000, sections: [], ...cuts });
  log.add('model.requested', { requestId: 'r0', packId: 'pak_r1', model: 'lab/m' });
  const error = { code: 'model_unavailable' as const, message: 'no' };
  log.add('model.retried', { requestId: 'r0', attempt: 2, waitMs: 1, error });
  log.add('model.failed', { requestId: 'r0', error, partialText: 'half an ans', tookMs: 7 });
  log.atMs += 1000;
  log.call('r1', { costUsd: 0.25 });
  log.finish('t1', null);
  take();
  expect([packLog.catchUp(log.read), packLog.catchUp(log.read)]).toEqual([false, false]);
  new PackLog(db, { path, logger: silentLogger, redact }).catchUp(log.read);

  const place = { sessionId: 's1', turnId: 't1' };
  const tokens = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 2 };
  const none = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  const call = { kind: 'llm.usage', ...place, packId: 'pak_r1', model: 'lab/m' };
  const failed = { ...call, requestId: 'r0', status: 'failed', atMs: NOON_MS, retries: 2, ...none, tookMs: 7, costUsd: null };
  const done = {
    ...call,
    packId: 'pak_r1',
    requestId: 'r1',
    status: 'finished',
    atMs: NOON_MS + 1000,
    retries: 0,
    ...tokens,
    costUsd: 0.25,
  };
  const outcome = { kind: 'turn.outcome', ...place, status: 'done', startedAtMs: NOON_MS, finishedAtMs: NOON_MS + 1000, costUsd: null };
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { kind: 'context.pack', packId: 'pak_r1', ...place, tokens: 100, dropped: 1, truncated: 0, leftOut: cuts.dropped, sections: [] },
    { ...failed, usageReported: false, firstTokenMs: null },
    { ...done, usageReported: true, tookMs: 12.5, firstTokenMs: 3 },
    { ...outcome, modelCalls: 1, toolCalls: 3, ...tokens },
  ]);
});

test('writes one JSON object per line, in a folder that is created when needed', () => {
  const path = join(newFolder(), 'logs', 'telemetry.jsonl');
  const sink = new LineFile({ redact, path, logger: silentLogger });
  sink.write([row(1), row(2)]);
  sink.write([row(3)]);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([row(1), row(2), row(3)]);
});

test('files stay below their size limit, and the oldest is deleted', () => {
  const folder = newFolder();
  const sink = new LineFile({ redact, path: join(folder, 't.jsonl'), logger: silentLogger, fileBytesMax: 300, filesMax: 3 });
  sink.write(Array.from({ length: 5 }, (_, index) => row(index)));
  for (let seq = 5; seq < 20; seq++) sink.write([row(seq)]);
  const names = readdirSync(folder).sort();
  expect(names).toEqual(['t.jsonl', 't.jsonl.1', 't.jsonl.2']);
  expect(names.every((name) => statSync(join(folder, name)).size <= 300)).toBe(true);
  const seqs = ['t.jsonl.2', 't.jsonl.1', 't.jsonl'].flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => Number(/"seq":(\d+)/.exec(line)?.[1])),
  );
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => 20 - seqs.length + index));
});

test('a path that cannot be written is logged once and never throws', () => {
  const file = join(newFolder(), 'file');
  writeFileSync(file, '');
  const said: string[] = [];
  const logger: Logger = { log: (level, message) => said.push(`${level}: ${message}`) };
  const sink = new LineFile({ redact, path: join(file, 'below', 't.jsonl'), logger });
  sink.write([row(1)]);
  sink.write([row(2)]);
  expect(said).toEqual(['warn: Telemetry lines could not be written.']);
});
