// TrayClaw's own data folder, asked of the whole program: the tools say what a path is, the gate refuses, and neither knows the other.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTrayClaw } from '../../core/index.ts';

test('no tool may write TrayClaw its own data, whoever would say yes; its workspace asks as usual', async () => {
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

    const run = await claw.op('tool.run', { tool: 'write_file', args: { path: join(home, 'config.yaml'), content: 'x' } });
    expect([run.outcome, run.pending]).toEqual(['denied', undefined]);
  } finally {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
});
