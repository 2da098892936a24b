// The budget in a whole runtime: no path to a model bypasses it, additional budget granted by a person is stored and ends when it should, a
// turn continues, and parallel turns do not spend the same budget twice.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../doubles/manual-clock.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent } from '../../core/contracts/events.ts';
import type { AskResult } from '../../core/contracts/op-results.ts';
import type { FaultHooks } from '../../core/compose.ts';
import type { TrayClaw } from '../../core/index.ts';
import type { BudgetPort } from '../../core/runtime/turns/turns.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { eventsOf } from './replay-check.ts';
import { TestHome } from './test-home.ts';

const DAY_MS = 86_400_000;

let home: TestHome;
let model: ScriptedModel;

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start([{ answer: { text: 'fine', usage: { input: 1000, output: 100 } } }]);
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

/** One dollar per million input tokens, a thousand per million output tokens: an answer of 1000 tokens costs one dollar. */
const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 1_000 };

interface Opened {
  readonly budget: ConfigInput['budget'];
  readonly isPriced?: boolean;
  readonly clock?: ManualClock;
  readonly faults?: FaultHooks;
  readonly prices?: typeof price;
}

function open({ budget, isPriced = true, clock, faults, prices = price }: Opened): Promise<TrayClaw> {
  const { providers = {}, models } = model.config('openai');
  const lab = providers['lab'];
  // A local server that takes a key, on an unusual port, may be a gateway that bills.
  const more = isPriced ? { prices: { scripted: prices } } : { apiKey: 'env:MODEL_KEY' };
  home.env['MODEL_KEY'] = 'key-of-a-gateway';
  const priced = lab?.kind === 'openai-compatible' ? { lab: { ...lab, ...more } } : providers;
  return home.open({
    config: { providers: priced, models: { ...models, retries: 1 }, budget },
    ...(clock === undefined ? {} : { clock }),
    ...(faults === undefined ? {} : { faults }),
  });
}

async function eventsIn(claw: TrayClaw, sessionId: string, type: AnyEvent['type']): Promise<unknown[]> {
  const bodies: unknown[] = [];
  for await (const event of eventsOf(claw, sessionId)) if (event.type === type) bodies.push(event.body);
  return bodies;
}

/** Continues an ended turn and waits for it. */
async function goOn(claw: TrayClaw, ended: { readonly turnId: string }): Promise<AskResult> {
  const { turnId } = await claw.op('turn.continue', { turnId: ended.turnId });
  return claw.op('turn.wait', { turnId });
}

/** Runs every operation of a person that might call a model. */
async function tryEverything(claw: TrayClaw): Promise<Set<string>> {
  const ends = new Set<string>();
  const first = await claw.ask('hello');
  ends.add(first.status);
  const { sessionId, turnId } = first;
  ends.add((await claw.ask('again', { sessionId })).status);
  const fork = await claw.op('session.fork', { sessionId });
  ends.add((await claw.ask('in a fork', { sessionId: fork.sessionId })).status);
  const last = await claw.ask('once more', { sessionId });
  if (last.status === 'over_budget') ends.add((await goOn(claw, last)).status);
  const sent = await claw.op('message.send', { text: 'steered', sessionId });
  await claw.op('turn.steer', { turnId: sent.turnId, text: 'more' }).catch(() => null);
  ends.add((await claw.op('turn.wait', { turnId: sent.turnId })).status);
  await claw.op('replay.run', { turnId });
  await claw.op('session.rename', { sessionId, title: 'named' });
  await claw.op('session.search', { query: 'hello' });
  await claw.op('session.export', { sessionId, format: 'markdown' });
  await claw.op('tool.run', { tool: 'calc', args: { expression: '1+1' } });
  await claw.op('policy.explain', { tool: 'calc', args: { expression: '1+1' } });
  await claw.op('health.check', {});
  await claw.op('model.list', {});
  return ends;
}

test.each([{ perTurnUsd: 0 }, { perSessionUsd: 0 }, { perDayUsd: 0 }, { perTurnTokens: 1 }, { perSessionTokens: 1 }, { perDayTokens: 1 }])(
  "with %j neither a person's actions nor a restart makes a request",
  async (budget) => {
    const claw = await open({ budget });
    expect(await tryEverything(claw)).toEqual(new Set(['over_budget']));
    expect((await home.close(claw)).different).toEqual([]);
    // A message accepted by a process that ended at once is handled by the next process.
    const second = await open({ budget });
    const { turnId } = await second.op('message.send', { text: 'left over' });
    await home.close(second);
    const third = await open({ budget });
    expect((await third.op('turn.wait', { turnId })).status).toBe('over_budget');
    expect(model.requests).toEqual([]);
  },
);

test('control: without the budget check every action calls the model', async () => {
  const heedless: BudgetPort = {
    reserve: () => ({ ok: true, reservation: { settle: () => undefined }, unpriced: [], room: { usd: null, tokens: null } }),
    finishTurn: () => undefined,
  };
  const claw = await open({ budget: { perDayUsd: 0 }, faults: { replaceParts: (real) => ({ ...real, budget: heedless }) } });
  expect(await tryEverything(claw)).toEqual(new Set(['done']));
  expect(model.requests.length).toBeGreaterThanOrEqual(5);
});

test('three places in the sources call a model, each after the budget check', () => {
  const core = join(import.meta.dirname, '../../core');
  const sources = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const outside = sources.filter((file) => !file.startsWith(join('mind', 'llm')));
  const asking = outside.filter((file) =>
    /models\.stream\(|\.models\b[^;]*\bstream\b|new ModelRouter\b/.test(readFileSync(join(core, file), 'utf8')),
  );
  const beside = join('mind', 'asking', 'ask-model.ts');
  const passing = join('features', 'openai', 'passthrough.ts');
  const own = join('runtime', 'turns', 'own-models.ts');
  const performs = join('runtime', 'turns', 'perform-model.ts');
  expect(asking.sort()).toEqual(['compose-spine.ts', passing, beside, own, performs]);
  // The composition builds the router and makes no requests; skill runs and calls of other machines forward the requests of these three.
  expect(readFileSync(join(core, own), 'utf8').match(/.*models\.stream\(.*/g)).toEqual([
    '    stream: (ref, ...request) => (isOwn(ref) ? stream(ref, ...request) : models.stream(ref, ...request)),',
  ]);
  for (const file of ['compose-spine.ts', 'compose.ts']) expect(readFileSync(join(core, file), 'utf8')).not.toContain('models.stream(');
  const asked = readFileSync(join(core, beside), 'utf8');
  expect([
    asked.match(/models\.stream\(/g)?.length,
    asked.indexOf('if (!admission.ok) return') < asked.indexOf('models.stream('),
    asked.indexOf('budget.reserve(') < asked.indexOf('if (!admission.ok) return'),
  ]).toEqual([1, true, true]);
  const passed = readFileSync(join(core, passing), 'utf8');
  expect([
    passed.match(/models\.stream\(/g)?.length,
    passed.indexOf('if (!admission.ok) throw') < passed.indexOf('models.stream('),
    passed.indexOf('budget.reserve(') < passed.indexOf('if (!admission.ok) throw'),
  ]).toEqual([1, true, true]);
  const performing = readFileSync(join(core, performs), 'utf8');
  expect([
    performing.match(/models\.stream\(/g)?.length,
    performing.indexOf('askBudget(runner') < performing.indexOf('askModel(runner'),
  ]).toEqual([1, true]);
});

test('a request is checked before it is made; control: without the check it is made', async () => {
  // The system prompt and the tools alone are more than a thousand tokens, which cost more than a tenth of a cent at this price.
  const check = async (faults: FaultHooks): Promise<number> => {
    model.requests.length = 0;
    const claw = await open({ budget: { perTurnUsd: 0.0005 }, faults });
    const { error } = await claw.ask('hello');
    await home.close(claw);
    if (model.requests.length === 0)
      expect(error).toMatchObject({ code: 'over_budget', data: { scope: 'turn', unit: 'usd', limit: 0.0005 } });
    return model.requests.length;
  };
  expect(await check({})).toBe(0);
  const blind: FaultHooks['replaceParts'] = (real) => ({
    ...real,
    budget: {
      finishTurn: (turnId) => real.budget.finishTurn(turnId),
      reserve: (at, estimate, signal) => real.budget.reserve(at, { ...estimate, inputUsd: 0, inputTokens: 0 }, signal),
    },
  });
  expect(await check({ replaceParts: blind })).toBe(1);
});

const more = (claw: TrayClaw, { turnId, sessionId }: AskResult, scope: 'turn' | 'session' | 'day', usd: number) =>
  claw.op(
    'budget.allow',
    { scope, usd, ...(scope === 'turn' ? { turnId } : {}), ...(scope === 'session' ? { sessionId } : {}) },
    { channel: 'window', actor: 'ada' },
  );

test('a larger budget is recorded with its giver, and the work continues', async () => {
  model.script([
    { results: 0, answer: { calls: [{ tool: 'calc', args: { expression: '6*7' } }], usage: { input: 1000, output: 1000 } }, times: 1 },
    { answer: { text: 'It is 42.', usage: { input: 1000, output: 10 } } },
  ]);
  const claw = await open({ budget: { perTurnUsd: 0.5 } });
  const ended = await claw.ask('what is six times seven');
  expect(ended).toMatchObject({
    status: 'over_budget',
    error: { data: { scope: 'turn', unit: 'usd', limit: 0.5, spent: 1.001, suggested: 0.5 } },
  });
  // Continuing without more budget ends at once, without a request.
  const tooEarly = await goOn(claw, ended);
  expect([tooEarly.status, model.requests.length]).toEqual(['over_budget', 1]);
  const { budgets } = await more(claw, tooEarly, 'turn', 0.25);
  expect(budgets[0]).toMatchObject({ scope: 'turn', unit: 'usd', limit: 1.251, configured: 0.5, spent: 1.001 });
  const next = await claw.op('turn.continue', { turnId: tooEarly.turnId }, { channel: 'window', actor: 'ada' });
  expect(next.sessionId).toBe(ended.sessionId);
  expect(await claw.op('turn.wait', { turnId: next.turnId })).toMatchObject({ status: 'done', text: 'It is 42.' });
  const seen = JSON.stringify(model.requests.at(-1)?.body);
  expect([seen.includes('what is six times seven'), seen.includes('carry on where it stopped')]).toEqual([true, true]);
  expect(await eventsIn(claw, 'system', 'budget.extended').catch(() => [])).toEqual([]);
  const all: AnyEvent[] = [];
  for await (const event of claw.events({ after: 0, signal: AbortSignal.timeout(300) })) {
    if (event.type === 'budget.extended' || (event.type === 'turn.started' && event.turnId === next.turnId)) all.push(event);
  }
  expect(all.map(({ body }) => body)).toMatchObject([
    { scope: 'turn', unit: 'usd', amount: 0.25, raisedBy: 0.751, limit: 1.251, turnId: tooEarly.turnId, day: null, by: 'ada' },
    { continues: { turnIds: [ended.turnId, tooEarly.turnId], by: 'ada' } },
  ]);
  // Only a turn that a limit ended can be continued, and only once.
  await expect(claw.op('turn.continue', { turnId: ended.turnId })).rejects.toMatchObject({ code: 'conflict' });
  await expect(claw.op('turn.continue', { turnId: next.turnId })).rejects.toMatchObject({ code: 'conflict' });
  expect((await home.close(claw)).different).toEqual([]);
});

test('a continued turn gets the additional budget, but no new one', async () => {
  model.script([{ answer: { calls: [{ tool: 'calc', args: { expression: '1+1' } }], usage: { input: 1000, output: 1000 } } }]);
  const claw = await open({ budget: { perTurnUsd: 1.5 } });
  const ended = await claw.ask('go');
  expect(model.requests).toHaveLength(2);
  await more(claw, ended, 'turn', 0.5);
  const again = await goOn(claw, ended);
  expect([again.status, model.requests.length]).toEqual(['over_budget', 3]);
});

test('a restart keeps additional budget; that of a day ends with the day', async () => {
  model.script([{ answer: { text: 'fine', usage: { input: 1000, output: 1000 } } }]);
  const clock = new ManualClock(new Date(2026, 5, 15, 12).getTime());
  const budget = { perDayUsd: 0.5, perSessionUsd: 10 };
  const first = await open({ budget, clock });
  expect((await first.ask('one')).status).toBe('done');
  const ended = await first.ask('two');
  expect(ended).toMatchObject({ status: 'over_budget', error: { data: { scope: 'day' } } });
  await more(first, ended, 'day', 1.5);
  await home.close(first);

  const second = await open({ budget, clock });
  expect((await goOn(second, ended)).status).toBe('done');
  const { budgets } = await second.op('budget.get', { sessionId: ended.sessionId });
  expect(budgets.map(({ scope, unit, limit }) => [scope, unit, limit])).toEqual([
    ['session', 'usd', 10],
    ['session', 'tokens', null],
    ['day', 'usd', 2.501],
    ['day', 'tokens', null],
  ]);
  clock.advance(DAY_MS);
  const tomorrow = (await second.op('budget.get', {})).budgets[0];
  expect(tomorrow).toMatchObject({ scope: 'day', limit: 0.5, configured: 0.5, spent: 0 });
  expect((await second.ask('a new day')).status).toBe('done');
  expect((await second.ask('and then')).status).toBe('over_budget');
});

test('an invalid request for more budget is refused and not recorded', async () => {
  const claw = await open({ budget: { perDayUsd: 1 } });
  const { turnId } = await claw.ask('hello');
  const wrong = [
    [{ scope: 'turn', usd: 1, turnId }, 'conflict'],
    [{ scope: 'day', tokens: 1 }, 'conflict'],
    [{ scope: 'day' }, 'invalid_params'],
    [{ scope: 'turn', usd: 1 }, 'invalid_params'],
    [{ scope: 'session', usd: 1, sessionId: 'none' }, 'not_found'],
    [{ scope: 'day', usd: 0 }, 'invalid_params'],
    [{ scope: 'day', usd: -1 }, 'invalid_params'],
    [{ scope: 'day', usd: Number.POSITIVE_INFINITY }, 'invalid_params'],
  ] as const;
  for (const [params, code] of wrong) await expect(claw.op('budget.allow', params)).rejects.toMatchObject({ code });
  expect((await claw.op('budget.get', {})).budgets[0]).toMatchObject({ limit: 1 });
});

test('eight parallel turns exceed the day by one answer; control without reserve', async () => {
  // An answer of 400 tokens costs 40 cents at this price; the 4000 tokens reserved for it would cost 4 dollars.
  const prices = { inputUsdPerMillion: 1, outputUsdPerMillion: 1_000 };
  const answerUsd = 0.401;
  const limit = 1;
  model.script([{ answer: { text: 'fine', usage: { input: 1000, output: 400 }, firstDelayMs: 20 } }]);
  const check = async (faults: FaultHooks): Promise<{ spent: number; over: number }> => {
    const clock = new ManualClock(new Date(2026, 5, 15 + days++, 12).getTime());
    const claw = await open({ budget: { perDayUsd: limit }, prices, clock, faults });
    const ends = await Promise.all(Array.from({ length: 8 }, (_, n) => claw.ask(`turn ${n}`)));
    const spent = (await claw.op('budget.get', {})).budgets[0]?.spent ?? Number.NaN;
    expect((await claw.op('usage.get', {})).today.costUsd).toBeCloseTo(
      ends.filter(({ status }) => status === 'done').length * answerUsd,
      9,
    );
    await home.close(claw);
    return { spent, over: ends.filter(({ status }) => status === 'over_budget').length };
  };
  let days = 0;
  const kept = await check({});
  expect(kept.spent).toBeLessThanOrEqual(limit + answerUsd);
  expect(kept.over).toBe(5);
  const careless: FaultHooks['replaceParts'] = (real) => ({
    ...real,
    budget: {
      finishTurn: (turnId) => real.budget.finishTurn(turnId),
      reserve: (at, estimate, signal) => real.budget.reserve(at, { ...estimate, usd: 0, tokens: 0 }, signal),
    },
  });
  expect((await check({ replaceParts: careless })).over).toBe(0);
});

test('a turn that waits for budget can be stopped', async () => {
  model.script([{ user: 'slow', answer: { silent: true } }, { answer: { text: 'fine' } }]);
  const claw = await open({ budget: { perDayUsd: 1 } });
  const slow = await claw.op('message.send', { text: 'slow' });
  const waiting = await claw.op('message.send', { text: 'next' });
  expect((await claw.op('turn.wait', { turnId: waiting.turnId, timeoutMs: 50 })).status).toBe('running');
  expect((await claw.op('turn.cancel', { turnId: waiting.turnId })).status).toBe('cancelled');
  await claw.op('turn.cancel', { turnId: slow.turnId });
  expect(model.requests.length).toBeLessThanOrEqual(1);
  expect((await claw.ask('after')).status).toBe('done');
});

test('an unknown price is reported once per session and by the doctor', async () => {
  const budget = { perDayUsd: 1, perTurnUsd: 1, perSessionTokens: 1_000_000 };
  const first = await open({ budget, isPriced: false });
  const { sessionId } = await first.ask('one');
  await first.ask('two', { sessionId });
  await home.close(first);
  const second = await open({ budget, isPriced: false });
  await second.ask('three', { sessionId });
  expect(await eventsIn(second, sessionId, 'budget.unpriced')).toEqual([{ model: 'lab/scripted', scopes: ['turn', 'day'] }]);
  const other = await second.ask('elsewhere');
  expect(await eventsIn(second, other.sessionId, 'budget.unpriced')).toHaveLength(1);
  const { checks } = await second.op('health.check', {});
  expect(checks.find(({ id }) => id === 'budget')).toMatchObject({
    // Only a warning: a working model is not reported as broken.
    ok: true,
    detail: expect.stringContaining('cannot be enforced for lab/scripted') as string,
    fix: expect.stringContaining('prices') as string,
  });
  await home.close(second);
  const priced = await open({ budget });
  expect((await priced.op('health.check', {})).checks.find(({ id }) => id === 'budget')).toMatchObject({
    ok: true,
    detail: expect.not.stringContaining('does not hold') as string,
  });
});

test('an interrupted answer is counted by an estimate, before and after a restart', async () => {
  model.script([{ answer: { text: 'x'.repeat(4_000), pieceChars: 400, usage: null, trouble: { kind: 'cut', afterFrames: 6 } } }]);
  const first = await open({ budget: { perDayUsd: 10 } });
  expect((await first.ask('hello')).status).toBe('failed');
  const spentOf = async (claw: TrayClaw): Promise<number> => (await claw.op('budget.get', {})).budgets[0]?.spent ?? 0;
  const spent = await spentOf(first);
  // More than the request: some hundred answer tokens at a tenth of a cent each.
  expect(spent).toBeGreaterThan(0.1);
  await home.close(first);
  const second = await open({ budget: { perDayUsd: 10 } });
  expect(await spentOf(second)).toBeCloseTo(spent, 9);
});
