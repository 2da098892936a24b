// Faults planted in real data folders, one after the other: the doctor finds each, and the repair it offers or the instructions it gives
// fix it. In a healthy folder it finds nothing.

import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../doubles/manual-clock.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { OpResult } from '../../core/contracts/ops.ts';
import type { RuntimeOptions } from '../../core/compose.ts';
import type { TrayClaw } from '../../core/index.ts';
import { LoopbackChannel } from '../doubles/loopback-channel.ts';
import { freeTool } from '../doubles/free-tool.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from './test-home.ts';
import { until } from '../until.ts';

type Check = OpResult<'health.check'>['checks'][number];

/** Stores a file, as a long result does. */
const keep = freeTool('keep', {
  idempotency: () => 'pure',
  run: (_args, { artifacts, sessionId, callId }) => {
    const kept = artifacts.put('kept for later', { name: 'kept.txt', mediaType: 'text/plain', sessionId, callId });
    return Promise.resolve({ forModel: 'kept', artifacts: [kept] });
  },
});

let home: TestHome;
let claw: TrayClaw | null = null;

beforeEach(() => {
  home = new TestHome();
});

afterEach(async () => {
  await close();
  await server?.close();
  server = null;
  await home.dispose();
});

const plain: ConfigInput = { models: { default: 'demo/offline' }, sandbox: { mode: 'off' } };

async function open(config: ConfigInput = {}, options: Omit<RuntimeOptions, 'home' | 'config'> = {}): Promise<TrayClaw> {
  await claw?.close();
  claw = await home.open({ config: { ...plain, ...config }, tools: [keep], ...options });
  return claw;
}

async function close(): Promise<void> {
  await claw?.close();
  claw = null;
}

/** Writes into the database while the program is not running. */
async function change(...statements: string[]): Promise<void> {
  await close();
  const db = new Database(join(home.path, 'trayclaw.db'));
  db.unsafeMode(true);
  for (const sql of statements) db.exec(sql);
  db.close();
}

async function seed(): Promise<TrayClaw> {
  const running = await open();
  await running.ask('hello there');
  await running.op('tool.run', { tool: 'keep', args: {} });
  return running;
}

async function look(full = true): Promise<readonly Check[]> {
  return (await (claw ?? (await open())).op('health.check', { full })).checks;
}

function artifactFile(): string {
  const folder = join(home.path, 'artifacts');
  const prefix = readdirSync(folder).find((name) => /^[0-9a-f]{2}$/.test(name)) ?? '';
  return join(folder, prefix, readdirSync(join(folder, prefix))[0] ?? '');
}

interface Fault {
  readonly name: string;
  readonly id: string;
  readonly plant: () => Promise<unknown>;
  /** Follows the doctor's instructions; if absent, its repair is used. */
  readonly mend?: () => Promise<unknown>;
  /** True if the quick check finds it too. */
  readonly quick?: boolean;
}

const noon = Date.UTC(2026, 0, 15, 12);
let backup = '';

async function seedWithBackup(): Promise<void> {
  backup = (await (await seed()).op('backup.create', {})).file;
}

async function restore(): Promise<void> {
  await close();
  expect((await home.command(['backup', 'restore', backup])).code).toBe(0);
  await open();
}

let server: ScriptedModel | null = null;
const lab = (baseUrl: string, apiKey?: string): ConfigInput => ({
  providers: { lab: { kind: 'openai-compatible', baseUrl, ...(apiKey === undefined ? {} : { apiKey }) } },
});

const faults: readonly Fault[] = [
  {
    name: 'a data folder others can read',
    id: 'permissions',
    quick: true,
    plant: async () => {
      await seed();
      chmodSync(home.path, 0o755);
    },
  },
  {
    name: 'an almost full disk',
    id: 'disk',
    quick: true,
    plant: () => open({}, { faults: { machine: { freeBytes: () => 1_000_000 } } }),
    mend: () => open({}, { faults: { machine: { freeBytes: () => 50_000_000_000 } } }),
  },
  {
    name: 'a search index that lost rows',
    id: 'search',
    quick: true,
    plant: async () => {
      await (await seed()).op('session.search', { query: 'hello' });
      await change('DELETE FROM session_text');
    },
  },
  {
    name: 'an index of the database that lacks rows',
    id: 'storage',
    plant: async () => {
      await seed();
      await change(
        'DROP INDEX artifact_uses_by_session; CREATE INDEX artifact_uses_by_session ON artifact_uses (session_id, use_id) WHERE 0',
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE INDEX artifact_uses_by_session ON artifact_uses (session_id, use_id)' WHERE name = 'artifact_uses_by_session'",
      );
    },
  },
  {
    name: 'an artifact whose file is gone',
    id: 'artifacts',
    quick: true,
    plant: async () => {
      await seed();
      rmSync(artifactFile());
    },
  },
  {
    name: 'an artifact that was changed',
    id: 'artifacts',
    quick: true,
    plant: async () => {
      await seed();
      const file = artifactFile();
      chmodSync(file, 0o600);
      writeFileSync(file, 'x'.repeat(statSync(file).size));
    },
  },
  {
    name: 'an event that was changed',
    id: 'chain',
    quick: true,
    plant: async () => {
      await seedWithBackup();
      await change("UPDATE events SET body = replace(body, 'hello there', 'goodbye now') WHERE type = 'user.message'");
    },
    mend: restore,
  },
  {
    name: 'an event that cannot be read',
    id: 'events',
    quick: true,
    plant: async () => {
      await seedWithBackup();
      await change("UPDATE events SET body = 'not json' WHERE type = 'plan.drafted' OR type = 'session.created'");
    },
    mend: restore,
  },
  {
    name: 'the address of a run that is over',
    id: 'instance',
    quick: true,
    plant: async () => {
      await seed();
      writeFileSync(join(home.path, 'instance.json'), JSON.stringify({ pid: 999_999_999, socketPath: '/gone', token: 't', version: '1' }), {
        mode: 0o600,
      });
    },
  },
  {
    name: 'a provider nobody answers for',
    id: 'provider.lab',
    quick: true,
    plant: () => open(lab('http://127.0.0.1:9/v1')),
    mend: async () => {
      server = await ScriptedModel.start();
      await open(lab(`${server.origin}/v1`));
    },
  },
  {
    name: 'a key that is not in the environment',
    id: 'provider.lab',
    quick: true,
    plant: async () => {
      server = await ScriptedModel.start();
      await open(lab(`${server.origin}/v1`, 'env:NO_SUCH_KEY_AT_ALL'));
    },
    mend: async () => {
      home.env['NO_SUCH_KEY_AT_ALL'] = 'sk-a-key-of-a-test';
      await open(lab(`${server?.origin ?? ''}/v1`, 'env:NO_SUCH_KEY_AT_ALL'));
    },
  },
  {
    name: 'a secret the vault does not know',
    id: 'provider.lab',
    quick: true,
    plant: async () => {
      server = await ScriptedModel.start();
      const running = await open({ ...lab(`${server.origin}/v1`, 'keychain:lab-key'), secrets: { store: 'vault' } });
      await running.op('secret.unlock', { passphrase: 'a long passphrase' });
    },
    mend: () => opened().op('secret.set', { name: 'lab-key', value: 'sk-a-key-of-a-test' }),
  },
  {
    name: 'a damaged vault',
    id: 'secrets',
    quick: true,
    plant: async () => {
      await open({ secrets: { store: 'vault' } });
      writeFileSync(join(home.path, 'secrets.vault'), '{"half":', { mode: 0o600 });
    },
    mend: async () => {
      rmSync(join(home.path, 'secrets.vault'));
      await opened().op('secret.unlock', { passphrase: 'a long passphrase' });
    },
  },
  {
    name: 'a sandbox that must be there and is not',
    id: 'sandbox',
    quick: true,
    plant: () => open({ sandbox: { mode: 'required' } }, { environment: { PATH: '/nowhere' } }),
    mend: () => open({ sandbox: { mode: 'auto' } }, { environment: { PATH: '/nowhere' } }),
  },
  {
    name: 'programs that are not in PATH',
    id: 'programs',
    quick: true,
    plant: () => open({}, { environment: { PATH: '/nowhere' } }),
    mend: () => open(),
  },
  {
    name: 'a turn that failed for good',
    id: 'dead-letters',
    quick: true,
    plant: async () => {
      server = await ScriptedModel.start([{ answer: { refuse: 'unauthorized' } }]);
      // With a window or a terminal the person sees the failure anyway and is only reminded.
      const channel = new LoopbackChannel({});
      const running = await open({ ...server.config('openai') }, { channels: [channel] });
      channel.write('hello');
      await until(async () => (await running.op('dlq.list', {})).letters.length === 1, 'it is captured');
    },
    mend: () => opened().op('dlq.clear', {}),
  },
  {
    name: 'a message of which nobody knows whether it arrived',
    id: 'outbox',
    quick: true,
    plant: async () => {
      const channel = new LoopbackChannel({ send: () => ({ kind: 'unknown', reason: 'The line went dead.' }) });
      const running = await open({}, { channels: [channel] });
      channel.write('hello');
      await until(async () => (await running.op('outbox.list', { state: 'uncertain' })).items.length === 1, 'it is uncertain');
    },
    mend: async () => {
      const [item] = (await opened().op('outbox.list', { state: 'uncertain' })).items;
      await opened().op('outbox.settle', { outboundId: item?.outboundId ?? '', answer: 'drop' });
    },
  },
  {
    name: 'a schedule whose time passed while nothing ran',
    id: 'schedules',
    quick: true,
    plant: async () => {
      const running = await open({}, { clock: new ManualClock(noon) });
      const spec = { kind: 'every' as const, everyMs: 3_600_000 };
      await running.op('schedule.create', { name: 'report', prompt: 'Report.', spec, missed: 'skip' });
      await open({}, { clock: new ManualClock(noon + 86_400_000 + 1_800_000) });
      await until(async () => ((await opened().op('schedule.list', {})).schedules[0]?.last.length ?? 0) > 0, 'it is noted');
    },
    mend: async () => {
      const [schedule] = (await opened().op('schedule.list', {})).schedules;
      await opened().op('schedule.run', { scheduleId: schedule?.scheduleId ?? '' });
    },
  },
  {
    name: 'a heartbeat that reports to a chat nobody knows',
    id: 'heartbeat',
    quick: true,
    plant: () => open({ heartbeat: { deliver: 'loopback:7' } }),
    mend: async () => {
      const channel = new LoopbackChannel();
      await open({ heartbeat: { deliver: 'loopback:7' } }, { channels: [channel] });
      channel.pair('7', 'Ada');
    },
  },
  {
    name: 'a clock that was set back',
    id: 'clock',
    quick: true,
    plant: async () => {
      const running = await open({}, { clock: new ManualClock(noon) });
      await running.ask('hello');
      await open({}, { clock: new ManualClock(noon - 86_400_000) });
    },
    mend: () => open({}, { clock: new ManualClock(noon + 60_000) }),
  },
  {
    name: 'what an interrupted backup left',
    id: 'leftovers',
    quick: true,
    plant: async () => {
      await seed();
      const file = join(home.path, 'backups', 'trayclaw-2026-01-01T00-00-00.000Z.db.part');
      mkdirSync(join(home.path, 'backups'), { recursive: true });
      writeFileSync(file, 'half');
      utimesSync(file, new Date(noon), new Date(noon));
    },
  },
  {
    name: 'a backup of long ago',
    id: 'backups',
    quick: true,
    plant: async () => {
      await seedWithBackup();
      utimesSync(backup, new Date(noon - 200 * 86_400_000), new Date(noon - 200 * 86_400_000));
    },
  },
  {
    name: 'settings that were broken while it runs',
    id: 'config',
    quick: true,
    plant: async () => {
      home.configure(plain);
      await close();
      claw = await home.open({ tools: [keep] });
      home.configure('models: [not, a, map');
    },
    mend: async () => home.configure(plain),
  },
  {
    name: 'the panic stop',
    id: 'panic',
    quick: true,
    plant: async () => (await open()).op('panic.engage', {}),
    mend: () => opened().op('panic.release', {}),
  },
];

function opened(): TrayClaw {
  if (claw === null) throw new Error('nothing is open');
  return claw;
}

test('a healthy folder has no findings, in the quick and the full check', async () => {
  await seed();
  for (const full of [false, true]) expect((await look(full)).filter(({ ok }) => !ok)).toEqual([]);
  const ids = (await look()).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(faults.map(({ id }) => id).filter((id) => !/^(provider\.|config)/.test(id))));
});

test.each(faults)('$name is found and fixed', { timeout: 30_000 }, async ({ id, plant, mend, quick }) => {
  await plant();
  const found = (await look()).find((check) => check.id === id);
  expect(found).toMatchObject({ ok: false, fix: expect.any(String), detail: expect.any(String) });
  expect([found?.fix === '', found?.detail === '']).toEqual([false, false]);
  if (quick === true) expect((await look(false)).find((check) => check.id === id)).toMatchObject({ ok: false });
  const running = claw ?? (await open());
  if (mend === undefined) {
    const preview = await running.op('health.fix', { checkId: id });
    expect([preview.did, preview.will.length > 0]).toEqual([[], true]);
    expect((await look()).find((check) => check.id === id)).toMatchObject({ ok: false, repair: { will: preview.will } });
    const fixed = await running.op('health.fix', { checkId: id, run: true });
    expect([fixed.did.length > 0, fixed.check?.ok]).toEqual([true, true]);
  } else {
    await expect(running.op('health.fix', { checkId: id })).rejects.toMatchObject({ code: 'conflict' });
    await mend();
  }
  expect((await look()).find((check) => check.id === id)).toMatchObject({ ok: true });
});
