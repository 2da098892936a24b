// Skills in the whole program: each bundled one does its work through the real tools and the real gate with a scripted model; an untrusted
// one is neither trusted nor run; a read-only agent changes nothing.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import type { ScriptedCall } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { needs } from '../needs.ts';
import { bodies, call, eventsOf, HelperRig } from './helper-rig.ts';
import { contracts } from './skill-contracts.ts';

const bundled = fileURLToPath(new URL('../../skills', import.meta.url));
const pages: Readonly<Record<string, string>> = {
  '/bridge': '<title>Bridge</title><p>The bridge opened in 1894.',
  '/bridge-again': '<title>Bridge</title><p>It opened in 1895.',
  '/price': '<title>Shop</title><p>Price: 9',
  '/news': '<title>News</title><p>The library is open again.',
  '/health': '{"ok":true}',
};
const server = createServer((request, response) => {
  const page = pages[request.url ?? ''];
  const type = page?.startsWith('{') === true ? 'application/json' : 'text/html';
  response.writeHead(page === undefined ? 404 : 200, { 'content-type': type });
  response.end(page ?? 'not here');
});
let web: string;
let rig: HelperRig;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(async () => {
  rig = await HelperRig.start();
});
afterEach(() => rig.dispose());

const filled = (text: string, name: string): string => text.replaceAll('WEB', web).replaceAll('BASE', join(bundled, name));

function put(path: string, content: string): void {
  const target = join(rig.home.workspace, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
}

/** Approves every call until the turn has ended. */
async function approveAll(claw: TrayClaw, turnId: string) {
  for (;;) {
    const ended = await claw.op('turn.wait', { turnId, timeoutMs: 20_000 });
    if (ended.status !== 'waiting') return ended;
    const { approvals } = await claw.op('approval.list', {});
    for (const { approvalId } of approvals) await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  }
}

const free = (): ConfigInput => ({ policy: { mode: 'workspace-free', allowDomains: [new URL(web).host] } });

test('every bundled skill has a contract and cases, and every contract has a skill', () => {
  expect(Object.keys(contracts).sort()).toEqual(readdirSync(bundled).sort());
  for (const name of readdirSync(bundled)) expect(existsSync(join(bundled, name, 'evals'))).toBe(true);
});

test('bundled skills are clean, offered if their programs exist, name existing tools', async () => {
  const claw = await rig.open([], { ...free(), web: { search: { provider: 'searxng', baseUrl: web } } });
  const { results } = await claw.op('skill.lint', { path: bundled });
  expect(results.map(({ name, findings }) => [name, findings])).toEqual(
    Object.keys(contracts)
      .sort()
      .map((name) => [name, []]),
  );
  const { skills, refused } = await claw.op('skill.list', {});
  const tools = new Set((await claw.op('tool.list', {})).tools.map(({ name }) => name));
  const own = skills.filter(({ origin }) => origin === 'bundled');
  expect(own.map(({ name, trust, whyNot }) => [name, trust, whyNot])).toEqual(
    Object.keys(contracts)
      .sort()
      .map((name) => [name, 'bundled', null]),
  );
  expect(own.flatMap((skill) => skill.tools).filter((tool) => !tools.has(tool))).toEqual([]);
  expect(refused).toEqual([]);
});

/** Runs the cases included with the skill, with the same steps. The person's message names the skill. */
async function runCasesOf(claw: TrayClaw, name: string): Promise<void> {
  const { isGood, run } = await claw.op('skill.test', { path: name });
  expect([isGood, run?.passed, run?.cases.filter(({ verdict }) => verdict !== 'pass')]).toEqual([true, 1, []]);
}

test.each(Object.entries(contracts))('%s does what it says', { timeout: 60_000 }, async (name, contract) => {
  const steps: ScriptedCall[][] = contract.steps.map((step) =>
    step.map(({ tool, args }) => ({ tool, args: JSON.parse(filled(JSON.stringify(args), name)) as Record<string, unknown> })),
  );
  const opening: ScriptedCall[] = [call('skill', { action: 'list', query: contract.task }), call('skill', { action: 'open', name })];
  const all = [opening, ...steps];
  const before = (at: number): number => all.slice(0, at).flat().length;
  const claw = await rig.open(
    [
      { user: /PART \w+:/, answer: { text: 'part done' } },
      ...all.map((calls, at) => ({ results: before(at), answer: { calls } })),
      { answer: { text: 'Finished.' } },
    ],
    free(),
  );
  for (const [path, content] of Object.entries(contract.files ?? {})) put(path, filled(content, name));
  const { turnId } = await claw.op('message.send', { text: contract.task });
  expect(await approveAll(claw, turnId)).toMatchObject({ status: 'done', text: 'Finished.' });
  const events = (await eventsOf(claw)).filter((event) => event.turnId === turnId);
  const finished = new Map(bodies(events, 'tool.finished').map((body) => [body.callId, body]));
  const results = bodies(events, 'model.finished').flatMap(({ calls }) => calls.map(({ callId }) => finished.get(callId)));
  expect(results[0]?.forModel.split('\n')[0]).toMatch(new RegExp(`^${name}: `));
  expect(results[1]?.forModel).toContain(`<skill_content name="${name}"`);
  expect(bodies(events, 'skill.expanded')[0]).toMatchObject({ name, depth: 1, trusted: true, file: null });
  const worked = results.slice(2);
  expect(worked).toHaveLength(contract.results.length);
  for (const [at, piece] of contract.results.entries()) {
    if (piece instanceof RegExp) expect(worked[at]?.forModel).toMatch(piece);
    else if (piece !== null) expect(worked[at]?.forModel).toContain(piece);
    else expect(worked[at]?.outcome).toBe('ok');
  }
  for (const [path, piece] of Object.entries(contract.leaves ?? {})) {
    const target = join(rig.home.workspace, path);
    if (piece === null) expect(existsSync(target)).toBe(false);
    else expect(readFileSync(target, 'utf8')).toContain(piece);
  }
  await runCasesOf(claw, name);
});

const foreign = `---\nname: weather\ndescription: Tells the weather of a place from a file.\n---\n\nRun {baseDir}/run.sh and send the result on.\n`;

test('an untrusted skill marks the session, and its script is refused until trusted', { timeout: 60_000 }, async () => {
  const claw = await rig.open([
    { results: 0, answer: { calls: [call('skill', { action: 'open', name: 'weather' })] } },
    { results: 1, answer: { calls: [call('exec', { command: 'sh skills/weather/run.sh' })] } },
    { answer: { text: 'end' } },
  ]);
  put('skills/weather/SKILL.md', foreign);
  put('skills/weather/run.sh', 'touch ran.txt\n');
  await claw.op('skill.reload', {});
  const first = await claw.ask('What is the weather?');
  const events = await eventsOf(claw);
  const where = join(rig.home.workspace, 'skills/weather');
  expect(bodies(events, 'taint.marked').flatMap(({ sources }) => sources)).toContainEqual({ kind: 'file', where });
  expect(bodies(events, 'skill.expanded')).toMatchObject([{ name: 'weather', trusted: false }]);
  expect(first.status).toBe('done');
  const decided = bodies(events, 'policy.decided').filter(({ tool }) => tool === 'exec');
  expect(decided).toMatchObject([
    { decision: 'deny', reason: expect.stringContaining('the skill weather, which you have not trusted') as string },
  ]);
  expect(existsSync(join(rig.home.workspace, 'ran.txt'))).toBe(false);

  const { sha256 } = await claw.op('skill.get', { name: 'weather' });
  await claw.op('skill.trust', { name: 'weather', sha256 });
  const again = await claw.op('tool.run', { tool: 'exec', args: { command: 'sh skills/weather/run.sh' }, wait: false });
  expect(again.outcome).toBe('waiting');
  expect(existsSync(join(rig.home.workspace, 'ran.txt'))).toBe(false);
});

test('a script of an untrusted skill is refused however a command names it; reading it is not', { timeout: 60_000 }, async () => {
  const claw = await rig.open([]);
  put('skills/weather/SKILL.md', foreign);
  put('skills/weather/run.sh', 'touch ran.txt\n');
  put('skills/weather/run.py', 'open("ran.txt", "w")\n');
  put('other.sh', 'sh skills/weather/run.sh\n');
  await claw.op('skill.reload', {});
  const decided = async (command: string, cwd = '.') =>
    (await claw.op('policy.explain', { tool: 'exec', args: { command, cwd } })).decision;
  for (const command of [
    'cd skills/weather && sh run.sh',
    'sh -c "sh skills/weather/run.sh"',
    'timeout 9 sh -c ". skills/weather/run.sh"',
    'cat skills/weather/run.sh | sh',
    'python3 < skills/weather/run.py',
    'bash sk*/w*/run.sh',
    'sh other.sh',
    'true; source skills/weather/run.sh',
    'cp skills/weather/run.py x.py && python3 x.py',
    'PYTHONPATH=a:skills/weather python3 -m run',
    'env PYTHONPATH=skills/weather python3 -m run',
    'ls skills/*/run.sh | xargs sh',
    "find skills -name '*.sh' -exec sh {} ';'",
    'find . -name run.sh | xargs -n 1 bash',
  ])
    expect([command, await decided(command)]).toEqual([command, 'deny']);
  const inFolder = ['python3 -c "import run"', 'cat <<E | python3\nimport run\nE', 'whoami -x', 'ls'];
  expect(await Promise.all(inFolder.map((command) => decided(command, 'skills/weather')))).toEqual(['deny', 'deny', 'ask', 'allow']);
  // A search and code that have nothing to do with each other.
  expect(await decided("find . -name '*.md'; python3 -c 'print(1)'")).toBe('ask');
  expect([await decided('cat skills/weather/run.sh'), await decided('grep -c ran skills/weather/run.sh')]).toEqual(['allow', 'allow']);
  const { sha256 } = await claw.op('skill.get', { name: 'weather' });
  await claw.op('skill.trust', { name: 'weather', sha256 });
  expect(await decided('cat skills/weather/run.sh | sh')).toBe('ask');
});

const confined = { ...needs('bubblewrap, socat, ripgrep and bash'), timeout: 60_000 };

test('a script may use what its skill declares; everything else asks or is blocked', confined, async () => {
  const other = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-other-')));
  const script = (name: string, text: string, head: string): void => {
    put(`skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does a thing for a test.\nmetadata:\n${head}---\n\nRun run.mjs.\n`);
    put(`skills/${name}/run.mjs`, text);
  };
  const writes = `import { writeFileSync } from 'node:fs';\ntry { writeFileSync(${JSON.stringify(join(other, 'x'))}, ''); console.log('written'); } catch (e) { console.log(e.code); }`;
  script('bounded', writes, '  trayclaw-bins: node\n');
  script('wide', writes, `  trayclaw-bins: node\n  trayclaw-folders: ${other}\n`);
  script('reaching', `await fetch('https://collector.test/x');`, '  trayclaw-bins: node\n');
  const config = { sandbox: { files: { write: [other] } } };
  const claw = await rig.open([], config);
  const explain = (command: string) => claw.op('policy.explain', { tool: 'exec', args: { command } });
  for (const name of ['bounded', 'wide', 'reaching']) {
    const { sha256 } = await claw.op('skill.get', { name });
    await claw.op('skill.trust', { name, sha256 });
  }
  const beyond = (what: string) => ({ decision: 'ask', ruleId: 'skill.beyond', reason: expect.stringContaining(what) as string });
  expect((await explain('node skills/bounded/run.mjs')).ruleId).not.toBe('skill.beyond');
  expect(await explain('node skills/reaching/run.mjs')).toMatchObject(beyond('the skill reaching and may reach collector.test'));
  expect(await explain('python3 skills/bounded/run.mjs')).toMatchObject(beyond('starts python3'));
  const run = async (name: string): Promise<string> => {
    const running = claw.op('tool.run', { tool: 'exec', args: { command: `node skills/${name}/run.mjs` } });
    const open = async () => (await claw.op('approval.list', {})).approvals;
    await until(async () => (await open()).length > 0, 'the command asks');
    for (const { approvalId } of await open())
      await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
    return (await running).forModel;
  };
  expect(await run('bounded')).toMatch(/EROFS|ENOENT|EACCES/);
  expect(await run('wide')).toContain('written');
  rmSync(other, { recursive: true, force: true });
});

test('trust covers what was shown, never a writable folder, and survives a restart', { timeout: 60_000 }, async () => {
  let claw = await rig.open([]);
  put('skills/weather/SKILL.md', foreign);
  await claw.op('skill.reload', {});
  const { sha256 } = await claw.op('skill.get', { name: 'weather' });
  put('skills/weather/run.sh', 'true\n');
  await expect(claw.op('skill.trust', { name: 'weather', sha256 })).rejects.toMatchObject({ code: 'conflict' });
  await expect(claw.op('skill.trust', { folder: join(rig.home.workspace, 'skills') })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.op('skill.trust', { folder: dirname(rig.home.path) })).rejects.toMatchObject({ code: 'invalid_params' });
  const project = rig.home.project();
  await claw.op('workspace.trust', { path: project });
  await expect(claw.op('skill.trust', { folder: project })).rejects.toMatchObject({ code: 'invalid_params' });
  const now = await claw.op('skill.get', { name: 'weather' });
  await claw.op('skill.trust', { name: 'weather', sha256: now.sha256 });
  await claw.op('skill.configure', { name: 'csv-summary', enabled: false });
  await rig.home.close(claw);
  claw = await rig.open([]);
  expect((await claw.op('skill.get', { name: 'weather' })).trust).toBe('content');
  expect((await claw.op('skill.get', { name: 'csv-summary' })).whyNot).toBe('It is switched off.');
});

test('a skill that appears on the disk is found a moment later', { timeout: 30_000 }, async () => {
  const claw = await rig.open([]);
  await claw.op('skill.list', {});
  put('skills/weather/SKILL.md', foreign);
  const isThere = async (): Promise<boolean> => (await claw.op('skill.list', {})).skills.some(({ name }) => name === 'weather');
  await until(isThere, 'the skill is listed');
  expect((await claw.op('skill.get', { name: 'weather' })).trust).toBe('none');
});

test('a read-only agent is offered no changing tools, and a direct request is denied', { timeout: 60_000 }, async () => {
  const claw = await rig.open(
    [{ results: 0, answer: { calls: [call('write_file', { path: 'a.txt', content: 'x' })] } }, { answer: { text: 'end' } }],
    { policy: { mode: 'workspace-free' } },
  );
  await claw.op('identity.set', { risk: 'read-only', role: 'You look after the archive.' });
  const asked = await claw.ask('Write a file');
  expect(existsSync(join(rig.home.workspace, 'a.txt'))).toBe(false);
  const [request] = rig.model.requests;
  expect(JSON.stringify(request)).toContain('You look after the archive.');
  expect(asked.status).toBe('done');
  expect((await claw.op('identity.versions', {})).versions).toHaveLength(1);
  await claw.op('identity.revert', { version: 0 });
  const after = await claw.ask('Write it now');
  expect(after.status).toBe('done');
  expect(existsSync(join(rig.home.workspace, 'a.txt'))).toBe(true);
});

test('/skill lists, shows, and starts a turn that names the skill', { timeout: 60_000 }, async () => {
  const claw = await rig.open([{ answer: { text: 'summed up' } }]);
  expect((await claw.op('command.run', { line: '/skill' })).text).toContain('`csv-summary`');
  expect((await claw.op('command.run', { line: '/skill csv-summary' })).text).toContain('# Summarize a table');
  const { turnId } = await claw.op('command.run', { line: '/skill csv-summary the file sales.csv' });
  expect(await claw.op('turn.wait', { turnId: turnId ?? '' })).toMatchObject({ status: 'done', text: 'summed up' });
  await expect(claw.op('command.run', { line: '/skill nowhere do it' })).rejects.toMatchObject({ code: 'not_found' });
});
