// Malicious packages: none writes outside its folder, none runs anything, and none can be installed before its problems were shown.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toAppError } from '../../core/contracts/errors.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';
import { maliciousSkills } from './malicious-skills.ts';

const home = new TestHome();
let claw: TrayClaw;
let root: string;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-malicious-')));
  claw = await home.open({});
});
afterAll(async () => {
  await home.dispose();
  rmSync(root, { recursive: true, force: true });
});

test('the set has more than eighty attacks, each different', () => {
  expect(maliciousSkills.length).toBeGreaterThanOrEqual(80);
  expect(new Set(maliciousSkills.map(({ what }) => what)).size).toBeGreaterThanOrEqual(maliciousSkills.length - 2);
});

test.each(maliciousSkills.map((one, at) => ({ ...one, at })))('$at $what: $shows', async ({ make, shows, at }) => {
  const folder = join(root, `case-${at}`);
  mkdirSync(folder);
  const wants = [make(folder)];
  const before = readdirSync(folder, { recursive: true });
  const plan = await claw.op('skill.plan', { wants }).catch((cause: unknown) => toAppError(cause));
  if (plan instanceof Error) expect([shows, plan.code, plan.message]).toEqual(['refused', 'denied', expect.stringContaining('refused')]);
  else {
    const rules = plan.skills.flatMap(({ risks }) => risks.filter(({ level }) => level !== 'note').map(({ rule }) => rule));
    expect(rules).toContain(shows);
    const [first] = plan.skills.flatMap(({ risks }) => risks).filter(({ rule }) => rule === shows);
    const install = claw.op('skill.install', { planId: plan.planId ?? '' });
    if (first?.level === 'danger') await expect(install).rejects.toMatchObject({ code: 'denied' });
    else await install.catch(() => undefined);
  }
  expect(readdirSync(folder, { recursive: true })).toEqual(before);
});

test('nothing was written outside the skills folder, and nothing was run', () => {
  const outside = ['outside.md', 'CANARY', 'x'].flatMap((name) =>
    [root, join(root, '..'), home.workspace, home.path, process.cwd()].map((at) => join(at, name)),
  );
  expect(outside.filter((path) => existsSync(path))).toEqual([]);
  expect(existsSync('/tmp/outside.md')).toBe(false);
  const there = existsSync(join(home.workspace, 'skills')) ? readdirSync(join(home.workspace, 'skills')) : [];
  expect(there.filter((name) => !['helper', 'csv-sumary'].includes(name))).toEqual([]);
});
