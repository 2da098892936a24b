// Settings that name a tool which does not exist are reported by the doctor, because nothing else says so.

import { expect, onTestFinished, test } from 'vitest';
import { TestHome } from './test-home.ts';

test('settings that name a tool that does not exist are reported with the tool that was meant', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const claw = await home.open({
    config: {
      models: { default: 'demo/offline' },
      sandbox: { mode: 'off' },
      agents: { coder: { tools: ['reed_file', 'calc'], bounds: { tools: ['wriet_file'] } } },
      heartbeat: { tools: ['clac'] },
      policy: {
        denyTools: ['exce'],
        rules: [{ when: { tools: ['gerp', 'search__*'] }, then: 'deny' }],
        limits: { callsPerMinute: { exec: 5, write: 5, lits_dir: 5 } },
      },
    },
  });
  const found = (await claw.op('health.check', {})).checks.filter(({ id }) => id.startsWith('config.tools.'));
  expect(found.map(({ ok, detail }) => `${ok} ${detail.replace(/ Did you mean .*/, '')}`).toSorted()).toEqual([
    'true agents.coder.bounds.tools: There is no tool called "wriet_file".',
    'true agents.coder.tools: There is no tool called "reed_file".',
    'true heartbeat.tools: There is no tool called "clac".',
    'true policy.denyTools: There is no tool called "exce".',
    'true policy.limits.callsPerMinute: There is no tool called "lits_dir".',
    'true policy.rules.when.tools: There is no tool called "gerp".',
  ]);
  expect(found.find(({ detail }) => detail.startsWith('agents.coder.tools'))?.detail).toContain('Did you mean read_file');
});

test('rules that apply to no tool, or only behind another that always applies first, are reported', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const claw = await home.open({
    config: {
      models: { default: 'demo/offline' },
      sandbox: { mode: 'off' },
      mcp: { servers: { files: { command: 'no-such-program' } } },
      policy: {
        rules: [
          { when: { tools: ['raed_*', 'read_*', 'files__*', 'fi*', 'gr*'] }, then: 'ask' },
          { when: { tools: ['grep'] }, then: 'deny' },
        ],
      },
    },
  });
  const found = (await claw.op('health.check', {})).checks.filter(({ id }) => id.startsWith('config.rules.'));
  expect(found.map(({ ok, detail }) => `${ok} ${detail}`)).toEqual([
    'true Rule 1 of policy.rules: no tool is called raed_*.',
    'true Rule 2 of policy.rules never applies, because rule 1 matches the same calls first.',
  ]);
});
