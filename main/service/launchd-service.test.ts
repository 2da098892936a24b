// The LaunchAgent: its text, the order of the launchctl calls, and systems without a supported manager.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findService } from './find-service.ts';
import { launchdService } from './launchd-service.ts';
import type { Answer } from './run-command.ts';
import { launchAgent } from './service-unit.ts';

const job = 'gui/501/io.trayclaw.serve';
const ok: Answer = { code: 0, stdout: '', stderr: '' };

/**
 * Behaves like launchctl on macOS 13: a loaded agent cannot be loaded again, and it stays loaded for a while after bootout has returned.
 */
class Launchctl {
  readonly calls: string[] = [];
  loaded: string | null = null;
  leaving = 0;

  readonly run = (program: string, [verb = '', target = '', file = '']: readonly string[]): Promise<Answer | null> => {
    expect(program).toBe('launchctl');
    this.calls.push(verb);
    if (this.leaving > 0 && --this.leaving === 0) this.loaded = null;
    if (verb === 'print' && target === job)
      return Promise.resolve(this.loaded === null ? { code: 113, stdout: '', stderr: 'Could not find service' } : { ...ok, stdout: `${job} = {\n\tstate = running\n\tpid = 88\n}\n` }); // prettier-ignore
    if (verb === 'bootout' && target === job) {
      this.leaving = 3;
      return Promise.resolve(ok);
    }
    if (verb === 'bootstrap' && target === 'gui/501' && this.loaded === null) {
      this.loaded = readFileSync(file, 'utf8');
      return Promise.resolve(ok);
    }
    return Promise.resolve({ code: 5, stdout: '', stderr: 'Bootstrap failed: 5: Input/output error' });
  };
}

function open() {
  const userFolder = mkdtempSync(join(tmpdir(), 'trayclaw-agent-'));
  onTestFinished(() => rmSync(userFolder, { recursive: true }));
  const launchctl = new Launchctl();
  const spec = { command: ['/Applications/A & B/node', '/x/cli.js'], home: '/Users/me/a<b', path: '/usr/bin', port: null };
  const service = (home: string | null = spec.home) =>
    launchdService({ userFolder, userId: 501, run: launchctl.run, spec: { ...spec, home } });
  return { launchctl, service, spec };
}

test('an agent is loaded, replaced when its text changes, and removed', async () => {
  const { launchctl, service } = open();
  expect(await service().status()).toMatchObject({ isInstalled: false, isRunning: false, state: 'not loaded', pid: null });
  await service().install();
  expect(launchctl.loaded).toBe(service().text());
  expect(await service().status()).toEqual({ isInstalled: true, isRunning: true, state: 'running', startsAtLogin: true, pid: 88 });

  launchctl.calls.length = 0;
  await service().install();
  expect(launchctl.calls).toEqual(['print']);
  await service('/Users/me/other').install();
  expect(launchctl.loaded).toContain('/Users/me/other');
  expect(await service().uninstall()).toBe(true);
  expect([launchctl.loaded, existsSync(service().file), await service().uninstall()]).toEqual([null, false, false]);
});

test('an agent written by the person is not touched', async () => {
  const { launchctl, service } = open();
  await service().install();
  writeFileSync(service().file, '<plist/>');
  await expect(service().install()).rejects.toMatchObject({ code: 'conflict' });
  await expect(service().uninstall()).rejects.toMatchObject({ code: 'conflict' });
  expect([readFileSync(service().file, 'utf8'), launchctl.calls.includes('bootout')]).toEqual(['<plist/>', false]);
});

test('escapes XML markup and rejects line breaks', () => {
  const { spec } = open();
  const text = launchAgent(spec);
  expect(text).toContain('<string>/Applications/A &amp; B/node</string>');
  expect(text).toContain('<key>TRAYCLAW_HOME</key><string>/Users/me/a&lt;b</string>');
  expect(() => launchAgent({ ...spec, home: '/a\nb' })).toThrow('control character');
});

test('an unsupported system gets advice, and nothing changes', () => {
  const source = { env: {}, userFolder: '/home/me', userId: 0, home: '/home/me/x', command: ['node', 'cli.js'] };
  expect(() => findService({ ...source, platform: 'win32' })).toThrow(
    expect.objectContaining({ code: 'not_found', hint: 'Let the desktop app start with your login: Settings, Start at login.' }) as Error,
  );
});

test("the file names neither the default data folder nor npm's PATH entries", () => {
  const source = { env: { PATH: '/usr/bin:/p/node_modules/.bin:.:/usr/bin' }, userFolder: '/home/me', userId: 0, command: ['/n', '/c'] };
  const text = (home: string) => findService({ ...source, home, platform: 'linux' }).text();
  expect(text('/home/me/.local/share/trayclaw')).not.toContain('TRAYCLAW_HOME');
  expect(text('/srv/claw')).toContain('Environment="TRAYCLAW_HOME=/srv/claw"\n');
  expect(text('/srv/claw')).toContain('Environment="PATH=/usr/bin"\n');
});
