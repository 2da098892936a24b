// The web tools in the whole program: what needs approval, what a server on this computer receives, and what is left in the data folder.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';

const secret = 'a_key_that-only*the-server-may-see';

let home: string;
let claw: TrayClaw;
let port: number;
let seen: { path: string; headers: IncomingHttpHeaders }[];
const server = createServer((request, response) => {
  seen.push({ path: request.url ?? '', headers: request.headers });
  const isSearch = request.url?.startsWith('/search') === true;
  response.writeHead(200, { 'content-type': isSearch ? 'application/json' : 'text/html' });
  const results = [{ title: 'A result', url: 'https://example.org/', content: 'Text.' }];
  response.end(
    isSearch ? JSON.stringify({ results }) : `<title>Dev</title><p>Key: ${request.headers.authorization ?? 'none'}<p hidden>ghost`,
  );
});

beforeEach(async () => {
  seen = [];
  home = mkdtempSync(join(tmpdir(), 'trayclaw-web-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  await claw.close();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

async function open(config: ConfigInput): Promise<void> {
  claw = await createTrayClaw({
    home,
    config: { models: { default: 'demo/offline' }, ...config },
    environment: { ...process.env, SITE_KEY: secret },
  });
}

/** Calls the tool, approves it, and returns the result. */
async function approved(tool: string, args: Record<string, unknown>) {
  const asked = await claw.op('tool.run', { tool, args, wait: false });
  expect(asked.outcome).toBe('waiting');
  const approvalId = asked.pending?.[0]?.approvalId ?? '';
  const { approvals } = await claw.op('approval.list', {});
  await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  await claw.op('turn.wait', { turnId: asked.turnId });
  const { calls } = await claw.op('turn.get', { turnId: asked.turnId });
  return { approval: approvals.find((one) => one.approvalId === approvalId), forModel: calls[0]?.forModel };
}

/** Everything the program has written. */
function written(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path));
}

test('what the rules refuse is denied before a person is asked', async () => {
  await open({ policy: { denyDomains: ['example.com'] } });
  for (const [tool, args] of [
    ['web_fetch', { url: 'http://169.254.169.254/latest/meta-data/' }],
    ['web_fetch', { url: `http://127.0.0.1:${port}/` }],
    ['web_fetch', { url: 'https://www.example.com/' }],
    ['http_request', { method: 'POST', url: 'http://localhost/', body: 'x' }],
  ] as const) {
    const { decision, ruleId } = await claw.op('policy.explain', { tool, args });
    expect([decision, ruleId]).toEqual(['deny', 'address.refused']);
    const run = await claw.op('tool.run', { tool, args });
    expect([run.outcome, run.pending]).toEqual(['denied', undefined]);
  }
  expect(seen).toEqual([]);
});

test('a listed local server is read without approval; a secret reaches only it', async () => {
  await open({ policy: { allowDomains: [`127.0.0.1:${port}`] } });
  const url = `http://127.0.0.1:${port}/`;
  const { ruleId, facts } = await claw.op('policy.explain', { tool: 'web_fetch', args: { url } });
  expect(ruleId).toBe('domain.allowed');
  expect(facts).toMatchObject({ class: 'network', hosts: ['127.0.0.1'], request: { method: 'GET', url, reads: true } });
  const page = await claw.op('tool.run', { tool: 'web_fetch', args: { url } });
  expect(page.forModel).toContain('# Dev\n\nKey: none\n');
  expect(page.forModel).not.toContain('ghost');

  const call = await approved('http_request', { method: 'GET', url, headers: { authorization: 'Bearer {env:SITE_KEY}' } });
  expect(call.approval).toMatchObject({
    facts: { class: 'credential', risks: [`It shows 127.0.0.1 the secret env:SITE_KEY.`, expect.anything()] },
  });
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined, `Bearer ${secret}`]);
  expect(call.forModel).toContain('Key: Bearer [redacted:SITE_KEY]');
  await claw.close();
  expect(written(home).filter((bytes) => bytes.includes(secret))).toEqual([]);
});

test('a search goes only to the configured service, also on this computer', async () => {
  await open({ web: { search: { provider: 'searxng', baseUrl: `http://localhost:${port}` } } });
  const { forModel } = await approved('web_search', { query: 'mills' });
  expect(forModel).toContain('1. A result\n   https://example.org/\n   Text.');
  expect(seen.map(({ path }) => path)).toEqual(['/search?q=mills&format=json']);
  expect((await claw.op('policy.explain', { tool: 'web_fetch', args: { url: `http://localhost:${port}/` } })).decision).toBe('deny');
});
