// A command allowed in config.yaml never runs code that the agent wrote without approval: stories through the built gate, each with a
// control in which a person wrote the same files and the command is allowed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from './test-home.ts';

type Files = Readonly<Record<string, string>>;

interface Story {
  readonly name: string;
  readonly command: string;
  /** Files a person wrote. */
  readonly person?: Files;
  /** Files the agent writes with write_file, which needs no approval in this mode. */
  readonly agent: Files;
  /** `off`: nothing confines commands that need no approval. */
  readonly sandbox?: 'off';
}

const scripts = (lines: Readonly<Record<string, string>>): Files => ({ 'package.json': JSON.stringify({ name: 'x', scripts: lines }) });
const harm = { 't.sh': 'id > ran\n' };

const stories: readonly Story[] = [
  { name: 'the package file', command: 'npm test', agent: scripts({ test: 'id > ran' }) },
  { name: 'the script of the test', command: 'npm test', person: scripts({ test: 'sh t.sh' }), agent: harm },
  { name: 'the script before the test', command: 'npm test', person: scripts({ pretest: './t.sh', test: 'true' }), agent: harm },
  { name: 'a program for node', command: 'npm test', person: scripts({ test: 'node job' }), agent: { 'job.js': '1' } },
  {
    name: 'the script of a script by its name',
    command: 'npm test',
    person: scripts({ test: 'npm run inner', inner: 'sh t.sh' }),
    agent: harm,
  },
  {
    name: 'a script in a folder gone into',
    command: 'npm test',
    person: scripts({ test: 'cd tools && node job.js' }),
    agent: { 'tools/job.js': '1' },
  },
  {
    name: 'a script that a script starts',
    command: 'npm test',
    person: { ...scripts({ test: 'sh one.sh' }), 'one.sh': 'exec bash "./two.sh"\n', 'two.sh': '. ./t.sh\n' },
    agent: harm,
  },
  { name: 'the settings of npm', command: 'npm test', person: scripts({ test: 'true' }), agent: { 'package-lock.json': '{}' } },
  { name: 'the Makefile', command: 'make', agent: { Makefile: 'all:\n\tid > ran\n' } },
  { name: 'what a recipe starts', command: 'make', person: { Makefile: 'all:\n\t@sh t.sh\n' }, agent: harm },
  {
    name: 'a rule that the Makefile includes',
    command: 'make',
    person: { Makefile: 'include rules.mk\n' },
    agent: { 'rules.mk': 'all:\n\tid\n' },
  },
  {
    name: 'settings of pytest in a folder',
    command: 'pytest',
    person: { 'pytest.ini': '' },
    agent: { 'tests/unit/conftest.py': 'x = 1\n' },
  },
  { name: 'a module', command: 'python3 -m job', agent: { 'job.py': 'x = 1\n' } },
  { name: 'the settings of pytest', command: 'pytest', agent: { 'conftest.py': 'x = 1\n' } },
  { name: 'the settings of pytest as a module', command: 'python3 -m pytest', agent: { 'conftest.py': 'x = 1\n' } },
  { name: 'a script by its name', command: 'sh t.sh', agent: harm },
  { name: 'what a script by its name starts', command: 'sh t.sh', person: { 't.sh': 'node job.js\n' }, agent: { 'job.js': '1' } },
  {
    name: 'a test that nothing names, unconfined',
    command: 'npm test',
    sandbox: 'off',
    person: scripts({ test: 'node --test' }),
    agent: { 'test/a.test.js': '1' },
  },
  {
    name: 'a module that a script loads, unconfined',
    command: 'sh t.sh',
    sandbox: 'off',
    person: { 't.sh': 'node job.js\n', 'job.js': 'require("./lib.js")' },
    agent: { 'lib.js': '1' },
  },
];

let home: TestHome;
beforeEach(() => {
  home = new TestHome();
});
afterEach(() => home.dispose());

function open(sandbox: ConfigInput['sandbox']): Promise<TrayClaw> {
  const policy: ConfigInput['policy'] = {
    mode: 'workspace-free',
    allowCommands: ['npm test', 'make', 'pytest', 'python3 -m pytest', 'python3 -m job', 'sh t.sh'],
  };
  return home.open({ config: { models: { default: 'demo/offline' }, policy, ...(sandbox === undefined ? {} : { sandbox }) } });
}

function put(files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(home.workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o755 });
  }
}

async function write(claw: TrayClaw, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const { outcome } = await claw.op('tool.run', { tool: 'write_file', args: { path, content }, wait: false });
    expect(outcome).toBe('ok');
  }
}

const decisionOn = async (claw: TrayClaw, command: string): Promise<string> =>
  (await claw.op('policy.explain', { tool: 'exec', args: { command } })).decision;

/** `required` confines or refuses, whatever the machine supports. */
const sandboxOf = (story: Story): ConfigInput['sandbox'] => ({ mode: story.sandbox ?? 'required' });

test.each(stories)('needs approval before it first runs: $name', async (story) => {
  const claw = await open(sandboxOf(story));
  put(story.person ?? {});
  await write(claw, story.agent);
  const asked = await claw.op('tool.run', { tool: 'exec', args: { command: story.command }, wait: false });
  expect(asked.outcome).toBe('waiting');
});

test.each(stories)('control: written by a person, it is allowed: $name', async (story) => {
  const claw = await open(sandboxOf(story));
  put({ ...story.person, ...story.agent });
  expect(await decisionOn(claw, story.command)).toBe('allow');
});

test('without a sandbox an approval holds until the agent writes again', async () => {
  const claw = await open({ mode: 'off' });
  put({ 't.sh': 'echo fine\n' });
  await write(claw, { 'lib.js': '1' });
  const asked = await claw.op('tool.run', { tool: 'exec', args: { command: 'sh t.sh' }, wait: false });
  const approvalId = asked.pending?.[0]?.approvalId ?? '';
  await new Promise((resolve) => setTimeout(resolve, 5));
  await claw.op('approval.decide', { approvalId, decision: 'approve' });
  await claw.op('turn.wait', { turnId: asked.turnId });
  const before = await decisionOn(claw, 'sh t.sh');
  await write(claw, { 'lib.js': '2' });
  expect([before, await decisionOn(claw, 'sh t.sh')]).toEqual(['allow', 'ask']);
});

test('files the agent wrote are still known after its session is deleted', async () => {
  const claw = await open({ mode: 'required' });
  await write(claw, harm);
  const { sessions } = await claw.op('session.list', {});
  for (const { sessionId } of sessions) await claw.op('session.delete', { sessionId });
  expect(await decisionOn(claw, 'sh t.sh')).toBe('ask');
});
