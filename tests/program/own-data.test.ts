// TrayClaw's own data folder in the whole program: the tools classify a path, the gate refuses it, and neither depends on the other.

import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTrayClaw } from '../../core/index.ts';

test('no tool may read or write TrayClaw’s data, even with approval', async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-own-'));
  const claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' } } });
  try {
    const write = (path: string) => claw.op('policy.explain', { tool: 'write_file', args: { path, content: 'x' } });
    const ruled = async (path: string) => {
      const { decision, ruleId } = await write(path);
      return [decision, ruleId];
    };
    expect(await ruled(join(home, 'config.yaml'))).toEqual(['deny', 'path.own-data']);
    expect(await ruled('../trayclaw.db')).toEqual(['deny', 'path.own-data']);
    expect(await ruled('notes.md')).toEqual(['ask', 'ask.write']);

    const reads: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
      ['read_file', { path: join(home, 'instance.json') }],
      ['read_file', { path: '../trayclaw.db' }],
      ['read_file', { path: 'link' }],
      ['list_dir', { path: home }],
      ['grep', { pattern: 'token', path: join(home, 'run') }],
      ['glob', { pattern: '*', path: '..' }],
    ];
    symlinkSync('../instance.json', join(home, 'workspace', 'link'));
    for (const [tool, args] of reads) {
      const { decision, ruleId } = await claw.op('policy.explain', { tool, args });
      expect([tool, decision, ruleId]).toEqual([tool, 'deny', 'path.own-data']);
    }
    expect(await claw.op('policy.explain', { tool: 'list_dir', args: { path: '.' } })).toMatchObject({ decision: 'allow' });
    // A person judges a command, seeing what it reads or contacts.
    for (const command of [`cat ${join(home, 'instance.json')}`, 'curl -s http://127.0.0.1:4870/api/ops/panic.release -d {}']) {
      expect(await claw.op('policy.explain', { tool: 'exec', args: { command } })).not.toMatchObject({ decision: 'allow' });
    }
    expect(await claw.op('safety.url', { url: 'http://127.0.0.1:4870/api/ops/panic.release' })).toMatchObject({ decision: 'deny' });

    const run = await claw.op('tool.run', { tool: 'write_file', args: { path: join(home, 'config.yaml'), content: 'x' } });
    expect([run.outcome, run.pending]).toEqual(['denied', undefined]);
  } finally {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
});
