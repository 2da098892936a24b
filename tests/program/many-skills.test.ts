// Many installed skills, with counted file reads: a start and a turn read none of their files, a check of the folders reads only changed
// ones, and trust depends on the content, whatever a file's times are.

import * as fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../core/base/clock.ts';
import type { TrayClaw } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const SKILLS = 40;
/** A recently changed file is read again, because it may change once more within the same clock tick. */
const later: Clock = { nowMs: () => systemClock.nowMs() + 60_000, monotonicMs: () => 0 };

let home: TestHome;
let model: ScriptedModel;
const restores: (() => void)[] = [];

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start();
  home.configure(model.config('openai'));
  const claw = await open();
  for (let at = 0; at < SKILLS; at++) {
    const folder = join(home.project('made'), `skill-${at}`);
    fs.mkdirSync(folder);
    const head = `name: skill-${at}\ndescription: Waters the plants of garden${at} every day.`;
    fs.writeFileSync(join(folder, 'SKILL.md'), `---\n${head}\n---\n\n# Garden\n\nWater them.\n`);
    fs.writeFileSync(join(folder, 'more.txt'), `Plants of garden ${at}.\n`);
  }
  const { planId } = await claw.op('skill.plan', { wants: [home.project('made')] });
  await claw.op('skill.install', { planId: planId ?? '' });
  await claw.op('skill.list', {});
  await home.close(claw);
});

afterEach(async () => {
  for (const restore of restores.splice(0)) restore();
  await home.dispose();
  await model.close();
});

const open = (): Promise<TrayClaw> => home.open({ clock: later });
const placed = (name: string, file: string): string => join(home.workspace, 'skills', name, file);

interface Counted {
  readonly read: string[];
  readonly statements: string[];
}

/** Starts counting reads of skill files and statements about skills. */
function count(): Counted {
  const counted: Counted = { read: [], statements: [] };
  const real = createRequire(import.meta.url)('node:fs') as typeof fs;
  for (const name of ['readFileSync', 'openSync'] as const) {
    const was = real[name] as (...args: unknown[]) => unknown;
    Object.assign(real, {
      [name]: (...args: unknown[]): unknown => {
        const path = String(args[0]);
        if (path.startsWith(join(home.workspace, 'skills'))) counted.read.push(path);
        return was.apply(real, args);
      },
    });
    restores.push(() => {
      Object.assign(real, { [name]: was });
      syncBuiltinESMExports();
    });
  }
  syncBuiltinESMExports();
  const database = new Database(':memory:');
  const prototype = Object.getPrototypeOf(database.prepare('SELECT 1')) as Record<string, unknown>;
  database.close();
  for (const name of ['run', 'get', 'all', 'iterate']) {
    const was = prototype[name] as (...args: unknown[]) => unknown;
    prototype[name] = function (this: Database.Statement, ...args: unknown[]): unknown {
      if (this.source.includes('skill_')) counted.statements.push(this.source);
      return was.apply(this, args);
    };
    restores.push(() => {
      prototype[name] = was;
    });
  }
  return counted;
}

const own = async (claw: TrayClaw) => (await claw.op('skill.list', {})).skills.filter(({ origin }) => origin === 'workspace');

test('a start with many skills reads none of their files and queries them once', async () => {
  const counted = count();
  const claw = await open();
  expect(counted).toMatchObject({ read: [] });
  const skills = await own(claw);
  expect(skills.filter(({ trust, isOffered }) => trust === 'content' && isOffered)).toHaveLength(SKILLS);
  expect(counted.read).toEqual([]);
  expect(counted.statements.filter((sql) => sql.includes('skill_reads'))).toHaveLength(1);
  expect(counted.statements.length).toBeLessThan(6);
});

test('a turn with many skills reads none of their files and queries nothing', async () => {
  model.script([{ answer: { text: 'Done.' } }, { answer: { text: 'Done.' } }]);
  const claw = await open();
  const { sessionId } = await claw.ask('Good morning');
  const counted = count();
  const { turnId } = await claw.op('message.send', { text: 'What about the plants of garden17 today?', sessionId });
  expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done' });
  expect(counted).toEqual({ read: [], statements: [] });
  const { events } = await claw.op('session.get', { sessionId, limit: 1000 });
  const fits: unknown = expect.objectContaining({ name: 'skill-17' });
  expect(events.findLast(({ type }) => type === 'skill.selected')).toMatchObject({
    body: { skills: expect.arrayContaining([fits]) as unknown },
  });
});

test('a check of the folders reads only the changed skill', async () => {
  const claw = await open();
  await own(claw);
  fs.writeFileSync(placed('skill-7', 'more.txt'), 'Other plants.\n');
  const counted = count();
  await claw.op('skill.reload', {});
  const changed = (await own(claw)).filter(({ trust }) => trust !== 'content');
  expect(changed.map(({ name, trust }) => [name, trust])).toEqual([['skill-7', 'changed']]);
  expect([...new Set(counted.read)].sort()).toEqual([placed('skill-7', 'SKILL.md'), placed('skill-7', 'more.txt')]);
});

test('installing one more skill reads no files of the others', async () => {
  const claw = await open();
  await own(claw);
  const folder = join(home.project('another'), 'tomatoes');
  fs.mkdirSync(folder);
  fs.writeFileSync(join(folder, 'SKILL.md'), '---\nname: tomatoes\ndescription: Grows tomatoes on a balcony.\n---\n\nGrow them.\n');
  const counted = count();
  const { planId } = await claw.op('skill.plan', { wants: [folder] });
  await claw.op('skill.install', { planId: planId ?? '' });
  expect(await own(claw)).toHaveLength(SKILLS + 1);
  expect(counted.read.filter((path) => !path.includes('tomatoes') && path !== join(home.workspace, 'skills'))).toEqual([]);
});
