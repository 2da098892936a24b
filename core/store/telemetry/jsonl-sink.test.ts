import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { silentLogger, type Logger } from '../../base/logger.ts';
import { JsonlSink, type TelemetryRow } from './telemetry.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'telemetry-'));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const row = (seq: number): TelemetryRow => ({
  kind: 'context.pack',
  packId: `pak_${seq}`,
  seq,
  sessionId: 's1',
  turnId: null,
  atMs: 1,
  tokens: 2,
  budgetTokens: 3,
  dropped: 0,
  truncated: 0,
});

test('rows are one JSON object a line, in a folder made when needed', () => {
  const path = join(newFolder(), 'logs', 'telemetry.jsonl');
  const sink = new JsonlSink({ path, logger: silentLogger });
  sink.write([row(1), row(2)]);
  sink.write([row(3)]);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([row(1), row(2), row(3)]);
});

test('files stay under their size, the newest are kept, the oldest falls off', () => {
  const folder = newFolder();
  const sink = new JsonlSink({ path: join(folder, 't.jsonl'), logger: silentLogger, fileBytesMax: 300, filesMax: 3 });
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

test('a place that cannot be written is told once and never thrown', () => {
  const file = join(newFolder(), 'file');
  writeFileSync(file, '');
  const said: string[] = [];
  const logger: Logger = { log: (level, message) => said.push(`${level}: ${message}`) };
  const sink = new JsonlSink({ path: join(file, 'below', 't.jsonl'), logger });
  sink.write([row(1)]);
  sink.write([row(2)]);
  expect(said).toEqual(['warn: Telemetry lines could not be written.']);
});
