// Kills during the operations that change much at once: undo, deletion of a session, compaction, the daily removal of old content, backups
// and the approval of a plugin. By a real process that kills itself at each write in turn. The next start finds the log intact and each
// operation done or not done; the same operation then works, once. A few kills in every run, one at each write in the long one.

import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import type { ScriptedModel } from '../doubles/scripted-model.ts';
import { isSoak, soak } from '../soak.ts';
import { eachTest } from './home-and-model.ts';
import { runAndKill, type CrashRun, type CrashWork } from './op-crash-rig.ts';
import type { TestHome } from './test-home.ts';

const KILLS = soak(2, 1_000);

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

interface Story {
  readonly work: CrashWork;
  readonly config: ConfigInput;
  /** Looks at the folder after the kill and the next start, does the operation again, and looks once more. */
  readonly check: (claw: TrayClaw, run: CrashRun) => Promise<unknown>;
  /** Looks once more at the start after that. */
  readonly later?: (claw: TrayClaw) => Promise<void>;
}

/** Runs the work in copies of the folder as it is now, killed at another write each time. */
async function killAtEachWrite({ work, config, check, later }: Story): Promise<void> {
  const template = `${home.path}-template`;
  const outside = home.project();
  cpSync(home.path, template, { recursive: true, preserveTimestamps: true });
  cpSync(outside, `${outside}-template`, { recursive: true, preserveTimestamps: true });
  const restore = (): void => {
    for (const folder of [home.path, outside]) {
      rmSync(folder, { recursive: true, force: true });
      cpSync(`${folder}-template`, folder, { recursive: true, preserveTimestamps: true });
    }
  };
  const { writes } = await runAndKill(home.path, { ...work, config }, { nth: 0, side: 'before' });
  expect(writes).toBeGreaterThan(1);
  const stride = Math.max(1, Math.floor((2 * writes) / KILLS));
  let kills = 0;
  for (let at = isSoak ? 0 : Math.floor(stride / 2); at < 2 * writes; at += stride) {
    const [nth, side] = [Math.floor(at / 2) + 1, at % 2 === 0 ? 'before' : 'after'] as const;
    restore();
    const killed = await runAndKill(home.path, { ...work, config }, { nth, side });
    if (killed.killed) kills += 1;
    try {
      const claw = await home.open({ config });
      expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
      await check(claw, killed);
      await home.close(claw);
      if (later === undefined) continue;
      const next = await home.open({ config });
      await later(next);
      await home.close(next);
    } catch (cause) {
      throw new Error(`killed ${side} write ${nth} of ${writes}: ${String(cause)}`, { cause });
    }
  }
  if (isSoak) process.stdout.write(`${kills} kills at ${writes} writes\n`);
  expect(kills).toBeGreaterThan(0);
}

const free = (): ConfigInput => ({ ...model.config('openai'), policy: { mode: 'workspace-free' } });
const limit = { timeout: isSoak ? 3_600_000 : 300_000 };
const file = (name: string): string => join(home.workspace, name);

test('undo: each file is as before or as after, and undoing again completes it', limit, async () => {
  model.script([
    {
      results: 0,
      answer: {
        calls: [
          { tool: 'edit_file', args: { path: 'a.md', old: 'one', new: '1' } },
          { tool: 'edit_file', args: { path: 'a.md', old: '1', new: 'first' } },
          { tool: 'write_file', args: { path: 'deep/er/b.md', content: 'b\n' } },
          { tool: 'append_file', args: { path: 'c.md', content: 'more\n' } },
        ],
      },
    },
    { answer: { text: 'Changed.' } },
  ]);
  const config = free();
  const claw = await home.open({ config });
  writeFileSync(file('a.md'), 'one\n');
  writeFileSync(file('c.md'), 'c\n');
  const { turnId, status } = await claw.ask('change them');
  expect(status).toBe('done');
  await home.close(claw);
  const read = (): (string | null)[] =>
    ['a.md', 'deep/er/b.md', 'c.md'].map((name) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : null));
  const before = ['one\n', null, 'c\n'];
  const after = ['first\n', 'b\n', 'c\nmore\n'];
  expect(read()).toEqual(after);
  let finished = 0;
  await killAtEachWrite({
    config,
    work: { ops: [{ op: 'checkpoint.restore', params: { turnId } }] },
    check: async (again, { done }) => {
      for (const [index, text] of read().entries()) expect([before[index], after[index]]).toContain(text);
      if (done.length > 0) expect(read()).toEqual(before);
      const isFinished = async () => (await again.op('health.check', {})).checks.find(({ id }) => id === 'undo')?.ok;
      // Every other time by the advice of the health check.
      if (!(await isFinished()) && (finished += 1) % 2 === 0) {
        const { planId } = await again.op('recovery.plan', { kind: 'finish-undo' });
        await again.op('recovery.run', { planId });
        expect([read(), await isFinished()]).toEqual([before, true]);
      }
      const result = await again.op('checkpoint.restore', { turnId });
      expect([result.refused, read(), await isFinished()]).toEqual([[], before, true]);
      // Folders are not compared: a copied one is no longer the one that the call made, so it stays.
      const names = readdirSync(home.workspace, { recursive: true }).map(String);
      expect(names.filter((name) => name.includes('trayclaw-undo'))).toEqual([]);
    },
  });
});

test('deletion of a session: it is there as a whole, or nothing of it is', limit, async () => {
  model.script([
    { results: 0, answer: { calls: [{ tool: 'exec', args: { command: 'seq 1 30000' } }] } },
    { answer: { text: 'The heliotrope is counted.' } },
  ]);
  const config = free();
  const claw = await home.open({ config });
  const { sessionId } = await claw.ask('count the heliotrope');
  model.script([{ answer: { text: 'It is kept.' } }]);
  await claw.ask('and keep the marigold', { sessionId: 'kept' });
  await home.close(claw);
  await killAtEachWrite({
    config,
    work: { ops: [{ op: 'session.delete', params: { sessionId } }] },
    check: async (again, { done }) => {
      const { sessions } = await again.op('session.list', {});
      const isThere = sessions.some((session) => session.sessionId === sessionId);
      if (done.length > 0) expect(isThere).toBe(false);
      const { hits } = await again.op('session.search', { query: 'heliotrope' });
      const exported = await again.op('session.export', { sessionId, format: 'markdown' }).then(
        ({ text }) => text,
        () => '',
      );
      expect([isThere, hits.length > 0, exported.includes('heliotrope is counted')]).toEqual([isThere, isThere, isThere]);
      if (isThere) await again.op('session.delete', { sessionId });
      expect((await again.op('session.search', { query: 'heliotrope' })).hits).toEqual([]);
      expect((await again.op('session.search', { query: 'marigold' })).hits.length).toBeGreaterThan(0);
    },
  });
});

test('compaction: one summary, and the conversation continues', limit, async () => {
  model.script([{ answer: { text: 'Noted, with some words about it that fill the line.' } }]);
  const config = free();
  const claw = await home.open({ config });
  for (let n = 1; n <= 6; n++) await claw.ask(`note number ${n} about the garden and its beds`, { sessionId: 'long' });
  await home.close(claw);
  await killAtEachWrite({
    config,
    work: { ops: [{ op: 'session.compact', params: { sessionId: 'long' } }] },
    check: async (again, { done }) => {
      const summaries = async (): Promise<string[]> =>
        (await again.op('session.get', { sessionId: 'long' })).events
          .filter(({ type }) => type.startsWith('summary.'))
          .map(({ type }) => type);
      if (done.length > 0) expect(await summaries()).toContain('summary.written');
      const written = (await summaries()).filter((type) => type === 'summary.written').length;
      const { summaryId } = await again.op('session.compact', { sessionId: 'long' });
      expect(written === 0 ? summaryId : null).toEqual(written === 0 ? expect.any(String) : null);
      expect((await summaries()).filter((type) => type === 'summary.written')).toHaveLength(1);
      expect((await again.ask('and the last one', { sessionId: 'long' })).status).toBe('done');
    },
  });
});

test('removal of old content: what a session refers to stays, the rest goes in the end', limit, async () => {
  model.script([{ results: 0, answer: { calls: [{ tool: 'exec', args: { command: 'seq 1 30000' } }] } }, { answer: { text: 'Counted.' } }]);
  const config: ConfigInput = { ...free(), retention: { artifactDays: 1, undoDays: 1 } };
  const claw = await home.open({ config });
  await claw.ask('count', { sessionId: 'kept' });
  model.script([{ results: 0, answer: { calls: [{ tool: 'exec', args: { command: 'seq 2 40000' } }] } }, { answer: { text: 'Counted.' } }]);
  const { sessionId } = await claw.ask('count more');
  await claw.op('session.delete', { sessionId });
  expect((await claw.op('artifact.list', {})).artifacts.length).toBeGreaterThan(0);
  await home.close(claw);
  const stored = (): string[] =>
    readdirSync(join(home.path, 'artifacts'), { recursive: true })
      .map(String)
      .filter((name) => /[0-9a-f]{60}/.test(name));
  expect(stored()).toHaveLength(2);
  await killAtEachWrite({
    config,
    work: { daysAhead: 40, restMs: 600 },
    check: async (again) => {
      const { artifacts } = await again.op('artifact.list', {});
      for (const { sha256 } of artifacts) expect((await again.op('artifact.get', { artifact: sha256 })).text ?? '').not.toBe('');
      expect(artifacts.length).toBeGreaterThan(0);
      const { checks } = await again.op('health.check', {});
      expect(checks.find(({ id }) => id === 'artifacts')).toMatchObject({ ok: true });
    },
  });
});

test('approval of a plugin: it is loaded or waits, and another approval loads it', limit, async () => {
  const plugin = join(home.project(), 'greeter.mjs');
  writeFileSync(plugin, "export const feature = { name: 'greeter', create: () => ({}) };\n");
  const config: ConfigInput = { models: { default: 'demo/offline' }, plugins: { files: [plugin] } };
  const claw = await home.open({ config });
  const [found] = (await claw.op('plugin.list', {})).plugins;
  await home.close(claw);
  const approval = { path: plugin, sha256: found?.sha256 ?? '' };
  const stateNow = async (of: TrayClaw) => (await of.op('plugin.list', {})).plugins[0]?.state;
  await killAtEachWrite({
    config,
    work: { ops: [{ op: 'plugin.approve', params: approval }] },
    check: async (again, { done }) => {
      if (done.length > 0) expect(await stateNow(again)).toBe('loaded');
      expect(['loaded', 'waiting']).toContain(await stateNow(again));
      await again.op('plugin.approve', approval);
    },
    later: async (next) => expect(await stateNow(next)).toBe('loaded'),
  });
});

test('a backup: the list has only whole ones', limit, async () => {
  const config: ConfigInput = { models: { default: 'demo/offline' } };
  const claw = await home.open({ config });
  await claw.ask('hello', { sessionId: 'kept' });
  await home.close(claw);
  await killAtEachWrite({
    config,
    work: { ops: [{ op: 'backup.create', params: {} }] },
    check: async (again, { done }) => {
      const { backups } = await again.op('backup.list', {});
      if (done.length > 0) expect(backups).toHaveLength(1);
      for (const backup of backups) expect(await again.op('backup.verify', { file: backup.file })).toMatchObject({ ok: true });
      await again.op('backup.create', {});
    },
  });
});
