// Unattended Telegram in the whole program: a schedule delivered to a chat, hours without a network, a token that was revoked and replaced,
// a pairing that was ended, another poller, floods, a clock that jumps. Long waits are simulated.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock, type Clock } from '../../core/base/clock.ts';
import { BotApiDouble } from '../doubles/telegram/bot-api-double.ts';
import { TelegramRig, type TelegramRigOptions } from '../doubles/telegram/telegram-rig.ts';
import { until } from '../until.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

async function open(options: TelegramRigOptions = {}): Promise<TelegramRig> {
  const rig = await TelegramRig.start(options);
  onTestFinished(() => rig.dispose());
  return rig;
}

/** Real time plus all waits, which take no time: an hour passes in a moment. */
class SimulatedTime implements Clock {
  readonly waits: number[] = [];
  #aheadMs = 0;
  #jumpedMs = 0;

  nowMs = (): number => systemClock.nowMs() + this.#aheadMs + this.#jumpedMs;
  monotonicMs = (): number => systemClock.monotonicMs() + this.#aheadMs;

  /** Moves only the wall clock. */
  jump(ms: number): void {
    this.#jumpedMs += ms;
  }

  readonly wait = async (ms: number, signal: AbortSignal): Promise<boolean> => {
    if (signal.aborted) return false;
    this.waits.push(ms);
    this.#aheadMs += ms;
    await new Promise((resolve) => setTimeout(resolve, 1));
    return !signal.aborted;
  };
}

async function openSimulated(options: TelegramRigOptions = {}): Promise<{ rig: TelegramRig; time: SimulatedTime }> {
  const time = new SimulatedTime();
  const rig = await open({ nowMs: time.nowMs, ...options, program: { clock: time, wait: time.wait } });
  return { rig, time };
}

const doctorOn = async ({ claw }: TelegramRig) => {
  const { checks } = await claw.op('health.check', {});
  return checks.find(({ id }) => id === 'telegram');
};

test('a scheduled turn asks in the chat, times out, and reports what was denied', async () => {
  const rig = await open({
    config: { heartbeat: { everyMinutes: 0 } },
    rules: [
      { user: 'Tidy', results: 0, answer: { calls: [{ tool: 'calc', args: { expression: '1 + 1' } }] } },
      { user: 'Tidy', results: 1, answer: { calls: [{ tool: 'write_file', args: { path: 'made.txt', content: 'x' } }] } },
      { user: 'Tidy', results: 2, answer: { calls: [{ tool: 'exec', args: { command: 'touch ran.txt' } }] } },
      { user: 'Tidy', answer: { text: 'Everything is tidy.' } },
    ],
  });
  await rig.pair();
  const whole = { classes: null, folders: null, hosts: null, steps: null, turnMs: null, usd: null, tokens: null };
  const { scheduleId } = await rig.claw.op('schedule.create', {
    name: 'Tidy',
    prompt: 'Tidy up.',
    spec: { kind: 'at', atMs: Date.now() + 500 },
    approvalMs: 1500,
    deliver: 'telegram:42',
    bounds: { ...whole, tools: ['calc', 'write_file'], grants: false },
  });
  const question = await rig.hears(/Wants to write made\.txt/);
  expect(question.buttons.flat().map(({ text }) => text)).toContain('Approve once');
  const told = await rig.hears(/^Everything is tidy\./);
  expect(told.text).toMatch(/Not done, because it was not allowed:\n.*Wants to write made\.txt .*\(no answer in time\)\n.*exec: /);
  await until(() => question.buttons.length === 0 && /by timeout: denied/.test(question.text), 'the question says how');
  expect(existsSync(join(rig.home.workspace, 'made.txt'))).toBe(false);
  expect(existsSync(join(rig.home.workspace, 'ran.txt'))).toBe(false);
  expect(await rig.claw.op('schedule.get', { scheduleId })).toMatchObject({ last: [{ disposition: 'run', status: 'done' }] });
  expect(rig.ada.heard().filter((text) => text.startsWith('Everything is tidy.'))).toHaveLength(1);
});

test('hours without a network: polls at most once a minute, loses nothing afterwards', async () => {
  const { rig, time } = await openSimulated({ rules: [{ user: 'slowly', answer: { text: 'Slowly done.', firstDelayMs: 600 } }] });
  await rig.pair();
  rig.ada.write('slowly please');
  await until(() => rig.model.requests.length === 1, 'it is at work');
  await rig.double.stop();
  time.waits.length = 0;
  const startMs = time.nowMs();
  await rig.state('offline');
  expect(await doctorOn(rig)).toMatchObject({ ok: false, detail: expect.stringContaining('cannot be reached') as string });
  for (const text of ['one', 'two', 'three']) rig.ada.write(text);
  await until(() => time.nowMs() - startMs > 6 * HOUR_MS, 'six hours have passed');
  const { length } = time.waits;
  expect(Math.max(...time.waits)).toBeLessThanOrEqual(75_000);
  expect(length).toBeLessThan((6.5 * HOUR_MS) / 45_000);
  await rig.double.start();
  await rig.state('running');
  await rig.hears('You said: three');
  await rig.hears('Slowly done.');
  expect(
    rig.ada
      .heard()
      .filter((text) => /done\.$|You said/.test(text))
      .toSorted(),
  ).toEqual(['Slowly done.', 'You said: one', 'You said: two', 'You said: three'].toSorted());
  expect(await doctorOn(rig)).toMatchObject({ ok: true });
});

test('a revoked token is reported, and the new one works without a restart', async () => {
  const { rig, time } = await openSimulated({ telegram: { token: 'file:bot-token' }, before: (home) => write(home.path, first) });
  await rig.pair();
  rig.double.token = `${rig.double.botId}:another-token-for-tests-only`;
  rig.ada.write('between');
  await rig.state('refused');
  expect(await doctorOn(rig)).toMatchObject({ ok: false, detail: expect.stringContaining('@BotFather') as string });
  time.waits.length = 0;
  await until(() => time.waits.length > 20, 'it looks now and then');
  expect(Math.min(...time.waits)).toBeGreaterThanOrEqual(5_000);
  write(rig.home.path, rig.double.token);
  await rig.state('running');
  await rig.hears('You said: between');
  rig.ada.write('after');
  await rig.hears('You said: after');
});

const first = new BotApiDouble().token;
const write = (home: string, token: string): void => writeFileSync(join(home, 'bot-token'), token, { mode: 0o600 });

test('another poller or a webhook: the cause, growing delays, automatic recovery', async () => {
  const { rig, time } = await openSimulated();
  await rig.pair();
  time.waits.length = 0;
  rig.double.fault({
    method: 'getUpdates',
    kind: 'refuse',
    status: 409,
    description: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    times: 1_000_000,
  });
  // The held poll continues until something arrives.
  rig.ada.write('while another polls');
  await rig.state('conflict');
  expect((await rig.claw.op('telegram.status', {})).problem).toMatch(/Another program polls this bot: most likely TrayClaw on another/);
  await until(() => time.waits.length > 12, 'it rests');
  expect(time.waits[0]).toBeGreaterThanOrEqual(22_500);
  expect(time.waits.at(-1)).toBeGreaterThanOrEqual(15 * 60_000 * 0.75);
  rig.double.clearFaults();
  await rig.state('running');
  rig.double.updates.webhookUrl = 'https://elsewhere.example/hook';
  rig.ada.write('with a webhook');
  await rig.state('conflict');
  expect((await rig.claw.op('telegram.status', {})).problem).toMatch(/A webhook is set for this bot/);
  expect(await doctorOn(rig)).toMatchObject({ ok: false, detail: expect.stringContaining('deleteWebhook') as string });
  rig.double.updates.webhookUrl = '';
  await rig.hears('You said: with a webhook');
});

test('a flood limit is obeyed to the second when polling, sending and starting', async () => {
  const { rig, time } = await openSimulated();
  await rig.pair();
  const flood = { kind: 'refuse', status: 429, description: 'Too Many Requests', times: 1 } as const;
  rig.double.fault({ ...flood, method: 'getUpdates', retryAfter: 41 });
  rig.double.fault({ ...flood, method: 'sendMessage', retryAfter: 1 });
  rig.ada.write('hello');
  await rig.hears('You said: hello');
  await until(() => time.waits.includes(41_000), 'it waited as long as it was told');
  const tries = rig.double.seen.filter(({ method, payload }) => method === 'sendMessage' && payload['text'] === 'You said: hello');
  expect(tries).toHaveLength(2);
  expect((tries[1]?.atMs ?? 0) - (tries[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
  await rig.close();
  rig.double.fault({ ...flood, method: 'getMe', retryAfter: 43 });
  await rig.open();
  expect(time.waits).toContain(43_000);
});

test('a clock that jumps a day ahead and two days back loses and repeats nothing', async () => {
  // The server's own clock does not jump.
  const { rig, time } = await openSimulated({ nowMs: Date.now });
  await rig.pair();
  for (const [at, jumpMs] of [DAY_MS, -2 * DAY_MS, 8 * DAY_MS].entries()) {
    time.jump(jumpMs);
    rig.ada.write(`number ${at}`);
    await rig.hears(`You said: number ${at}`);
  }
  expect(rig.ada.heard().filter((text) => text.startsWith('You said'))).toHaveLength(3);
  expect((await rig.claw.op('audit.verify', {})).ok).toBe(true);
});

test('a person whose pairing ends while an answer is written sees no more of it', async () => {
  const text = 'Word by word it comes. '.repeat(20).trim();
  const rig = await open({ rules: [{ user: 'slowly', answer: { text, pieceChars: 12, delayMs: 60 } }] });
  await rig.pair();
  rig.ada.write('slowly please');
  await until(() => rig.ada.drafts().some((draft) => draft.startsWith('Word by word')), 'a draft is shown');
  const [session] = (await rig.claw.op('session.list', {})).sessions;
  await rig.claw.op('telegram.revoke', { userId: '42' });
  await until(
    async () => (await rig.claw.op('session.get', { sessionId: session?.sessionId ?? '' })).session.status === 'done',
    'it ended',
  );
  expect(rig.ada.drafts().filter((draft) => draft.length > text.length / 2)).toEqual([]);
  expect(rig.ada.heard().filter((heard) => heard.startsWith('Word'))).toEqual([]);
  expect((await rig.claw.op('outbox.list', { all: true })).items.filter(({ text: queued }) => queued === text)).toEqual([]);
});
