// The main job through the command line, in two wire formats and against two unrelated model servers; then a log with a single change.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { verifyLog } from '../../core/store/session/session.ts';
import { ScriptedModel, type WireFormat } from '../doubles/scripted-model.ts';
import { TestHome } from './test-home.ts';

const job = 'list this folder and write notes.md about it';
const listCall = { tool: 'list_dir', args: { path: '.' } };
const writeCall = { tool: 'write_file', args: { path: 'notes.md', content: '# Notes\n\nThere is a.txt.\n' } };

interface ModelServer {
  readonly config: ConfigInput;
  check(): void;
  close(): Promise<void>;
}

async function startOwn(format: WireFormat): Promise<ModelServer> {
  const model = await ScriptedModel.start(
    [
      { user: job, results: 0, answer: { text: 'I look first.', calls: [listCall], pieceChars: 5 } },
      { user: job, results: 1, when: (request) => request.toolResults[0]?.text.includes('a.txt') ?? false, answer: { calls: [writeCall] } },
      { user: job, results: 2, answer: { text: 'I wrote notes.md.', chunkBytes: 11 } },
    ],
    { key: 'sk-main-job-key' },
  );
  const check = (): void => expect([model.violations, model.requests.length]).toEqual([[], 3]);
  return { config: model.config(format), check, close: () => model.close() };
}

/** An independent mock server; the number of tool results tells how far the turn is. */
async function startIndependent(format: 'openai' | 'anthropic'): Promise<ModelServer> {
  const mock = new LLMock({ port: 0 });
  const results = (count: number) => ({
    predicate: (request: { messages: { role: string }[] }) => request.messages.filter(({ role }) => role === 'tool').length === count,
  });
  const call = ({ tool, args }: typeof listCall | typeof writeCall) => ({ toolCalls: [{ name: tool, arguments: JSON.stringify(args) }] });
  mock.on(results(0), call(listCall)).on(results(1), call(writeCall)).on(results(2), { content: 'I wrote notes.md.' });
  await mock.start();
  const provider =
    format === 'openai'
      ? ({ kind: 'openai-compatible', baseUrl: `${mock.url}/v1`, apiKey: 'env:MODEL_KEY' } as const)
      : ({ kind: 'anthropic', baseUrl: mock.url, apiKey: 'env:MODEL_KEY' } as const);
  return {
    config: { providers: { lab: provider }, models: { default: 'lab/scripted' } },
    check: () => expect(mock.getRequests().length).toBe(3),
    close: () => mock.stop(),
  };
}

/** The wire format is the same whichever process sends it, so two of the four are enough in separate processes. */
const servers: [where: string, server: string, run: 'cli' | 'command', start: () => Promise<ModelServer>][] = [
  ['in separate processes', 'our server, OpenAI format', 'cli', () => startOwn('openai')],
  ['in one process', 'our server, Anthropic format', 'command', () => startOwn('anthropic')],
  ['in one process', 'the independent server, OpenAI format', 'command', () => startIndependent('openai')],
  ['in separate processes', 'the independent server, Anthropic format', 'cli', () => startIndependent('anthropic')],
];

test.each(servers)('the main job %s: %s', async (_where, _server, run, start) => {
  const server = await start();
  await using home = new TestHome();
  try {
    home.env['MODEL_KEY'] = 'sk-main-job-key';
    home.configure(server.config);
    mkdirSync(home.workspace);
    writeFileSync(join(home.workspace, 'a.txt'), 'a');

    const asked = await home[run](['ask', job]);
    const { sessionId, turnId, pending } = asked.json as {
      sessionId: string;
      turnId: string;
      pending: { approvalId: string; tool: string }[];
    };
    expect({ code: asked.code, tools: pending.map(({ tool }) => tool), written: existsSync(join(home.workspace, 'notes.md')) }).toEqual({
      code: 3,
      tools: ['write_file'],
      written: false,
    });

    const approved = await home[run](['approvals', 'approve', pending[0]?.approvalId ?? '', '--scope', 'once']);
    expect({ code: approved.code, json: approved.json }).toMatchObject({
      code: 0,
      json: { state: 'approved', turn: { turnId, status: 'done', text: 'I wrote notes.md.' } },
    });
    expect(readFileSync(join(home.workspace, 'notes.md'), 'utf8')).toBe(writeCall.args.content);
    server.check();

    const shown = await home[run](['sessions', 'show', sessionId]);
    expect([shown.code, JSON.stringify(shown.json).includes('I wrote notes.md.')]).toEqual([0, true]);
    expect((await home[run](['audit', 'verify'])).json).toMatchObject({ ok: true });
    const claw = await home.open();
    expect((await home.close(claw)).different).toEqual([]);
  } finally {
    await server.close();
  }
});

interface Tamper {
  readonly name: string;
  readonly sql: readonly string[];
}

/** Selects event 7 of the conversation by its position, whatever the ids are. */
const at = (sessionSeq: number): string => `session_id <> 'system' AND session_seq = ${sessionSeq}`;
const tampers: readonly Tamper[] = [
  { name: 'a byte of a body', sql: [`UPDATE events SET body = replace(body, 'notes.md', 'nodes.md') WHERE type = 'user.message'`] },
  { name: 'the type', sql: [`UPDATE events SET type = 'turn.steered' WHERE ${at(7)}`] },
  { name: 'the time', sql: [`UPDATE events SET at_ms = at_ms + 1 WHERE ${at(7)}`] },
  {
    name: 'a byte of the hash',
    sql: [`UPDATE events SET hash = unhex('00' || substr(hex(hash), 3)) WHERE ${at(7)} AND hex(hash) NOT LIKE '00%'`],
  },
  { name: 'the place in the session', sql: [`UPDATE events SET session_seq = 100000 WHERE ${at(7)}`] },
  { name: 'the last event deleted', sql: [`DELETE FROM events WHERE seq = (SELECT max(seq) FROM events WHERE session_id <> 'system')`] },
  { name: 'an event in the middle deleted', sql: [`DELETE FROM events WHERE ${at(7)}`] },
  {
    name: 'two events swapped',
    sql: [
      `UPDATE events SET session_seq = -1 WHERE ${at(7)}`,
      `UPDATE events SET session_seq = 7 WHERE ${at(8)}`,
      `UPDATE events SET session_seq = 8 WHERE session_seq = -1`,
    ],
  },
  { name: 'the turn of an event', sql: [`UPDATE events SET turn_id = 'trn_other' WHERE ${at(7)}`] },
  { name: 'the step of an event', sql: [`UPDATE events SET step = step + 1 WHERE ${at(7)}`] },
  { name: 'the phase of an event', sql: [`UPDATE events SET phase = 'reflect' WHERE ${at(7)}`] },
  { name: 'a whole session', sql: [`DELETE FROM events WHERE session_id <> 'system'`] },
];

let recorded: TestHome;
let copies: string;

beforeAll(async () => {
  recorded = new TestHome();
  copies = mkdtempSync(join(tmpdir(), 'trayclaw-tamper-'));
  const model = await ScriptedModel.start([
    { results: 0, answer: { calls: [listCall] } },
    { results: 1, answer: { text: 'There is nothing.' } },
  ]);
  const claw = await recorded.open({ config: model.config('openai') });
  expect((await claw.ask(job)).status).toBe('done');
  expect((await recorded.close(claw)).different).toEqual([]);
  await model.close();
});

afterAll(async () => {
  await recorded.dispose();
  rmSync(copies, { recursive: true });
});

test.each(tampers)('a log with a single change is detected: $name', async ({ name, sql }) => {
  const file = join(copies, `${name.replaceAll(' ', '-')}.db`);
  copyFileSync(join(recorded.path, 'trayclaw.db'), file);
  const db = new Database(file);
  try {
    expect((await verifyLog(db, () => Promise.resolve())).ok).toBe(true);
    db.pragma('foreign_keys = OFF');
    const changes = sql.map((statement) => db.prepare(statement).run().changes);
    expect(Math.min(...changes)).toBeGreaterThan(0);
    const { ok, firstBad } = await verifyLog(db, () => Promise.resolve());
    expect([ok, typeof firstBad?.seq, (firstBad?.reason.length ?? 0) > 10]).toEqual([false, 'number', true]);
  } finally {
    db.close();
  }
});

test('the command line names the first bad event of a changed log', async () => {
  await using home = new TestHome();
  copyFileSync(join(recorded.path, 'trayclaw.db'), join(home.path, 'trayclaw.db'));
  const db = new Database(join(home.path, 'trayclaw.db'));
  db.prepare(`UPDATE events SET body = replace(body, 'list', 'mist') WHERE type = 'user.message'`).run();
  const seq = (db.prepare(`SELECT seq FROM events WHERE type = 'user.message'`).get() as { seq: number }).seq;
  db.close();
  const { code, json } = await home.cli(['audit', 'verify']);
  expect({ code, json }).toMatchObject({ code: 1, json: { ok: false, firstBad: { seq, reason: 'the event does not match its hash' } } });
});
