// A data folder of an earlier program version opens with its complete content. `tests/fixtures/earlier-home/make.ts` describes the content
// and how it was made. The folder is unpacked where it was made, because its log contains absolute paths.

import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { BotApiDouble } from '../doubles/telegram/bot-api-double.ts';
import { Person } from '../doubles/telegram/person.ts';
import { until } from '../until.ts';
import { runAndKill } from '../faults/op-crash-rig.ts';
import { replayEveryTurn } from '../faults/replay-check.ts';
import { soak } from '../soak.ts';
import { needs } from '../needs.ts';

const archive = join(import.meta.dirname, '../fixtures/earlier-home/home.json.gz');
const place = '/tmp/trayclaw-earlier-home';
const home = join(place, 'home');
const LEFT_BEHIND_MS = 120_000;
const plan = join(home, 'workspace/plan.md');

/** Another run of the suite on this machine may use the same folder for some seconds; an older folder was left by a killed run. */
async function takePlace(): Promise<void> {
  await until(() => {
    try {
      mkdirSync(place, { mode: 0o700 });
      return true;
    } catch {
      const madeMs = statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
      if (madeMs < Date.now() - LEFT_BEHIND_MS) rmSync(place, { recursive: true, force: true });
      return false;
    }
  }, `${place} is free`);
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
}

async function unpack(): Promise<void> {
  await takePlace();
  writeEarlierHome();
}

function writeEarlierHome(): void {
  const files = z.record(z.string(), z.string()).parse(JSON.parse(gunzipSync(readFileSync(archive)).toString('utf8')));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, path), Buffer.from(content, 'base64'));
    // The original permissions, which undo compares, whatever the current umask.
    chmodSync(join(home, path), path.startsWith('workspace/') ? 0o644 : 0o600);
  }
}

/** Opens the earlier program's own config.yaml; only the addresses of its two servers are current. */
async function open(): Promise<{ claw: TrayClaw; ada: Person }> {
  const model = await ScriptedModel.start([{ answer: { text: 'Still here.' } }]);
  const bot = await new BotApiDouble().start();
  // The real server has continued counting; smaller ids would belong to updates that the bot has confirmed.
  bot.updates.restartIdsAt(500_000_100);
  onTestFinished(async () => {
    await model.close();
    await bot.stop();
  });
  const file = join(home, 'config.yaml');
  const settings = readFileSync(file, 'utf8').replace(/http:\/\/127\.0\.0\.1:\d+\/v1/, `${model.origin}/v1`);
  writeFileSync(file, settings.replace(/(?<="apiRoot": ")[^"]+/, bot.apiRoot));
  const claw = await createTrayClaw({ home, environment: { ...process.env, TEST_BOT_TOKEN: bot.token } });
  onTestFinished(() => claw.close());
  return { claw, ada: new Person(bot, { id: 42, name: 'Ada' }) };
}

/** Asserts everything that make.ts put in; throws at the first missing thing. */
async function expectAllHeld({ claw, ada }: { claw: TrayClaw; ada: Person }): Promise<void> {
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
  expect(await replayEveryTurn(claw)).toMatchObject({ turns: 5, different: [] });

  const { sessions } = await claw.op('session.list', {});
  expect(new Map(sessions.map(({ title, status, lastText }) => [title, [status, lastText]]))).toEqual(
    new Map([
      ['Hello from the road', ['done', 'Safe travels.']],
      ['doomed', ['failed', 'doomed']],
      ['A second conversation', ['done', 'Noted.']],
      ['Please improve plan.md', ['done', 'The plan is better now.']],
    ]),
  );
  expect((await claw.op('schedule.list', {})).schedules).toMatchObject([
    { name: 'Morning', spec: { kind: 'cron', expr: '0 8 * * *', zone: 'Europe/Lisbon' }, enabled: true },
  ]);
  expect((await claw.op('memory.list', {})).memories).toMatchObject([{ text: 'My editor is vim.', state: 'kept', pinned: true }]);
  expect((await claw.op('memory.recall', { query: 'editor' })).hits).toHaveLength(1);
  const { evidence } = await claw.op('knowledge.search', { query: 'lighthouse keeper' });
  expect(JSON.stringify(evidence)).toContain('Osvaldo');
  expect((await claw.op('rule.list', { sessionId: 'ses_talk' })).rules).toMatchObject([{ text: 'Answer in one sentence.' }]);
  const { skills } = await claw.op('skill.list', {});
  expect(skills.find(({ name }) => name === 'greeting')).toMatchObject({ trust: 'content', isOffered: true });
  expect((await claw.op('dlq.list', {})).letters).toMatchObject([{ channel: 'telegram', state: 'left' }]);
  const { rows } = await claw.op('usage.get', {});
  expect(rows).toMatchObject([{ turns: 5, modelCalls: 6, inputTokens: 500, outputTokens: 100 }]);

  expect(readFileSync(plan, 'utf8')).toBe('first line\n2nd line\n');
  const [checkpoint] = (await claw.op('checkpoint.list', {})).checkpoints;
  expect(await claw.op('checkpoint.restore', { callId: checkpoint?.callId ?? '' })).toMatchObject({
    restored: [{ path: plan }],
    refused: [],
  });
  expect(readFileSync(plan, 'utf8')).toBe('first line\nsecond line\n');

  // The pairing and the chat are preserved too: a new message of Ada is answered in the same session.
  ada.write('Are you there?');
  await until(() => ada.heard().includes('Still here.'), 'Ada is answered');
  expect((await claw.op('session.list', {})).sessions).toHaveLength(sessions.length);
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
  expect(await replayEveryTurn(claw)).toMatchObject({ turns: 6, different: [] });
}

test('a data folder of an earlier version opens with its whole content', needs('a Unix system'), async () => {
  await unpack();
  await expectAllHeld(await open());
});

test(
  'a kill at any write of the first start loses nothing of an earlier folder',
  { ...needs('a Unix system'), timeout: 1_800_000 },
  async () => {
    await takePlace();
    const work = { config: null, fromStart: true };
    writeEarlierHome();
    const { writes } = await runAndKill(home, work, { nth: 0, side: 'before' });
    expect(writes).toBeGreaterThan(20);
    const tries = soak(2, 40);
    let kills = 0;
    for (let at = 1; at <= tries; at++) {
      rmSync(home, { recursive: true, force: true });
      writeEarlierHome();
      const nth = Math.floor((writes * at) / (tries + 1));
      const { killed } = await runAndKill(home, work, { nth, side: at % 2 === 0 ? 'before' : 'after' });
      if (killed) kills += 1;
      const opened = await open();
      await expectAllHeld(opened);
      await opened.claw.close();
    }
    // The number of writes while closing varies.
    expect(kills).toBeGreaterThan(0);
  },
);

/** The program's own migrations, followed by an additional one that does damage. */
test.each([
  ['loses a table', /The database refused a statement/, 'ALTER TABLE schedules RENAME TO elsewhere'],
  ['loses rows', /to match object \[ \{ text:/, 'DELETE FROM memories'],
  [
    'loses a turn of the log',
    /ok: false/,
    "DELETE FROM events WHERE type = 'turn.finished' AND seq = (SELECT MAX(seq) FROM events WHERE type = 'turn.finished')",
  ],
  ['changes what was recorded', /ok: false/, "UPDATE events SET body = replace(body, 'Noted.', 'Denied.')"],
  ['forgets the copies that undo needs', /nothing to undo/, 'DELETE FROM checkpoint_files'],
])('a migration that %s is detected', needs('a Unix system'), async (_title, complaint, harm) => {
  await unpack();
  Storage.open({ home, migrations: [{ id: 'zzz-broken', minSafeVersion: 1, up: (db) => void db.exec(harm) }] }).dispose();
  await expect(open().then(expectAllHeld)).rejects.toThrow(complaint);
});
