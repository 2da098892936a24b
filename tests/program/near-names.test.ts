// Every operation that looks a thing up by its name says which name was probably meant.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTrayClaw } from '../../core/index.ts';
import type { OpName, OpParams } from '../../core/contracts/ops.ts';

const misspelled: { readonly [N in OpName]?: readonly [params: OpParams<N>, meant: string] } = {
  'agent.get': [{ agentId: 'mian' }, 'main'],
  'skill.get': [{ name: 'csv-sumary' }, 'csv-summary'],
  'skill.info': [{ name: 'csv-sumary' }, 'csv-summary'],
  'saved.remove': [{ name: 'greting' }, 'greeting'],
  'prompt.get': [{ name: 'trayclaw-sytem' }, 'trayclaw-system'],
  'pipeline.run': [{ pipeline: 'reserch', text: 'x' }, 'research'],
  'knowledge.status': [{ source: 'manul' }, 'manual'],
  'knowledge.remove': [{ source: 'manul' }, 'manual'],
  'mcp.test': [{ name: 'fils' }, 'files'],
  'door.revoke_token': [{ token: 'edtor' }, 'editor'],
  'config.get': [{ key: 'modles.default' }, 'models.default'],
};

test('a misspelled name is answered with the one that was probably meant', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tcn-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const config = {
    models: { default: 'demo/offline' },
    knowledge: { sources: { manual: { kind: 'inline' as const, text: 'Press the button.' } } },
    mcp: { servers: { files: { command: 'none', enabled: false } } },
  };
  const claw = await createTrayClaw({ home, config, environment: {} });
  onTestFinished(() => claw.close());
  await claw.op('saved.put', { name: 'greeting', text: 'Hello' });
  await claw.op('door.create_token', { door: 'openai', name: 'editor' });
  for (const [name, [params, meant]] of Object.entries(misspelled)) {
    const failure = await claw.op(name as OpName, params).then(
      () => null,
      (cause: unknown) => cause,
    );
    expect({ name, failure }).toMatchObject({ failure: { code: 'not_found', hint: expect.stringMatching(`^Did you mean .*${meant}`) } });
  }
});
