// The approvals before a page, a machine, a service, a container, a bus or the screen is used, as a person sees them: what, where and how
// serious in a few lines, nothing wider than the window, and a grave one in its own colour. Nothing runs: each is denied.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { installedBrowser } from '../rigs/browser-bench.ts';
import { graveKind } from '../../core/contracts/grave-calls.ts';
import type { Approval } from '../../core/contracts/policy.ts';
import { refOf } from '../rigs/browser-bench.ts';
import { looksGood, shoot } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const page = `<!doctype html><title>Account</title><body style="font: 16px sans-serif; margin: 40px">
  <h1>Your account</h1>
  <form action="/in" method="post"><label>Name <input name="who" value="ada"></label> <label>Password <input name="p" type="password"></label> <button>Sign in</button></form>
  <form action="/say" method="post"><label>Comment <textarea name="t">A comment of several words</textarea></label> <button>Post comment</button></form>
  <form action="/buy" method="post"><input type="hidden" name="sum" value="49.90"><button>Pay 49.90 €</button></form>
  <form action="/photo" method="post"><label>Photo <input type="file" name="f"></label> <button>Send photo</button></form>
  <p>${'Some words in between. '.repeat(30)}</p>
  <form action="/close" method="post"><button>Delete account</button></form>`;

const key = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const click = (role: string, words: string) => ({ tool: 'browser', args: { action: 'click' }, on: [role, words] as const });
const runs = (command: string) => ({ tool: 'exec', args: { command } });
const onBox = (tool: string, args: object) => ({ tool, args: { host: 'box', ...args } });

interface Case {
  readonly tool: string;
  readonly args: object;
  /** The page element that the call acts on: its role and its text. */
  readonly on?: readonly [role: string, words: string];
}

const cases: Readonly<Record<string, Case>> = {
  'page-sign-in': click('button', 'Sign in'),
  'page-post': click('button', 'Post comment'),
  'page-pay': click('button', 'Pay'),
  'page-delete': click('button', 'Delete account'),
  'page-upload': { tool: 'browser', args: { action: 'upload', path: 'photo.png' }, on: ['button', 'Photo'] },
  'page-hand-over': { tool: 'browser', args: { action: 'handover', text: 'Sign in, please' } },
  'page-elsewhere': { tool: 'browser', args: { action: 'open', url: 'https://elsewhere.example/prices?of=shoes' } },
  'ssh-look-at-key': { tool: 'ssh_trust', args: { host: 'new' } },
  'ssh-first-contact': { tool: 'ssh_trust', args: { host: 'new', fingerprint: key } },
  'ssh-run': onBox('ssh_exec', { command: 'journalctl -u nginx --since today | tail -n 50' }),
  'ssh-delete': onBox('ssh_exec', { command: 'rm -rf /srv/old' }),
  'ssh-write': onBox('ssh_write', { path: '/etc/nginx/conf.d/site.conf', content: 'server {\n  listen 80;\n}\n' }),
  'ssh-background': onBox('ssh_exec', { command: 'tail -F /var/log/nginx/error.log', background: true }),
  'ssh-port': onBox('ssh_forward', { to: 'db.internal:5432' }),
  'ssh-forward': runs('ssh -N -L 8080:localhost:80 deploy@box'),
  'service-stop': { tool: 'systemd', args: { action: 'stop', unit: 'nginx' } },
  'service-start': { tool: 'systemd', args: { action: 'start', unit: 'backup.timer', user: true } },
  journal: { tool: 'journal', args: { unit: 'nginx', since: 'today' } },
  docker: runs('docker run --rm -v /:/host alpine sh'),
  kubectl: runs('kubectl --context prod -n shop delete deployment web'),
  'i2c-write': { tool: 'i2c', args: { action: 'write', bus: 1, address: '0x48', register: 1, bytes: [32, 255] } },
  'spi-transfer': { tool: 'spi', args: { action: 'transfer', bus: 0, bytes: Array.from({ length: 64 }, (_, at) => at) } },
  'screen-picture': { tool: 'screenshot', args: { of: 'screen' } },
};

/** Checked with axe in each look; pictures of all are saved on request. */
const held = new Set(['page-delete', 'ssh-first-contact', 'i2c-write']);
/** The narrowest window first, because what fits there fits everywhere. */
const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })));
const keepsPictures = process.env['TRAYCLAW_PICTURES'] !== undefined;
/** Maximum lines of the heading and of the sentences under it, in the narrowest window. */
const linesMost = [4, 3];

interface Seen {
  readonly lines: number[];
  readonly fits: boolean;
  readonly isGrave: boolean;
}

/** Measures a card inside the page. */
const measured = (id: string): string => `(() => {
  const card = document.getElementById('${id}');
  const root = document.documentElement;
  return {
    lines: [...card.querySelectorAll('h2, h2 + p')].map((part) =>
      Math.round(part.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(part).lineHeight))),
    fits: root.scrollWidth <= root.clientWidth && card.scrollWidth <= card.clientWidth,
    isGrave: card.classList.contains('grave'),
  };
})()`;

async function serve(): Promise<string> {
  const server = createServer((_request, response) => void response.setHeader('content-type', 'text/html; charset=utf-8').end(page));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ask(window: WindowUnderTest, { tool, args }: Case): Promise<Approval> {
  const { pending = [] } = (await window.host.op('tool.run', { tool, args, wait: false })) as { pending?: { approvalId: string }[] };
  const [asked] = pending;
  if (asked === undefined) throw new Error(`${tool} asks nothing`);
  const { approvals } = (await window.host.op('approval.list', {})) as { approvals: Approval[] };
  return approvals.find(({ approvalId }) => approvalId === asked.approvalId) ?? expect.unreachable();
}

test('each approval says what, where and how serious in a few lines that fit', { timeout: 240_000 }, async () => {
  const host = await serve();
  const machine = { host: 'box.example', user: 'deploy' };
  const executable = installedBrowser() ?? expect.unreachable();
  const window = await openWindow(browser, {
    config: { browser: { allowHosts: [host], executable }, ssh: { hosts: { box: machine, new: { ...machine, host: 'new.example' } } } },
    files: { 'photo.png': 'a photo' },
    before: (home) => Promise.resolve(writeFileSync(join(home, 'ssh_known_hosts'), `box.example:22 ${key}\n`)),
  });
  const opened = (await window.host.op('tool.run', { tool: 'browser', args: { action: 'open', url: `http://${host}/` }, wait: true })) as {
    forModel: string;
  };
  await window.go('Approvals');
  const wrong: string[] = [];
  for (const [name, { on, ...call }] of Object.entries(cases)) {
    const ref = on === undefined ? {} : { ref: refOf(opened.forModel, ...on) };
    const approval = await ask(window, { ...call, args: { ...call.args, ...ref } });
    const card = window.page.locator(`[id="${approval.approvalId}"]`);
    await card.waitFor();
    if (on !== undefined) await card.getByRole('img', { name: 'The page, with the element marked' }).waitFor();
    for (const { width, colorScheme } of keepsPictures ? looks : looks.slice(0, 1)) {
      await window.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await window.page.setViewportSize({ width, height: 900 });
      await shoot(window.page, `${name}-${colorScheme}-${width}`);
      const seen = await window.page.evaluate<Seen>(measured(approval.approvalId));
      const isGood =
        seen.isGrave === (graveKind(approval.facts) !== null) &&
        seen.fits &&
        seen.lines.every((count, at) => count <= (linesMost[at] ?? 0));
      if (!isGood) wrong.push(`${name} at ${width}: ${JSON.stringify(seen)}`);
    }
    if (held.has(name)) await looksGood(window.page, name);
    await window.host.op('approval.decide', { approvalId: approval.approvalId, decision: 'deny' });
    await card.waitFor({ state: 'detached' });
  }
  expect(wrong).toEqual([]);
  expect(window.incidents).toEqual([]);
});
