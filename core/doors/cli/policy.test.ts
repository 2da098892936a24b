// The policy and the grants as the command line prints them.

import { expect, test } from 'vitest';
import { grant } from '../../../tests/doubles/fake-answers.ts';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../tests/doubles/fake-terminal.ts';
import { configSchema } from '../../contracts/config.ts';

test('policy show describes the settings in words', async () => {
  const policy = {
    mode: 'workspace-free' as const,
    allowCommands: ['git status', 'npm test'],
    rules: [{ when: { tools: ['exec'], channels: ['telegram'] }, then: 'deny' as const, reason: 'not from afar' }],
  };
  const claw = new FakeClaw({
    'config.get': () => ({ config: configSchema.parse({ policy }), path: '/h/config.yaml', warnings: [], file: {}, problem: null }),
  });
  const { out } = await runCommand(['policy', 'show'], fakeParts(claw));
  expect(out.split('\n').slice(0, 4)).toEqual([
    'Mode           workspace-free: reading and changing files in the workspace is free, everything else asks',
    'Rule 1         deny tools exec and channels telegram (not from afar)',
    'Commands       git status, npm test',
    'Domains        none',
  ]);
});

test('lists grants with their end and use', async () => {
  const listed = { ...grant, grantId: 'grt_1', revokedAtMs: null, uses: 2, lastUsedAtMs: 1_750_000_000_000 };
  const claw = new FakeClaw({
    'grant.list': () => ({ grants: [listed, { ...listed, uses: 0, lastUsedAtMs: null, scope: { kind: 'session' } }] }),
  });
  const { out } = await runCommand(['grants', 'list'], fakeParts(claw));
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toMatchObject([
    ['GRANT', 'SCOPE', 'ENDS', 'USED', 'LAST', 'COVERS'],
    ['grt_1', expect.anything(), expect.anything(), '2 times', '2025-06-15 15:06:40', grant.covers],
    ['grt_1', 'session', expect.stringContaining('with '), 'never', '-', grant.covers],
    [''],
  ]);
});
