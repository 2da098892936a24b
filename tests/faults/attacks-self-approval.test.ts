// A command that a person approved once cannot give itself lasting rights: it does not see the program's token, local socket or settings.
// Each story has a control without the masking, in which it succeeds.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { InstanceDoor } from '../../core/doors/http/http.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from './test-home.ts';
import { needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';

const confined = needs('bubblewrap');

interface Story {
  readonly name: string;
  /** A shell script that creates `got` in the workspace if it reaches its target. */
  readonly attack: (home: string) => string;
}

const decide = (home: string): string => `
const { readFileSync, writeFileSync } = require('node:fs');
const http = require('node:http');
const { socketPath, token } = JSON.parse(readFileSync('${home}/instance.json', 'utf8'));
const call = (name, params) => new Promise((resolve, reject) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  const request = http.request({ socketPath, method: 'POST', path: '/api/ops/' + name, headers }, (response) => {
    let text = '';
    response.on('data', (part) => (text += part)).on('end', () => resolve(JSON.parse(text).result));
  });
  request.on('error', reject).end(JSON.stringify(params));
});
(async () => {
  const { approvals } = await call('approval.list', {});
  await call('approval.decide', { approvalId: approvals[0].approvalId, decision: 'approve', scope: { kind: 'always' } });
  writeFileSync('got', 'x');
})();`;

const stories: readonly Story[] = [
  { name: 'reads the token', attack: (home) => `grep -q token ${home}/instance.json && touch got` },
  {
    name: 'reads the token with its marks taken off',
    attack: (home) => `env -i /bin/sh -c 'grep -q token ${home}/instance.json && touch got'`,
  },
  {
    name: 'reads the token in a session of its own',
    attack: (home) => `setsid -w sh -c 'grep -q token ${home}/instance.json && touch got'`,
  },
  {
    name: 'reads the token after a double fork',
    attack: (home) => `(setsid sh -c '(grep -q token ${home}/instance.json && touch got) &' &); sleep 0.3`,
  },
  {
    name: 'reads the token by the path of its own process',
    attack: (home) => `grep -q token /proc/self/root${home}/instance.json && touch got`,
  },
  {
    name: 'reads the token by the path of this very program',
    attack: (home) => `grep -q token /proc/${process.pid}/root${home}/instance.json && touch got`,
  },
  { name: 'takes the cover off', attack: (home) => `umount -l ${home}; grep -q token ${home}/instance.json && touch got` },
  {
    name: 'takes the cover off in a namespace of its own',
    attack: (home) => `unshare -Urm sh -c 'umount -l ${home} 2>/dev/null; grep -q token ${home}/instance.json && touch got'`,
  },
  { name: 'changes the settings', attack: (home) => `cp ${home}/config.yaml kept && cp kept ${home}/config.yaml && touch got` },
  { name: 'reads what was said elsewhere', attack: (home) => `head -c 15 ${home}/trayclaw.db | grep -q SQLite && touch got` },
  { name: 'answers its own question', attack: (home) => `cat > answer.cjs <<'END'${decide(home)}\nEND\n${process.execPath} answer.cjs` },
  {
    name: 'changes the mode by the command line',
    attack: (home) =>
      `env -i PATH="$PATH" HOME="$HOME" TRAYCLAW_HOME=${home} setsid -w ${process.execPath} ${cliFile} config set policy.mode workspace-free && touch got`,
  },
];

/** Installs the script, has it approved once, and returns whether it reached its target. */
async function run(home: TestHome, claw: TrayClaw, story: Story): Promise<boolean> {
  const script = join(home.workspace, 'x.sh');
  writeFileSync(script, `rm -f got\n${story.attack(home.path)}\n`);
  const asked = await claw.op('tool.run', { tool: 'exec', args: { command: 'sh x.sh' }, wait: false });
  const second = await claw.op('tool.run', { tool: 'exec', args: { command: 'touch second' }, wait: false });
  await claw.op('approval.decide', { approvalId: asked.pending?.[0]?.approvalId ?? '', decision: 'approve', scope: { kind: 'once' } });
  await claw.op('turn.wait', { turnId: asked.turnId });
  const left = await claw.op('approval.list', {});
  for (const { approvalId } of left.approvals) await claw.op('approval.decide', { approvalId, decision: 'deny' });
  await claw.op('turn.wait', { turnId: second.turnId });
  return existsSync(join(home.workspace, 'got'));
}

async function open(sandbox: ConfigInput['sandbox']): Promise<{ home: TestHome; claw: TrayClaw }> {
  const home = new TestHome();
  const config = { models: { default: 'demo/offline' }, ...(sandbox === undefined ? {} : { sandbox }) };
  home.configure(config);
  const claw = await home.open();
  // Opened so that other processes find this program as they find a tray app or a server.
  const door = new InstanceDoor({
    home: home.path,
    pid: process.pid,
    platform: process.platform,
    temporaryFolder: tmpdir(),
    claw,
    logger: silentLogger,
    clock: systemClock,
    assetsFolder: null,
    version: '0',
  });
  await door.open();
  doors.push(door);
  return { home, claw };
}

const doors: InstanceDoor[] = [];
const covered = { now: null as Awaited<ReturnType<typeof open>> | null };
const bare = { now: null as Awaited<ReturnType<typeof open>> | null };
beforeAll(async () => {
  covered.now = await open({ mode: 'auto' });
  bare.now = await open({ mode: 'off' });
});
afterAll(async () => {
  for (const door of doors) await door.dispose();
  await covered.now?.home.dispose();
  await bare.now?.home.dispose();
});

test.each(stories)('control: without masking, an approved command $name', async (story) => {
  if (bare.now === null) throw new Error('not open');
  expect(await run(bare.now.home, bare.now.claw, story)).toBe(true);
});

test.each(stories)('an approved command does not reach its target: $name', confined, async (story) => {
  if (covered.now === null) throw new Error('not open');
  expect(await run(covered.now.home, covered.now.claw, story)).toBe(false);
});

test('an approved command keeps all other rights of the person', confined, async () => {
  if (covered.now === null) throw new Error('not open');
  const { home, claw } = covered.now;
  const sleeper = execFileSync('/bin/sh', ['-c', 'sleep 60 >/dev/null 2>&1 & echo $!'], { encoding: 'utf8' }).trim();
  const outside = join(home.path, '..', 'outside.txt');
  const attack = (): string => `echo made > ${outside} && ps -p ${sleeper} && kill ${sleeper} && test -e /dev/null && touch got`;
  expect(await run(home, claw, { name: 'ordinary work', attack })).toBe(true);
  expect(readFileSync(outside, 'utf8')).toBe('made\n');
});
