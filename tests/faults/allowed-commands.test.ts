// Commands that config.yaml allows by name, through the built gate: an ordinary one runs without approval; in a repository whose settings
// run code, the same command needs approval and runs nothing.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { allowedByCorpus, readCorpus } from '../fuzz/fuzz-commands.ts';
import { TestHome } from './test-home.ts';

const home = { now: new TestHome() };
beforeEach(() => {
  home.now = new TestHome();
  mkdirSync(home.now.workspace, { recursive: true });
  execFileSync('git', ['init', '-q'], { cwd: home.now.workspace });
});
afterEach(() => home.now.dispose());

type Policy = NonNullable<ConfigInput['policy']>;
const ways: readonly (readonly [string, (words: string) => Policy])[] = [
  ['policy.allowCommands', (words) => ({ allowCommands: [words] })],
  ['a rule', (words) => ({ rules: [{ when: { commands: [words] }, then: 'allow' }] })],
  ['both', (words) => ({ allowCommands: [words], rules: [{ when: { commands: [words], tools: ['exec'] }, then: 'allow' }] })],
];
/** Each makes the command run `touch PWNED` if it runs at all. */
const hostile: readonly (readonly [string, (workspace: string, mark: string) => void])[] = [
  ['git status', (cwd, mark) => execFileSync('git', ['config', 'core.fsmonitor', `touch ${mark};false`], { cwd })],
  ['git status -s', (cwd, mark) => execFileSync('git', ['config', 'core.fsmonitor', `touch ${mark};false`], { cwd })],
  ['git diff', (cwd, mark) => execFileSync('git', ['config', 'diff.external', `sh -c "touch ${mark}"`], { cwd })],
  ['env git status', (cwd, mark) => execFileSync('git', ['config', 'core.fsmonitor', `touch ${mark};false`], { cwd })],
  ['sh -c "git status"', (cwd, mark) => execFileSync('git', ['config', 'core.fsmonitor', `touch ${mark};false`], { cwd })],
  ['./tool', (cwd, mark) => writeFileSync(join(cwd, 'tool'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })],
];

const open = (policy: Policy) => home.now.open({ config: { models: { default: 'demo/offline' }, policy } });

test.each(ways.flatMap(([way, policy]) => hostile.map(([line, prepare]) => ({ way, policy, line, prepare }))))(
  '$line, allowed by $way, runs no code of a hostile repository',
  async ({ policy, line, prepare }) => {
    const { workspace } = home.now;
    const mark = join(workspace, 'PWNED');
    prepare(workspace, mark);
    const claw = await open(policy(line));
    const { outcome } = await claw.op('tool.run', { tool: 'exec', args: { command: line }, wait: false });
    expect({ outcome, ran: existsSync(mark) }).toEqual({ outcome: 'waiting', ran: false });
  },
);

test.each(ways)('a command allowed by %s runs in an ordinary repository', async (_way, policy) => {
  const claw = await open(policy('git status'));
  const { outcome } = await claw.op('tool.run', { tool: 'exec', args: { command: 'git status' }, wait: false });
  expect(outcome).toBe('ok');
});

test.each([
  ['nothing', []],
  ['the readers', allowedByCorpus],
])('with %s allowed, exactly the hostile lines of the corpus need approval', async (_what, allowCommands) => {
  const { workspace } = home.now;
  mkdirSync(join(workspace, 'src'));
  mkdirSync(join(workspace, 'my folder'));
  for (const name of ['README.md', 'notes.txt', 'one.txt']) writeFileSync(join(workspace, name), 'TODO 日本語 name\n');
  writeFileSync(join(workspace, 'package.json'), JSON.stringify({ name: 'x', scripts: { test: 'echo ok' } }));
  const claw = await open({ allowCommands: [...allowCommands] });
  const needsList = new Set(allowCommands.length === 0 ? ['npm'] : []);
  const wrong: string[] = [];
  for (const { cmd, expect: wanted } of readCorpus()) {
    const { decision } = await claw.op('policy.explain', { tool: 'exec', args: { command: cmd } });
    const isFree = wanted === 'allow' && !needsList.has(cmd.split(' ')[0] ?? '');
    if ((decision === 'allow') !== isFree) wrong.push(`${decision}: ${cmd}`);
  }
  expect(wrong).toEqual([]);
});
