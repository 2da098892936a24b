// Importing: skills of the standard are copied, skills of the layers project converted, hashes checked, and nothing is imported partially.

import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import { hashLayersSkill } from './layers-shape.ts';
import { importSkills } from './skill-import.ts';
import { SkillBench } from '../../../tests/rigs/core/features/skills/skill-bench.ts';

let bench: SkillBench;

beforeEach(() => {
  bench = new SkillBench();
});

afterEach(() => bench.dispose());

const run = (from: string, more: { sha256?: string; replace?: boolean } = {}) =>
  importSkills({ from: bench.at(from), into: bench.at('workspace'), sha256: more.sha256 ?? null, replace: more.replace ?? false });

const codeOf = (act: () => unknown): string => {
  try {
    act();
    return 'none';
  } catch (cause) {
    return cause instanceof AppError ? cause.code : String(cause);
  }
};

const layers = `# error_budget

## Version
1.2.0

## Status
deprecated

## Deprecation
Replaced by: slo_report
Remove after: 2026-12-31

## Requires
- capacity_planner >= 1.0.0

## What it does
Works out how much of the error budget is left.

## When to use it
When somebody asks about an SLO.
`;

test('a skill is copied completely, and copying does not make it trusted', () => {
  bench.skill('incoming/alpha');
  bench.write('incoming/alpha/scripts/run.sh', 'echo');
  bench.write('incoming/alpha/.git/config', 'x');
  const { imported } = run('incoming');
  expect(imported).toMatchObject([{ name: 'alpha', path: bench.at('workspace/alpha'), converted: false, findings: [] }]);
  expect(existsSync(bench.at('workspace/alpha/.git'))).toBe(false);
  expect(bench.book.get('alpha')).toMatchObject({ trust: 'none', sha256: imported[0]?.sha256, files: [{ path: 'scripts/run.sh' }] });
});

test('a layers skill is converted with its script and status; other files stay out', () => {
  bench.write('incoming/error_budget/SKILL.md', layers);
  bench.write('incoming/error_budget/skill.py', 'async def error_budget(arg: str, ctx=None) -> str:\n    return arg\n');
  bench.write('incoming/error_budget/policy.yaml', 'network: {egress: []}\n');
  bench.write('incoming/error_budget/extra.py', 'print("not covered by the hash")\n');
  const { imported } = run('incoming');
  expect(imported).toMatchObject([{ name: 'error-budget', converted: true }]);
  expect(imported[0]?.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(bench.book.get('error-budget')).toMatchObject({
    version: '1.2.0',
    status: 'deprecated',
    replacedBy: 'slo-report',
    removeAfter: '2026-12-31',
    description: 'Works out how much of the error budget is left. When somebody asks about an SLO.',
    files: [{ path: 'references/policy.yaml' }, { path: 'scripts/skill.py' }],
  });
  expect(bench.book.get('error-budget').body).toContain('skill.error_budget(sys.argv[1])');
  expect(bench.book.get('error-budget').requirements).toContainEqual({ kind: 'skill', name: 'capacity-planner', isMet: false, hint: null });
});

test('the published hash of a layers skill is checked: name, zero, bytes, zero', () => {
  bench.write('incoming/a/SKILL.md', layers);
  const files = new Map([['SKILL.md', readFileSync(bench.at('incoming/a/SKILL.md'))]]);
  const sha256 = hashLayersSkill(files);
  expect(sha256).toBe('abd2f832b75319b94d40cd69c4a8e90e1b01a45f0af2122821b36f3b05d3d948');
  expect(codeOf(() => run('incoming/a', { sha256: '0'.repeat(64) }))).toBe('conflict');
  expect(existsSync(bench.at('workspace/error-budget'))).toBe(false);
  expect(run('incoming/a', { sha256 }).imported).toHaveLength(1);
});

test('an existing name stops the whole import; --replace replaces the skill completely', () => {
  bench.skill('incoming/alpha', { body: 'New.' });
  bench.skill('incoming/beta');
  bench.skill('workspace/alpha', { body: 'Old.' });
  bench.write('workspace/alpha/left.txt', 'x');
  expect(codeOf(() => run('incoming'))).toBe('conflict');
  expect(existsSync(bench.at('workspace/beta'))).toBe(false);
  expect(run('incoming', { replace: true }).imported.map(({ name }) => name)).toEqual(['alpha', 'beta']);
  expect(existsSync(bench.at('workspace/alpha/left.txt'))).toBe(false);
});

test('links, unreadable files and empty folders are reported differently', () => {
  bench.skill('incoming/alpha');
  bench.skill('incoming/linked');
  symlinkSync('/etc/hostname', bench.at('incoming/linked/passwd'));
  bench.write('incoming/broken/SKILL.md', 'nothing');
  const { imported, skipped } = run('incoming');
  expect(imported.map(({ name }) => name)).toEqual(['alpha']);
  expect(skipped.map(({ reason }) => reason)).toEqual(['It has no head.', 'It holds links to other places.']);
  expect(codeOf(() => run('person'))).toBe('not_found');
});
