import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createProcessTable } from './process-table.ts';
import { noSandbox } from '../../../tests/doubles/bare-tools.ts';
import { createToolBench } from '../../../tests/rigs/tool-bench.ts';
import type { HostedResult } from './tools.ts';
import { ownNow } from '../../../tests/own-clock.ts';

const bench = createToolBench({
  outputBytesMax: 8000,
  environment: {
    PATH: process.env['PATH'],
    HOME: '/home-of-test',
    LC_TIME: 'C',
    TERM: 'xterm',
    SECRET_TOKEN: 's3cret',
    NODE_OPTIONS: '--x',
    BASH_ENV: '/x',
  },
});
const table = createProcessTable(process.platform);

/** Processes that carry the bench's marker and are not zombies. */
async function strays(): Promise<number[]> {
  const rows = await table?.list([`TRAYCLAW_INSTANCE=${bench.instanceMarker['TRAYCLAW_INSTANCE']}`]);
  return (rows ?? []).filter((row) => row.isMarked).map((row) => row.pid);
}

afterEach(async () => {
  await bench.trees.killAll();
  const left = await strays();
  if (left.length > 0) throw new Error(`left running: ${left.join(', ')}`);
});
afterAll(() => bench.dispose());

const exec = (args: Readonly<Record<string, unknown>>, overrides = {}): Promise<HostedResult> => bench.call('exec', args, overrides);
const brief = ({ outcome, forModel }: HostedResult) => ({ outcome, forModel });

async function startBackground(command: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { forModel, isAsync, outcome } = await exec({ command, background: true, ...more });
  expect({ outcome, isAsync }).toEqual({ outcome: 'ok', isAsync: true });
  return /cmd-\d+-\d+/.exec(forModel)?.[0] ?? '';
}

/** Polls until the text appears, each poll waiting for new output. */
async function pollFor(sessionId: string, wanted: RegExp): Promise<string> {
  let seen = '';
  for (let i = 0; i < 50 && !wanted.test(seen); i++) seen += (await exec({ action: 'poll', sessionId, timeoutMs: 5000 })).forModel;
  return seen;
}

test('shows output and errors in their true order', async () => {
  const command = 'for i in 1 2 3; do echo out$i; echo err$i >&2; done';
  expect(brief(await exec({ command }))).toEqual({ outcome: 'ok', forModel: 'out1\nerr1\nout2\nerr2\nout3\nerr3\n' });
});

test('an exit code other than 0 is an error, and missing output is mentioned', async () => {
  expect(brief(await exec({ command: 'echo no; exit 3' }))).toEqual({ outcome: 'error', forModel: 'no\n[exit code 3]' });
  expect(brief(await exec({ command: 'true' }))).toEqual({ outcome: 'ok', forModel: '[no output, exit code 0]' });
  expect(brief(await exec({ command: 'kill -TERM $$' }))).toEqual({ outcome: 'error', forModel: '[ended by signal SIGTERM]' });
  expect(brief(await exec({ command: 'no-such-command-here' }))).toMatchObject({
    outcome: 'error',
    forModel: expect.stringMatching(/not found[^]*exit code 127/),
  });
});

test('passes a harmless environment and the marker, and no secret', async () => {
  const { forModel } = await exec({ command: 'env; :' }, { processMarker: { TRAYCLAW_CALL: 'c', ...bench.instanceMarker } });
  const names = forModel.trim().split('\n').map((line) => line.split('=')[0]); // prettier-ignore
  expect(new Set(names)).toEqual(new Set(['HOME', 'LC_TIME', 'PATH', 'PWD', 'SHLVL', 'TERM', 'TRAYCLAW_CALL', 'TRAYCLAW_INSTANCE', '_']));
  expect(forModel).not.toContain('s3cret');
});

test('has no input in the foreground', async () => {
  expect(brief(await exec({ command: 'cat; echo done' }))).toEqual({ outcome: 'ok', forModel: 'done\n' });
});

test('runs in the requested folder', async () => {
  mkdirSync(join(bench.workspace, 'sub'), { recursive: true });
  expect((await exec({ command: 'pwd', cwd: 'sub' })).forModel).toBe(`${realpathSync(join(bench.workspace, 'sub'))}\n`);
  expect((await exec({ command: 'pwd', cwd: 'missing' })).forModel).toMatch(/^Could not run in .*missing: there is nothing at this path/);
  writeFileSync(join(bench.workspace, 'file'), '');
  expect((await exec({ command: 'pwd', cwd: 'file' })).forModel).toMatch(/is not a folder/);
});

test('a plain command gets the same environment', async () => {
  const { forModel } = await exec({ command: 'env' }, { processMarker: { TRAYCLAW_CALL: 'c', ...bench.instanceMarker } });
  const names = forModel.trim().split('\n').map((line) => line.split('=')[0]); // prettier-ignore
  expect(new Set(names)).toEqual(new Set(['HOME', 'LC_TIME', 'PATH', 'PWD', 'SHLVL', 'TERM', 'TRAYCLAW_CALL', 'TRAYCLAW_INSTANCE']));
});

test('facts list the command line, its folder, its bindings and its risks', () => {
  const parsed = bench.host.parse('exec', '{"command":"rm -r x","cwd":".."}');
  if (!parsed.ok) throw parsed.error;
  const own = { insideWorkspace: false, protectedBy: "this is TrayClaw's own data" };
  expect(parsed.value.tool.facts(parsed.value.args, bench.context())).toEqual({
    class: 'destructive',
    paths: [
      { given: '..', real: bench.home, access: 'read', ...own },
      { given: 'x', real: join(bench.home, 'x'), access: 'write', ...own },
    ],
    command: {
      line: 'rm -r x',
      cwd: bench.home,
      plain: {
        argv: ['rm', '-r', 'x'],
        reads: null,
        family: null,
        sayable: true,
        bindings: [
          { kind: 'program', name: expect.stringMatching(/^\/.*rm$/), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
          { kind: 'environment', name: 'environment', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        ],
      },
    },
    hosts: [],
    risks: ['It deletes folders and everything in them.'],
    does: 'Deletes x and everything inside',
    told: { 'It deletes folders and everything in them.': '' },
  });
});

test('git stays confined although it only reads', async () => {
  const seen: (string | null)[] = [];
  const wrap: typeof noSandbox.wrap = (command) => {
    seen.push(command.reads);
    return noSandbox.wrap(command);
  };
  const own = createToolBench({ sandbox: { wrap } });
  execFileSync('git', ['init', '-q'], { cwd: own.workspace });
  for (const command of ['git status --short', 'git status --short | head', 'ls']) await own.call('exec', { command });
  expect(seen).toEqual([null, null, 'lists files']);
  await own.dispose();
});

test('the facts of a line that is not one plain command say why', () => {
  const parsed = bench.host.parse('exec', JSON.stringify({ command: 'ls $(touch x)' }));
  if (!parsed.ok) throw parsed.error;
  const { command } = parsed.value.tool.facts(parsed.value.args, bench.context());
  expect(command).toEqual({ line: 'ls $(touch x)', cwd: bench.workspace, unclear: 'it contains a command substitution' });
});

test('a plain command keeps its name, and its messages are those of the shell', async () => {
  const plain = await exec({ command: 'ls missing' });
  const shell = await exec({ command: 'ls missing;' });
  expect(plain.forModel).toBe(shell.forModel);
  expect(plain.forModel).toContain('ls: ');
  expect((await exec({ command: `printf '%s|' a "b c" '$(x)' 'd;e'` })).forModel).toBe('a|b c|$(x)|d;e|');
});

test('a command that changed between check and start is not run', async () => {
  const parsed = bench.host.parse('exec', JSON.stringify({ command: 'bash script-of-drift' }));
  if (!parsed.ok) throw parsed.error;
  const script = join(bench.workspace, 'script-of-drift');
  writeFileSync(script, 'echo shown');
  const context = bench.context();
  parsed.value.tool.facts(parsed.value.args, context);
  writeFileSync(script, 'echo other');
  expect(await bench.host.run(parsed.value, context)).toMatchObject({ outcome: 'error', forModel: expect.stringContaining('has changed') });
  parsed.value.tool.facts(parsed.value.args, context);
  expect(brief(await bench.host.run(parsed.value, context))).toEqual({ outcome: 'ok', forModel: 'other\n' });
});

test('records the child before anything else, by pid and start time', async () => {
  bench.spawned.length = 0;
  const { forModel } = await exec({ command: 'echo $$; cut -d" " -f22 /proc/$$/stat' });
  const [pid, ticks] = forModel.split('\n');
  expect(bench.spawned).toEqual([{ pid: Number(pid), startTime: expect.stringMatching(new RegExp(`-${ticks}$`)) }]);
  expect(bench.trees.size).toBe(0);
});

test.each([false, true])('a child whose record cannot be written is ended (terminal: %s)', async (pty) => {
  const onSpawn = () => {
    throw new Error('the log is full');
  };
  expect(brief(await exec({ command: 'sleep 300', pty }, { onSpawn }))).toEqual({
    outcome: 'error',
    forModel: 'exec failed: the log is full',
  });
  expect(await strays()).toEqual([]);
  expect(bench.trees.size).toBe(0);
});

test('ends the whole tree at the time limit and shows the output so far', async () => {
  const startedMs = ownNow();
  const command = `trap '' TERM INT HUP; echo begun; (trap '' TERM; setsid sleep 300 & sleep 300) & sleep 300`;
  const result = await exec({ command, timeoutMs: 300 });
  expect(brief(result)).toEqual({ outcome: 'timeout', forModel: 'begun\n[timed out after 300 ms; it and all it started were ended]' });
  expect(ownNow() - startedMs).toBeLessThan(3000);
  expect(await strays()).toEqual([]);
});

test('abort ends the tree', async () => {
  const controller = new AbortController();
  const running = exec(
    { command: 'echo begun; setsid sleep 300 & sleep 300' },
    { signal: controller.signal, onOutput: () => controller.abort() },
  );
  expect(await running).toMatchObject({ outcome: 'cancelled' });
  const deadlineMs = performance.now() + 3000;
  while (bench.trees.size > 0 && performance.now() < deadlineMs) await new Promise(setImmediate);
  expect(await strays()).toEqual([]);
});

test('a foreground command leaves no process behind, even one that holds its output', async () => {
  const holding = await exec({ command: 'sleep 300 & echo done' });
  expect(brief(holding)).toEqual({
    outcome: 'ok',
    forModel: 'done\n[1 process it left behind was ended; use background to keep a command running]',
  });
  const quiet = await exec({ command: 'sleep 300 >/dev/null 2>&1 & echo done' });
  expect(quiet.forModel).toMatch(/^done\n\[1 process it left behind was ended/);
  expect(await strays()).toEqual([]);
});

test('long output keeps head and tail, and the whole is in an artifact', async () => {
  const result = await exec({ command: 'seq 1 200000' });
  const whole = Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join('');
  expect(Buffer.byteLength(result.forModel)).toBeLessThanOrEqual(8000);
  expect(result.forModel).toMatch(
    /^1\n2\n3\n[^]*MB more in artifact exec-call_\d+\.txt; read it with artifact_read[^]*\n199999\n200000\n$/,
  );
  expect(result.artifacts.map(({ sizeBytes, mediaType }) => ({ sizeBytes, mediaType }))).toEqual([
    { sizeBytes: whole.length, mediaType: 'text/plain; charset=utf-8' },
  ]);
  expect(Buffer.from(bench.artifacts.read(result.artifacts[0]?.sha256 ?? '')).toString()).toBe(whole);
});

test('output beyond the stored maximum costs no memory', async () => {
  const peakAfter = async (bytes: number): Promise<number> => {
    // A limit against a hang: the usual one is too short for this much output on a busy machine.
    const result = await exec({ command: `head -c ${bytes} /dev/zero | tr "\\0" x; echo; echo END`, timeoutMs: 100_000 });
    expect(result.artifacts[0]?.sizeBytes).toBeGreaterThan(50_000_000);
    expect(result.artifacts[0]?.sizeBytes).toBeLessThan(50_100_000);
    expect(result.forModel).toMatch(new RegExp(`${bytes / 1_000_000} MB more in artifact[^]*END\\n$`));
    bench.artifacts.stored.clear();
    return process.resourceUsage().maxRSS * 1024;
  };
  // The peak memory must not grow by this much when another 320 MB are written, or else when another 400 MB are. Both steps would show it
  // if output were kept in memory; a busy machine delays garbage collection only in one of them.
  const bytesMost = 160_000_000;
  const withLittle = await peakAfter(80_000_000);
  const withMore = await peakAfter(400_000_000);
  const grew = withMore - withLittle < bytesMost ? withMore - withLittle : (await peakAfter(800_000_000)) - withMore;
  expect(grew).toBeLessThan(bytesMost);
});

test('live output arrives in few pieces and is complete', async () => {
  bench.live.length = 0;
  await exec({ command: 'for i in $(seq 1 500); do echo line $i; done' });
  expect(bench.live.join('')).toBe(Array.from({ length: 500 }, (_, i) => `line ${i + 1}\n`).join(''));
  expect(bench.live.length).toBeLessThan(20);
});

test('terminal codes are not shown to the model', async () => {
  expect((await exec({ command: `printf '\\033[31mred\\033[0m\\r\\n'` })).forModel).toBe('red\n');
});

test('output in Windows-1252 keeps its letters', async () => {
  expect((await bench.call('exec', { command: String.raw`printf 'K\344ufer M\374ller\n'` })).forModel).toBe('Käufer Müller\n');
});

test('a terminal command sees a terminal', async () => {
  expect(brief(await exec({ command: 'tty; test -t 0 && echo yes', pty: true }))).toEqual({
    outcome: 'ok',
    forModel: expect.stringMatching(/^\/dev\/pts\/\d+\nyes\n$/),
  });
  expect((await exec({ command: 'tty' })).forModel).toContain('not a tty');
  expect(brief(await exec({ command: 'exit 4', pty: true }))).toEqual({ outcome: 'error', forModel: '[exit code 4]' });
  expect(await exec({ command: 'sleep 300', pty: true, timeoutMs: 200 })).toMatchObject({ outcome: 'timeout' });
});

test('a background terminal takes input', async () => {
  const id = await startBackground('read -p "name? " name; echo hello $name', { pty: true });
  expect(await pollFor(id, /name\?/)).toContain('name?');
  await exec({ action: 'write', sessionId: id, data: 'ada\r' });
  expect(await pollFor(id, /ended/)).toMatch(/hello ada\n[^]*ended with exit code 0/);
});

test('a background command is polled, written to, read and ended', async () => {
  const id = await startBackground('while read line; do echo "got $line"; done; echo bye');
  expect((await exec({ action: 'poll', sessionId: id })).forModel).toBe(`[no new output; ${id} is running]`);
  expect(brief(await exec({ action: 'write', sessionId: id, data: 'one\ntwo\n' }))).toEqual({
    outcome: 'ok',
    forModel: `Wrote 8 bytes to ${id}.`,
  });
  expect(await pollFor(id, /got two/)).toContain('got one\n');
  expect((await exec({ action: 'poll', sessionId: id })).forModel).toBe(`[no new output; ${id} is running]`);
  expect((await exec({ action: 'read', sessionId: id, offset: 4 })).forModel).toBe(`one\ngot two\n[${id} is running]`);
  expect((await exec({ action: 'list' })).forModel).toMatch(new RegExp(`^${id}  is running  .*16 bytes of output  while read`, 'm'));
  expect((await exec({ action: 'kill', sessionId: id })).forModel).toBe(`Ended ${id} (1 process).`);
  expect(await pollFor(id, /ended/)).toMatch(/ended: ended by signal SIGKILL|ended by signal/);
  expect(brief(await exec({ action: 'write', sessionId: id, data: 'x' }))).toMatchObject({ outcome: 'error' });
  expect((await exec({ action: 'kill', sessionId: id })).forModel).toMatch(/had already ended/);
});

test('ending an own command needs no approval; an approval of input names the command', async () => {
  const id = await startBackground('cat');
  const factsOf = (args: Readonly<Record<string, unknown>>) => {
    const parsed = bench.host.parse('exec', JSON.stringify(args));
    if (!parsed.ok) throw parsed.error;
    return parsed.value.tool.facts(parsed.value.args, bench.context());
  };
  expect(factsOf({ action: 'kill', sessionId: id })).toMatchObject({ class: 'read', command: null });
  expect(factsOf({ action: 'write', sessionId: id, data: 'x' })).toMatchObject({
    class: 'exec',
    command: { line: 'x' },
    input: { id, command: 'cat' },
    risks: [expect.stringContaining('It types into cat, which was started before')],
  });
  await exec({ action: 'kill', sessionId: id });
});

test('killing a background command ends all it started', async () => {
  const id = await startBackground('(setsid sleep 300 >/dev/null 2>&1 &) ; sleep 300 & sleep 300 & echo ready; wait');
  expect(await pollFor(id, /ready/)).toContain('ready');
  // The processes start one after the other, and "ready" does not wait for all of them.
  await expect.poll(async () => (await strays()).length).toBe(4);
  expect((await exec({ action: 'kill', sessionId: id })).forModel).toBe(`Ended ${id} (4 processes).`);
  expect(await strays()).toEqual([]);
});

test('a background command outlives its call, and its own time limit ends it', async () => {
  const controller = new AbortController();
  const { forModel } = await exec({ command: 'echo up; sleep 300', background: true, timeoutMs: 400 }, { signal: controller.signal });
  controller.abort();
  const id = /cmd-\d+-\d+/.exec(forModel)?.[0] ?? '';
  expect(await pollFor(id, /up/)).toContain('is running');
  expect(await pollFor(id, /ended/)).toContain('ended');
});

test('another conversation does not see it', async () => {
  const id = await startBackground('sleep 300');
  const foreign = await exec({ action: 'poll', sessionId: id }, { sessionId: 'ses_2' });
  expect(foreign).toMatchObject({ outcome: 'error', forModel: expect.stringContaining('There is no background command') });
  expect((await exec({ action: 'list' }, { sessionId: 'ses_2' })).forModel).toBe('No background commands in this conversation.');
});

test('the number of running commands is limited; finished ones make room', async () => {
  const own = createToolBench();
  const call = (args: Readonly<Record<string, unknown>>) => own.call('exec', args);
  const started = await Promise.all(Array.from({ length: 22 }, () => call({ command: 'read x', background: true })));
  expect(started.filter(({ outcome }) => outcome === 'ok').length).toBe(20);
  expect(started.at(-1)?.forModel).toBe('20 background commands are running already. End one with the action kill first.');
  const sessionId = /cmd-\d+-\d+/.exec(started[0]?.forModel ?? '')?.[0] ?? '';
  await call({ action: 'write', sessionId, data: '\n' });
  expect((await call({ action: 'poll', sessionId, timeoutMs: 5000 })).forModel).toContain('ended with exit code 0');
  expect((await call({ command: 'read x', background: true })).outcome).toBe('ok');
  expect((await call({ action: 'poll', sessionId })).outcome).toBe('error');
  await own.dispose();
});
