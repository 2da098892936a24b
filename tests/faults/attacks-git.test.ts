// Nothing that the agent creates without approval makes git run code when a person later looks at a folder: stories through the built gate,
// each with a control without confinement in which the person's git does run it.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GitRig } from './attacks/git-rig.ts';
import { gitStories, writeStories } from './attacks/git-stories.ts';
import { TestHome } from './test-home.ts';
import { needs } from '../needs.ts';

const outside = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-attack-')));
const folder = (name: string): string => realpathSync(mkdtempSync(join(outside, `${name}-`)));
const home = new TestHome();
afterAll(async () => {
  await home.dispose();
  rmSync(outside, { recursive: true, force: true });
});

const free = new GitRig(join(outside, 'free'), folder('free'));
beforeAll(() => {
  for (const [index, story] of gitStories.entries()) free.prepare(story, index);
  free.runFree(free.script(gitStories, 'plant'));
  free.runFree(free.script(gitStories, 'then'));
}, 60_000);

test.each(gitStories.map((story, index) => ({ story, index, name: story.name })))(
  'control: without a wall, $name runs',
  ({ story, index }) => {
    expect(free.personLooks(story, index)).toBe(true);
  },
);

test('git runs nothing that a confined command created', { ...needs('bubblewrap'), timeout: 60_000 }, async () => {
  const rig = new GitRig(home.workspace, folder('confined'));
  for (const [index, story] of gitStories.entries()) rig.prepare(story, index);
  writeFileSync(join(home.workspace, 'one.sh'), rig.script(gitStories, 'plant'));
  writeFileSync(join(home.workspace, 'two.sh'), rig.script(gitStories, 'then'));
  const claw = await home.open({
    config: { models: { default: 'demo/offline' }, policy: { allowCommands: ['sh one.sh', 'sh two.sh'] } },
  });
  for (const command of ['sh one.sh', 'sh two.sh']) {
    const run = await claw.op('tool.run', { tool: 'exec', args: { command }, wait: false });
    // The command did run, and its traces are reported.
    expect(run.outcome).not.toBe('waiting');
    expect(run.forModel).toContain('moved to');
  }
  expect(gitStories.filter((story, index) => rig.personLooks(story, index)).map(({ name }) => name)).toEqual([]);
});

test('no write that makes git run code goes unasked, and each of these stories is live', async () => {
  const freeHome = new TestHome();
  const rig = new GitRig(freeHome.workspace, folder('writes'));
  const control = new GitRig(join(outside, 'written'), folder('written'));
  const claw = await freeHome.open({ config: { models: { default: 'demo/offline' }, policy: { mode: 'workspace-free' } } });
  const unasked: string[] = [];
  const dead: string[] = [];
  try {
    for (const [index, story] of writeStories.entries()) {
      rig.prepare(story, index);
      control.prepare(story, index);
      let asked = false;
      for (const [path, content] of story.writes) {
        control.write(join(control.folderOf(index), path), control.text(content, index));
        const args = { path: `s${index}/${path}`, content: rig.text(content, index) };
        const { outcome } = await claw.op('tool.run', { tool: 'write_file', args, wait: false });
        asked ||= outcome === 'waiting';
      }
      if (!asked || rig.personLooks(story, index)) unasked.push(story.name);
      if (!control.personLooks(story, index)) dead.push(story.name);
    }
    // Files that do not affect git need no additional approvals.
    const plain = await claw.op('tool.run', { tool: 'write_file', args: { path: 's0/src/config', content: 'x' }, wait: false });
    expect({ unasked, dead, plain: plain.outcome }).toEqual({ unasked: [], dead: [], plain: 'ok' });
  } finally {
    await freeHome.dispose();
  }
}, 60_000);
