// Kills while skills are installed and updated, by real processes that kill themselves at each call that changes a file: the next start
// finds everything old or everything new, never a mixture, and the next installation works. A few in every run, two hundred in the long
// one.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { compileCache } from '../compile-cache.ts';
import { onBuiltCore } from '../program-file.ts';
import { soak } from '../soak.ts';
import { TestHome } from './test-home.ts';

const KILLS = soak(2, 200);
const childFile = fileURLToPath(new URL('install-crash-child.ts', import.meta.url));
type State = 'none' | 'old' | 'new';

interface Ended {
  readonly wasKilled: boolean;
  readonly calls: number;
}

/** `which` is the side of the call, and optionally the only calls that count. */
function run(home: string, market: string, nth: number, ...which: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [...onBuiltCore, childFile, home, market, String(nth), ...which], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...compileCache },
  });
  let [out, problem] = ['', ''];
  child.stdout.on('data', (part) => (out += String(part)));
  child.stderr.on('data', (part) => (problem += String(part)));
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      if (signal === null && code !== 0) reject(new Error(problem.slice(-2_000)));
      else resolve({ wasKilled: signal === 'SIGKILL', calls: Number(out.trim().split('\n').at(-1)) });
    });
  });
}

/** Publishes two skills of this version in a market; the first needs the second. */
async function publish(from: TestHome, market: string, version: string): Promise<void> {
  const claw = await from.open({});
  for (const [name, needs] of [
    ['notes', ''],
    ['digest', '  trayclaw-requires: "notes >=1.0.0"\n'],
  ] as const) {
    // prettier-ignore
    const folder = join(from.workspace, 'made', name);
    mkdirSync(folder, { recursive: true });
    const head = `name: ${name}\ndescription: Does the work of ${name}.\nmetadata:\n  version: "${version}"\n${needs}`;
    writeFileSync(join(folder, 'SKILL.md'), `---\n${head}---\n\n# ${name}\n\nVersion ${version}.\n`);
    writeFileSync(join(folder, 'more.txt'), `More of ${version}.\n`);
    await claw.op('skill.publish', { path: folder, to: market });
  }
  await from.close(claw);
}

/** The skills after a start, by files, lock and trust; throws if these disagree, or if anything is left over. */
async function stateOf(home: TestHome): Promise<State> {
  const claw = await home.open({});
  const skills = (await claw.op('skill.list', {})).skills.filter(({ origin }) => origin === 'workspace');
  const found = skills.map(({ name, version, trust }) => `${name} ${version ?? ''} ${trust}`).sort();
  const locked = await Promise.all(skills.map(({ name }) => claw.op('skill.info', { name })));
  await home.close(claw);
  const folder = join(home.workspace, 'skills');
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).sort() : [];
  if (found.length === 0) {
    expect(files).toEqual([]);
    return 'none';
  }
  const version = skills[0]?.version ?? '';
  expect(found).toEqual([`digest ${version} content`, `notes ${version} content`]);
  expect(files).toEqual(['digest', 'digest/SKILL.md', 'digest/more.txt', 'notes', 'notes/SKILL.md', 'notes/more.txt']);
  expect(locked.map(({ state, lock }) => `${state} ${lock?.version ?? ''}`)).toEqual(Array(2).fill(`as-installed ${version}`));
  for (const name of ['digest', 'notes']) expect(readFileSync(join(folder, name, 'more.txt'), 'utf8')).toBe(`More of ${version}.\n`);
  return version === '1.0.0' ? 'old' : 'new';
}

test(`${KILLS} kills during install and update leave the old or the new`, { timeout: 60_000 + KILLS * 30_000 }, async () => {
  const homes = [new TestHome(), new TestHome()] as const;
  onTestFinished(async () => void (await Promise.all(homes.map((home) => home.dispose()))));
  const [author, home] = homes;
  const [v1, v2] = [author.project('v1'), author.project('v2')];
  await publish(author, v1, '1.0.0');
  cpSync(v1, v2, { recursive: true });
  await publish(author, v2, '2.0.0');
  // Trust is bound to the path of the files, so each run uses the same folder.
  const keep = (name: string): string => {
    const kept = home.project(name);
    cpSync(home.path, kept, { recursive: true });
    return kept;
  };
  const empty = keep('empty');
  const install = await run(home.path, v1, 0, 'before');
  expect(await stateOf(home)).toBe('old');
  const old = keep('old');
  const update = await run(home.path, v2, 0, 'before');
  expect(await stateOf(home)).toBe('new');
  const points = [
    ...Array.from({ length: install.calls }, (_, at) => ({ from: empty, market: v1, nth: at + 1, ends: ['none', 'old'] })),
    ...Array.from({ length: update.calls }, (_, at) => ({ from: old, market: v2, nth: at + 1, ends: ['old', 'new'] })),
  ].flatMap((point) => ['before', 'after'].map((side) => ({ ...point, side })));
  const seen: Record<string, number> = {};
  for (let kill = 0; kill < KILLS; kill++) {
    const point = points[Math.floor(((kill + 0.5) / KILLS) * points.length)];
    if (point === undefined) throw new Error('no point');
    rmSync(home.path, { recursive: true });
    cpSync(point.from, home.path, { recursive: true });
    expect({ point, ...(await run(home.path, point.market, point.nth, point.side)) }).toMatchObject({ wasKilled: true });
    const state = await stateOf(home);
    expect({ point, state, isOne: point.ends.includes(state) }).toMatchObject({ isOne: true });
    const what = `${point.ends.join(' to ')}: ${state}`;
    seen[what] = (seen[what] ?? 0) + 1;
    await run(home.path, point.market, 0, 'before');
    expect(await stateOf(home)).toBe(point.ends[1]);
  }
  if (KILLS > 10) process.stdout.write(`${JSON.stringify({ kills: KILLS, points: points.length, seen })}\n`);
});

test('a program that resumes nothing takes back a cut-off installation before it plans the next', async () => {
  const [author, home] = [new TestHome(), new TestHome()] as const;
  onTestFinished(async () => void (await Promise.all([author.dispose(), home.dispose()])));
  const market = author.project('market');
  await publish(author, market, '1.0.0');
  expect(await run(home.path, market, 2, 'after', 'renameSync')).toMatchObject({ wasKilled: true });
  expect(readdirSync(join(home.workspace, 'skills')).sort()).toEqual(['digest', 'notes']);
  const claw = await home.open({ resume: false, config: { skills: { markets: [{ name: 'team', url: market }] } } });
  const { isDangerous, skills } = await claw.op('skill.plan', { wants: ['digest', 'notes'] });
  expect([isDangerous, skills.map(({ name, installed }) => [name, installed])]).toEqual([
    false,
    [
      ['notes', null],
      ['digest', null],
    ],
  ]);
  expect(readdirSync(join(home.workspace, 'skills'))).toEqual([]);
});
