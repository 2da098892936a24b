// Undo of commands that name their files by a pattern, by a link or by a folder: what they removed comes back, what they made goes away.

import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestHome } from './test-home.ts';

/** Each entry below a folder with its kind, its permissions and its content. */
function snapshot(folder: string, prefix = ''): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o777).toString(8);
      if (stat.isSymbolicLink()) return [[prefix + name, `-> ${readlinkSync(path)}`]];
      if (!stat.isDirectory()) return [[prefix + name, `${mode} ${readFileSync(path, 'utf8')}`]];
      return [[`${prefix}${name}/`, mode], ...Object.entries(snapshot(path, `${prefix}${name}/`))];
    }),
  );
}

test('a command is undone that names files by a pattern, by links or by whole folders', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const inside = (name: string): string => join(home.workspace, name);
  mkdirSync(inside('folder/below'), { recursive: true });
  for (const name of ['a.sh', 'b (1).sh', 'keep.txt', 'folder/c.sh', 'folder/below/d', 'x1.log', 'x2.log'])
    writeFileSync(inside(name), name);
  chmodSync(inside('a.sh'), 0o750);
  chmodSync(inside('folder/below'), 0o700);
  symlinkSync('a.sh', inside('link'));
  symlinkSync('nowhere', inside('dangling'));
  symlinkSync('folder', inside('to-folder'));
  const before = snapshot(home.workspace);
  const claw = await home.open({ config: { models: { default: 'demo/offline' } } });
  const lines = [
    'rm *.sh',
    'rm folder/?.sh',
    'rm -r f*',
    'rm */?.sh folder/*/d',
    'rm {a,keep}.* x[0-9].log',
    'rm -r {folder/below,x{1,2}.log}',
    'mv folder moved',
    'cp -r folder copy',
    'rm link dangling to-folder',
    'ln -sfn keep.txt link',
    'rm to-folder/c.sh',
    'mkdir -p new && cp -r folder new/folder',
  ];
  for (const command of lines) {
    const { callId, pending } = await claw.op('tool.run', { tool: 'exec', args: { command }, wait: false });
    for (const { approvalId } of pending ?? []) await claw.op('approval.decide', { approvalId, decision: 'approve' });
    await expect
      .poll(async () => (await claw.op('checkpoint.list', { limit: 1 })).checkpoints[0], { timeout: 20_000 })
      .toMatchObject({ callId, closed: true });
    expect({ command, left: snapshot(home.workspace) }).not.toEqual({ command, left: before });
    const { refused } = await claw.op('checkpoint.restore', { callId });
    expect({ command, refused, left: snapshot(home.workspace) }).toEqual({ command, refused: [], left: before });
  }
  await home.close(claw);
});
