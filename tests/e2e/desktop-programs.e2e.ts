// Other programs in the app's settings: an MCP server is added with the form, reviewed, approved, disconnected and removed; a token for a
// door is created, shown once and revoked; programs connect at the port that `serve` or the settings name.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { toolOf } from '../doubles/mcp/mcp-rig.ts';
import { findInstance } from '../../core/doors/http/http.ts';
import { freePort } from '../free-port.ts';
import { DesktopUnderTest } from './desktop-rig.ts';
import { shoot, violations } from './driver/looks.ts';
import { ServerProcess } from './host/server-process.ts';

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

const program = fileURLToPath(new URL('../doubles/mcp/stdio-server.mjs', import.meta.url));

async function openAt(section: string): Promise<DesktopUnderTest['page']> {
  await app.page.evaluate(`location.hash = '#/settings/${section}'`);
  await app.page.locator(`[data-section="${section}"]`).waitFor();
  return app.page;
}

test('a server is added, reviewed, approved, disconnected and removed', { timeout: 120_000 }, async () => {
  const page = await openAt('mcp');
  // A server cannot read the data folder.
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'server.json');
  const tool = {
    name: 'read',
    description: 'Reads \u202Ea note.',
    inputSchema: { type: 'object' },
    annotations: { destructiveHint: true },
  };
  const requestedSchema = {
    type: 'object',
    properties: {
      place: { type: 'string', title: 'Place' },
      size: { type: 'integer', default: 3 },
      kinds: { type: 'array', title: 'Kinds', items: { type: 'string', enum: ['sun', 'rain'] } },
      sure: { type: 'boolean', title: 'Sure' },
    },
    required: ['place'],
  };
  const results = { ask: { does: 'elicit', params: { mode: 'form', message: 'Which \u202Enote?', requestedSchema } } };
  writeFileSync(script, JSON.stringify({ tools: [tool, toolOf('ask')], results, record: join(folder, 'record') }));
  await page.getByRole('button', { name: 'Add a server' }).click();
  const form = page.getByRole('form', { name: 'Add a server' });
  await form.getByLabel('Name', { exact: true }).fill('notes');
  await form.getByLabel('Program', { exact: true }).fill(process.execPath);
  await form.getByLabel('Arguments, one on each line').fill(`${program}\n${script}`);
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  const list = page.getByRole('list', { name: 'MCP servers' });
  await list.getByText('waits for your approval').waitFor();
  await page.getByRole('button', { name: 'Start notes and show its tools' }).click();
  await list.getByText('destroys something').waitFor();
  await list
    .getByText(/Reads .*a note/)
    .first()
    .waitFor();
  await shoot(page, 'app-mcp-servers');
  expect(await violations(page, { within: '.page' })).toEqual([]);
  await page.getByRole('button', { name: 'Approve notes as shown' }).click();
  await list.getByText('connected', { exact: true }).waitFor();
  app.reply({ calls: [{ tool: 'notes__ask', args: {} }] }, { text: 'Read it.' });
  await page.evaluate("location.hash = '#/chat'");
  await app.send('Read my note');
  await app.approval.getByRole('button', { name: 'Approve once' }).click();
  const question = page.getByRole('form', { name: 'Question of the MCP server notes' });
  await question.getByText(/Which .*note/).waitFor();
  await question.getByRole('button', { name: 'Send answer' }).click();
  await question.getByLabel('Place').fill('Graz');
  await question.getByLabel('rain').check();
  await question.getByLabel('Sure').check();
  await shoot(page, 'app-server-question');
  expect(await violations(page, { within: 'form' })).toEqual([]);
  await question.getByRole('button', { name: 'Send answer' }).click();
  await app.expectSaid('Read it.');
  expect(readFileSync(join(folder, 'record'), 'utf8')).toContain('"content":{"place":"Graz","size":3,"kinds":["rain"],"sure":true}');
  await openAt('mcp');
  await page.getByRole('button', { name: 'Restart notes' }).click();
  await page.getByRole('button', { name: 'Disconnect notes' }).click();
  await list.getByText('approved, starts when needed').waitFor();
  await list.getByRole('button', { name: 'Remove notes' }).click();
  await page.getByRole('button', { name: 'Really remove notes and its approval?' }).click();
  await page.getByText('No MCP server yet.').waitFor();
});

test('a token is created, shown once and revoked', { timeout: 120_000 }, async () => {
  const page = await openAt('doors');
  const form = page.getByRole('form', { name: 'Make a token' });
  await form.getByLabel('Door', { exact: true }).selectOption('mcp');
  await form.getByLabel('Name of the program').fill('editor');
  await form.getByLabel('What it may use').fill('nonsense');
  await form.getByRole('button').click();
  await page.getByText('must be agents, tools').first().waitFor();
  await form.getByLabel('What it may use').fill('agents, tools/read_file');
  await form.getByRole('button').click();
  await page.getByText('The token of editor:').waitFor();
  expect(await page.getByText(/^tcd-[\w-]{43}$/).count()).toBe(1);
  await shoot(page, 'app-doors');
  expect(await violations(page, { within: '.page' })).toEqual([]);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  expect(await page.getByText(/tcd-/).count()).toBe(0);
  await page.getByRole('button', { name: 'Revoke the token editor' }).click();
  await page.getByRole('button', { name: 'Really revoke the token editor?' }).click();
  await expect.poll(() => page.getByRole('list', { name: 'Programs with a token' }).count()).toBe(0);
});

async function statusAt(url: string, token: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  return (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${token}`, ...headers } })).status;
}

test('the app listens for programs once serve asks, with the rules of serve, until it ends', { timeout: 120_000 }, async () => {
  expect((await findInstance(app.home))?.record.url).toBeUndefined();
  const { key: token } = await (await app.claw()).op('door.create_token', { door: 'openai', name: 'notes' });
  const port = await freePort();
  const asked = await ServerProcess.start(app.home, port);
  expect(asked.url).toBe(`http://127.0.0.1:${port}`);
  expect(await statusAt(asked.url, token)).toBe(200);
  expect(await statusAt(asked.url, 'tcd-wrong')).toBe(401);
  expect(await statusAt(asked.url, token, { origin: 'https://example.org' })).toBe(403);
  expect(await (await fetch(asked.url)).text()).toContain('<title>TrayClaw');
  expect((await fetch(`${asked.url}/mcp`, { method: 'POST', body: '{}' })).status).toBe(401);
  // A later start still shows the window instead of the served one.
  expect(await app.driver.secondInstance([])).toBe(0);

  await (await app.claw()).op('config.set', { key: 'doors.port', value: port });
  expect(await app.quit()).toBe(0);
  await expect(fetch(`${asked.url}/health`)).rejects.toThrow('fetch failed');
  await app.launch();
  await app.usable();
  expect(await statusAt(asked.url, token)).toBe(200);
});
