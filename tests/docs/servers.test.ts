// Checks docs/servers.md against the program: its commands and options exist, its container starts a built program, and its proxy passes
// webhooks.

import { existsSync, readFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { configSchema } from '../../core/contracts/config.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../doubles/fake-terminal.ts';
import { TestHome } from '../faults/test-home.ts';
import { projectRoot } from './documents.ts';

const page = readFileSync(join(projectRoot, 'docs', 'servers.md'), 'utf8');
const block = (kind: string): string => new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? '';

/** Command lines of the page, from prose and code blocks. */
function commandLines(): string[][] {
  const lines = [...page.matchAll(/(?:trayclaw|dist\/cli\.js) ((?:serve|service|secret|doctor|sandbox)\b[^`#\n]*)/g)].map(
    (match) => match[1] ?? '',
  );
  return lines.map((line) => line.trim().split(/\s+/));
}

test('every command and option of the page exists', async () => {
  const lines = commandLines();
  expect(lines.length).toBeGreaterThan(10);
  for (const words of lines) {
    const at = words.findIndex((word) => !/^[a-z]+$/.test(word));
    const command = at < 0 ? words : words.slice(0, at);
    const { code, out } = await runCommand([...command, '--help'], fakeParts(new FakeClaw()));
    expect([code, words.join(' ')]).toEqual([0, words.join(' ')]);
    const flags = words.filter((word) => word.startsWith('--') && word !== '--json');
    for (const flag of flags) expect(out).toContain(flag);
  }
});

test('the settings and variables of the page exist', () => {
  expect(configSchema.parse({ sandbox: { mode: 'required' } }).sandbox.mode).toBe('required');
  const secrets = readFileSync(join(projectRoot, 'core/guard/secret/secret.ts'), 'utf8');
  for (const [name] of page.matchAll(/TRAYCLAW_(?!HOME)\w+/g)) expect(secrets).toContain(`passphraseVariable = '${name}'`);
});

test('the container starts a built program with valid options', async () => {
  const docker = block('dockerfile');
  const command = JSON.parse(/^CMD (.*)$/m.exec(docker)?.[1] ?? '[]') as string[];
  expect(command.slice(0, 2)).toEqual(['node', '/opt/trayclaw/dist/cli.js']);
  const { bin, devDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  expect(bin['trayclaw']).toBe('dist/cli.js');
  expect(docker).toContain(`FROM node:${devDependencies['node']?.split('.')[0]}-`);
  expect(existsSync(join(projectRoot, 'dist/cli.js'))).toBe(true);
  const { code, err } = await runCommand([...command.slice(2, -3), '--port', 'x', ...command.slice(-1)], fakeParts(new FakeClaw()));
  expect([code, err]).toEqual([2, expect.stringContaining('is not a port')]);
});

/** A proxy configured by the block on the page; it does nothing else. */
async function startProxy(target: number, setsHost: boolean): Promise<number> {
  const nginx = block('nginx');
  const prefix = /location (\S+) \{/.exec(nginx)?.[1] ?? '';
  const host = /proxy_set_header Host 127\.0\.0\.1:(\d+);/.exec(nginx)?.[1];
  expect([prefix, host]).toEqual(['/hooks/', /proxy_pass http:\/\/127\.0\.0\.1:(\d+);/.exec(nginx)?.[1]]);
  const proxy = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith(prefix) !== true) {
      outgoing.writeHead(404).end();
      return;
    }
    const headers = { ...incoming.headers, host: setsHost ? `127.0.0.1:${target}` : 'claw.example.org', connection: 'close' };
    const passed = request({ host: '127.0.0.1', port: target, path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => proxy.close(() => resolve())));
  return (proxy.address() as AddressInfo).port;
}

function post(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'claw.example.org', 'x-trayclaw-secret': 'a-secret-of-the-hook', connection: 'close' };
    const asked = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (answer: IncomingMessage) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.once('error', reject);
    asked.end('{"built":true}');
  });
}

test('a webhook passes the proxy of the page, and no other', { timeout: 60_000 }, async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  home.env['HOOK_SECRET'] = 'a-secret-of-the-hook';
  home.configure({ models: { default: 'demo/offline' }, signals: { webhooks: { build: { secret: 'env:HOOK_SECRET' } } } });
  const { url } = await home.serve();
  const port = Number(new URL(url).port);
  const proxy = await startProxy(port, true);
  expect(await post(proxy, '/hooks/build')).toBe(200);
  expect(await post(proxy, '/api/ops/session.list')).toBe(404);
  expect(await post(await startProxy(port, false), '/hooks/build')).toBe(403);
});
