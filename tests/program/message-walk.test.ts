// Counts the work for one message: its text is searched for secrets once, a call is parsed and validated once, an event is serialised once,
// and a turn sends exactly the database statements listed here. Unused features add none.

import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock, type Clock } from '../../core/base/clock.ts';
import { Redactor } from '../../core/guard/safety/safety.ts';
import { defineFeature, defineTool, type TrayClaw } from '../../core/index.ts';
import { ExportQueue } from '../../core/features/telemetry/telemetry.ts';
import { SessionLog } from '../../core/store/session/session.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const text = 'Please weigh the apples of the orchard';
const what = 'the apples of basket forty-two';

/** Time stands still, so that idle-time work, which a slow machine may start within a turn, is not counted. */
const neverQuiet: Clock = { nowMs: () => systemClock.nowMs(), monotonicMs: () => 0 };

let home: TestHome;
let model: ScriptedModel;
let claw: TrayClaw;
let counted: Counted | null = null;
let sessionId: string | null = null;
const restores: (() => void)[] = [];

interface Counted {
  readonly searched: string[];
  readonly parsed: string[];
  readonly serialised: string[];
  readonly statements: Record<string, number>;
  checks: number;
  sent: number;
}

/** Replaces a method so that it also reports its arguments and its result. */
function watch<T extends object>(
  owner: T,
  name: keyof T & string,
  tell: (self: unknown, args: readonly unknown[], answer: unknown) => void,
): void {
  const was = owner[name] as (...args: unknown[]) => unknown;
  const watched = function (this: unknown, ...args: unknown[]): unknown {
    const answer = was.apply(this, args);
    tell(this, args, answer);
    return answer;
  };
  Object.defineProperty(owner, name, { value: watched, configurable: true, writable: true });
  restores.push(() => Object.defineProperty(owner, name, { value: was, configurable: true, writable: true }));
}

/** Names a statement by verb and table: `SELECT sessions`. */
function nameOf(sql: string): string {
  const [verb = ''] = sql.trim().split(/\s/);
  const table = /\b(?:FROM|INTO|UPDATE)\s+(\w+)/i.exec(sql.replaceAll(/\(SELECT [^()]*\) (?=AS)/g, ''))?.[1];
  return table === undefined ? verb : `${verb} ${table}`;
}

const weigher = defineFeature({
  name: 'weigher',
  create: () => ({
    tools: [
      defineTool({
        name: 'weigh',
        description: 'Weighs a thing.',
        input: z.strictObject({
          what: z.string().refine(() => {
            if (counted !== null) counted.checks += 1;
            return true;
          }),
        }),
        class: 'read',
        shows: { verb: 'calculate', target: ['what'] },
        idempotency: () => 'pure',
        facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
        summarize: () => 'weigh',
        run: () => Promise.resolve({ forModel: 'three pounds' }),
      }),
    ],
  }),
});

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start();
  home.env['TRAYCLAW_VAULT_PASSPHRASE'] = 'a passphrase';
  home.configure(model.config('openai'));
  claw = await home.open({ features: [weigher], clock: neverQuiet });
  watch(Redactor.prototype, 'analyse', (_, [given]) => counted?.searched.push(String(given)));
  watch(JSON, 'parse', (_, [given]) => counted?.parsed.push(String(given)));
  watch(JSON, 'stringify', (_, __, answer) => counted?.serialised.push(String(answer)));
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Database.Statement;
  for (const name of ['run', 'get', 'all', 'iterate'] as const) {
    watch(statement, name, (self) => {
      if (counted === null) return;
      const { source } = self as Database.Statement;
      const key = nameOf(source);
      // One statement inserts several events, so the rows are counted.
      const rows = key === 'INSERT events' ? source.split('unhex').length - 1 : 1;
      counted.statements[key] = (counted.statements[key] ?? 0) + rows;
      counted.sent += 1;
    });
  }
});

afterEach(async () => {
  counted = null;
  sessionId = null;
  for (const restore of restores.splice(0)) restore();
  await home.dispose();
  await model.close();
});

/** All the work of one turn, in a session that was used before. */
async function walk(message: string): Promise<Counted> {
  model.script([
    { user: 'weigh', results: 0, answer: { calls: [{ tool: 'weigh', args: { what } }] } },
    { user: 'weigh', results: 1, answer: { text: 'Three pounds.' } },
    { answer: { text: 'Hello.' } },
  ]);
  sessionId ??= (await claw.ask('Good morning')).sessionId;
  const walked: Counted = { searched: [], parsed: [], serialised: [], statements: {}, checks: 0, sent: 0 };
  counted = walked;
  const { turnId } = await claw.op('message.send', { text: message, sessionId });
  expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done' });
  counted = null;
  return walked;
}

const having = (texts: readonly string[], part: string): number => texts.filter((one) => one.includes(part)).length;
/** Texts of an event body, excluding the request to the model and the answer of the double. */
const ofLog = (texts: readonly string[], field: string, part: string): number =>
  texts.filter((one) => one.startsWith(`{"${field}"`) && one.includes(part)).length;

test('a message is searched for secrets once, and serialised once for the log', async () => {
  const { searched, serialised } = await walk(text.replace('weigh', 'count'));
  const said = text.replace('weigh', 'count');
  expect({ searched: having(searched, said), logged: ofLog(serialised, 'text', said) }).toEqual({ searched: 1, logged: 1 });
});

test('a text that may contain a new secret is searched again', async () => {
  const said = text.replace('weigh', 'count');
  await walk(said);
  await claw.op('secret.set', { name: 'orchard', value: 'an orchard with a wall' });
  const again = await walk('Something else altogether');
  expect(having(again.searched, said)).toBe(1);
});

test("a call's arguments are validated once, and parsed for call and next request", async () => {
  const { searched, parsed, checks } = await walk(text);
  const ofArguments = parsed.filter((one) => one === JSON.stringify({ what }));
  expect({ searched: having(searched, what), parsed: ofArguments.length, checks }).toEqual({ searched: 1, parsed: 2, checks: 1 });
});

/**
 * Removes the transactions from the counts and returns the number of commits. A turn commits its message, the steps before the request is
 * sent, each further request, and its end.
 */
function commitsOf(statements: Record<string, number>): number {
  const { COMMIT: commits = 0 } = statements;
  // The number depends on timing: two steps may share a commit.
  for (const name of ['BEGIN', 'COMMIT']) delete statements[name];
  return commits;
}

/** A message, one model request and an answer. Features without data send no statements, and lazy work is counted later. */
const plain: Readonly<Record<string, number>> = {
  'INSERT events': 11,
  'INSERT heads': 2,
  'INSERT turns': 1,
  'UPDATE turns': 1,
  'UPDATE sessions': 2,
};

test('a plain turn sends these statements', async () => {
  const before = claw.syncMeter().count;
  const { statements, sent } = await walk(text.replace('weigh', 'count'));
  // Including transactions, and one insert of events in each.
  expect(sent).toBeLessThanOrEqual(15);
  expect(commitsOf(statements)).toBeLessThanOrEqual(3);
  expect(statements).toEqual(plain);
  // Both turns of the walk wait for the disk only for their message.
  expect(claw.syncMeter().count - before).toBe(2);
});

test('a turn with one tool call adds these statements', async () => {
  const { statements } = await walk(text);
  expect(commitsOf(statements)).toBeLessThanOrEqual(5);
  const added = Object.entries(statements).map(([name, count]) => [name, count - (plain[name] ?? 0)] as const);
  expect(Object.fromEntries(added.filter(([, count]) => count !== 0))).toEqual({
    'INSERT events': 12,
    // Checks whether a grant or an earlier call with the same key applies.
    'SELECT grants': 1,
    'SELECT tool_calls': 1,
  });
});

test('traces to a receiver add no statements and no listeners to a turn', async () => {
  let listening = 0;
  watch(SessionLog.prototype, 'onCommitted', () => (listening += 1));
  // The exporter reads the log every few seconds, which a slow machine may do within a turn; here it finds nothing.
  const step = Object.getOwnPropertyDescriptor(ExportQueue.prototype, 'step') ?? {};
  Object.defineProperty(ExportQueue.prototype, 'step', { ...step, value: () => Promise.resolve({ kind: 'idle' }) });
  restores.push(() => Object.defineProperty(ExportQueue.prototype, 'step', step));
  const open = () => home.open({ features: [weigher], clock: neverQuiet });
  await home.close(claw);
  await home.close(await open());
  const without = listening;
  home.configure({ ...model.config('openai'), telemetry: { otlp: { endpoint: 'http://127.0.0.1:9/v1/traces' } } });
  claw = await open();
  expect(listening).toBe(2 * without);
  const { statements } = await walk(text.replace('weigh', 'count'));
  commitsOf(statements);
  expect(statements).toEqual(plain);
});

async function statementsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const walked: Counted = { searched: [], parsed: [], serialised: [], statements: {}, checks: 0, sent: 0 };
  counted = walked;
  await work();
  counted = null;
  return walked.statements;
}

test("a task with one criterion adds these statements to its attempt's turn", async () => {
  model.script([{ answer: { text: '["Hello."]' } }]);
  const turn = () => claw.ask('Hello');
  const task = () => claw.op('work.run', { task: { goal: 'Hello', criteria: [{ schema: { type: 'array' } }], strategy: 'single' } });
  for (const one of [turn, task]) await one();
  const alone = await statementsOf(turn);
  const before = claw.syncMeter().count;
  const checked = await statementsOf(task);
  // Its start and its message are written to the disk while the model is called.
  expect(claw.syncMeter().count - before).toBe(2);
  // Its start, and its result: the attempt, the check and the end in one commit.
  expect(commitsOf(checked) - commitsOf(alone)).toBeLessThanOrEqual(3);
  const added = Object.entries(checked).map(([name, count]) => [name, count - (alone[name] ?? 0)] as const);
  expect(Object.fromEntries(added.filter(([, count]) => count !== 0))).toEqual({
    // work.started, work.attempted, work.checked, work.finished, and the skills that match the longer message.
    'INSERT events': 5,
    'INSERT heads': 1,
    'INSERT work_tasks': 1,
    'UPDATE work_tasks': 1,
    'UPDATE sessions': 1,
    // The attempt is recognised by its key after a crash.
    'SELECT inbound': 1,
    'INSERT inbound': 1,
    // The content of the session, and the cost of the turn.
    'SELECT summaries': 1,
    'SELECT events': 2,
  });
});
