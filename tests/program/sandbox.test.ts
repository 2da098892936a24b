// The sandbox in the whole program: what a call's result, the health check and explain report, with and without a sandbox on the machine.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { OpResult } from '../../core/contracts/ops.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';
import { needs } from '../needs.ts';

const withoutPrograms = { ...process.env, PATH: '/nonexistent' };

let home: TestHome;
beforeEach(() => {
  home = new TestHome();
});
afterEach(() => home.dispose());

const open = (
  sandbox: ConfigInput['sandbox'],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<TrayClaw> =>
  home.open({ config: { models: { default: 'demo/offline' }, ...(sandbox === undefined ? {} : { sandbox }) }, environment });

/** Runs a command that a person approves. */
async function runApproved(claw: TrayClaw, command: string): Promise<OpResult<'tool.run'>> {
  const asked = await claw.op('tool.run', { tool: 'exec', args: { command }, wait: false });
  const approvalId = asked.pending?.[0]?.approvalId ?? '';
  await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  await claw.op('turn.wait', { turnId: asked.turnId });
  const { calls } = await claw.op('turn.get', { turnId: asked.turnId });
  const call = calls[0];
  return { ...asked, outcome: call?.outcome === 'ok' ? 'ok' : 'error', forModel: call?.forModel ?? '' };
}

const sandboxCheck = async (claw: TrayClaw) => (await claw.op('health.check', {})).checks.find(({ id }) => id === 'sandbox');

test("`required` confines approved commands too; `auto` only hides the program's data", needs('bubblewrap'), async () => {
  const command = 'grep -c . /proc/net/dev; ls -A .. | tr "\\n" " "; echo made > made';
  const seen: string[] = [];
  for (const mode of ['required', 'auto'] as const) {
    const claw = await open({ mode });
    const { outcome, forModel } = await runApproved(claw, command);
    seen.push(`${mode} ${outcome} ${forModel.includes('trayclaw.db') ? 'sees' : 'does not see'} the data folder`);
    expect((await claw.op('sandbox.explain', { command })).command?.runs).toBe(mode === 'required' ? 'inside' : 'outside');
    expect(await sandboxCheck(claw)).toMatchObject({
      ok: true,
      detail: 'Commands can be confined by bubblewrap with a system call filter.',
    });
    await home.close(claw);
  }
  expect(seen).toEqual(['required ok does not see the data folder', 'auto ok does not see the data folder']);
});

test('without a sandbox `required` runs nothing and says what to install; `auto` runs', async () => {
  const required = await open({ mode: 'required' }, withoutPrograms);
  const refused = await runApproved(required, 'touch ran');
  expect(refused).toMatchObject({
    outcome: 'error',
    forModel: expect.stringContaining('Commands run in the sandbox only, and there is none here'),
  });
  expect(existsSync(join(home.workspace, 'ran'))).toBe(false);
  expect(await sandboxCheck(required)).toMatchObject({ ok: false });
  expect((await required.op('sandbox.explain', { command: 'touch ran' })).command?.runs).toBe('refused');
  await home.close(required);

  const auto = await open({}, withoutPrograms);
  expect(await runApproved(auto, 'true > ran')).toMatchObject({ outcome: 'ok' });
  expect(await sandboxCheck(auto)).toMatchObject({
    ok: true,
    detail: expect.stringContaining('are not confined'),
    fix: expect.any(String),
  });
  expect((await auto.op('sandbox.explain', {})).available).toBe(false);
  await home.close(auto);
});
