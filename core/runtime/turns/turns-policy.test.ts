import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import type { ConfigInput } from '../../contracts/config.ts';
import { noTaint, type CallTaint, type ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';

/** A command as the exec tool describes it, bound to a package.json that a test rewrites, or to nothing if that is empty. */
class BoundCommand {
  content = '1';
  readonly ran: { line: string; attended: boolean }[] = [];
  /** Called once the facts were read for a decision; the next reading is the one before the run. */
  afterDecision: () => void = () => undefined;

  tool(workspace: () => string): ToolDefinition {
    return defineTool({
      name: 'exec',
      description: 'Runs a command.',
      input: z.strictObject({ line: z.string() }),
      class: 'exec',
      idempotency: () => 'unsafe',
      facts: ({ line }) => {
        const cwd = workspace();
        const config = { kind: 'config' as const, name: `${cwd}/package.json`, sha256: this.content };
        const bindings = this.content === '' ? [] : [config];
        this.afterDecision();
        const argv = line.split(' ');
        return {
          class: 'exec',
          paths: [{ given: '.', real: cwd, access: 'read', insideWorkspace: true, protectedBy: null }],
          command: { line, cwd, plain: { argv, reads: null, family: argv.slice(0, 2), sayable: true, bindings } },
          hosts: [],
        };
      },
      summarize: ({ line }) => `run ${line}`,
      run: ({ line }, { attended }) => {
        this.ran.push({ line, attended });
        return Promise.resolve({ forModel: 'done' });
      },
    });
  }
}

function open(policy: NonNullable<ConfigInput['policy']> = {}) {
  const tools = new BenchTools();
  const command = new BoundCommand();
  const bench: TurnBench = new TurnBench({ policy, tools: [...tools.list(), command.tool(() => bench.workspace)] });
  onTestFinished(() => bench.dispose());
  return { bench, tools, command };
}

const calls = (...list: readonly (readonly [string, string])[]) =>
  ({ calls: list.map(([tool, value]) => [tool, tool === 'exec' ? { line: value } : { arg: value }] as const) }) as const;
const web: CallTaint = {
  session: [{ kind: 'web', where: 'a.example' }],
  derived: [{ kind: 'web', where: 'a.example' }],
  sensitive: false,
};

test('in a free workspace a write runs after a second check, and nothing else does', async () => {
  const { bench, tools } = open({ mode: 'workspace-free' });
  bench.script.push(calls(['put', 'a']), { say: 'ok' });
  expect(await bench.ask('write a')).toBe('done');
  // While the command waits for its answer, the folder becomes a protected one.
  bench.script.push(calls(['fire', 'x'], ['put', 'b']), { say: 'ok' });
  const { turnId } = bench.send('run x, write b');
  expect(await bench.rest(turnId)).toBe('waiting');
  tools.folder.isProtected = true;
  bench.decide('deny');
  expect(await bench.rest(turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().ruleId]).toEqual([['put a'], 'path.protected']);
});

test('a command of config.yaml is bound by its first run, and asks once it changed', async () => {
  const { bench, command } = open({ allowCommands: ['npm test'] });
  bench.script.push(calls(['exec', 'npm test']), { say: 'ok' });
  const first = bench.send('test it');
  expect(await bench.rest(first.turnId)).toBe('done');
  const [grant] = bench.policy.grants(false, bench.clock.nowMs());
  expect(grant).toMatchObject({ approvalId: 'config', scope: { kind: 'always' }, bindings: [{ sha256: '1' }] });
  expect(bench.of(first.turnId, 'policy.decided')).toMatchObject([{ ruleId: 'command.allowed', grantId: grant?.grantId }]);
  expect(bench.policy.listGrants(false, bench.clock.nowMs())).toMatchObject([{ uses: 1 }]);
  expect(command.ran).toEqual([{ line: 'npm test', attended: false }]);

  command.content = '2';
  bench.script.push(calls(['exec', 'npm test']), { say: 'ok' });
  const second = bench.send('test it again');
  expect(await bench.rest(second.turnId)).toBe('waiting');
  expect(bench.pending()).toMatchObject({
    ruleId: 'command.changed',
    reason: expect.stringContaining('package.json has changed') as string,
  });
});

test('a command of config.yaml that changes between the decision and the run asks', async () => {
  const { bench, command } = open({ allowCommands: ['npm test'] });
  let looks = 0;
  command.afterDecision = () => {
    looks += 1;
    if (looks === 1) command.content = 'swapped';
  };
  bench.script.push(calls(['exec', 'npm test']), { say: 'ok' });
  expect(await bench.ask('test it')).toBe('waiting');
  expect([command.ran, bench.pending().ruleId]).toEqual([[], 'command.changed']);
});

test('a config.yaml command is bound to files that appear before it runs', async () => {
  const { bench, command } = open({ allowCommands: ['npm test'] });
  command.content = '';
  command.afterDecision = () => {
    command.content = 'swapped';
  };
  bench.script.push(calls(['exec', 'npm test']), { say: 'ok' });
  expect(await bench.ask('test it')).toBe('done');
  const bound = bench.policy.configGrants().flatMap(({ bindings }) => bindings ?? []);
  expect([command.ran.length, bound.map(({ sha256 }) => sha256)]).toEqual([1, ['swapped']]);
});

test('a grant for a command does not cover it once its files have changed', async () => {
  const { bench, command } = open();
  bench.script.push(calls(['exec', 'npm test']), { say: 'ok' });
  const first = bench.send('test it');
  await bench.rest(first.turnId);
  bench.decide('approve', { kind: 'always' });
  expect(await bench.rest(first.turnId)).toBe('done');
  bench.script.push(calls(['exec', 'npm test']), { say: 'ok' });
  expect(await bench.ask('again')).toBe('done');
  expect(command.ran.map(({ attended }) => attended)).toEqual([true, true]);
  command.content = '2';
  bench.script.push(calls(['exec', 'npm test']));
  expect(await bench.ask('and again')).toBe('waiting');
  expect([command.ran.length, bench.pending().ruleId]).toEqual([2, 'command.changed']);
});

test('a call that may follow untrusted text asks until the person has seen the source', async () => {
  const { bench, tools } = open();
  const write = async (name: string): Promise<string> => {
    bench.script.push(calls(['put', name]), { say: 'ok' });
    return bench.ask(`write ${name}`);
  };
  await write('a');
  bench.decide('approve', { kind: 'always' });
  await bench.runtime.whenIdle();
  bench.taintOf = () => web;
  expect(await write('b')).toBe('waiting');
  expect(bench.pending()).toMatchObject({ ruleId: 'taint.unseen', origin: { channel: 'cli', agentId: 'main', taint: web.derived } });
  bench.decide('approve', { kind: 'always' });
  await bench.runtime.whenIdle();
  expect(await write('c')).toBe('done');
  bench.taintOf = () => noTaint;
  expect(await write('d')).toBe('done');
  expect(tools.ran).toEqual(['put a', 'put b', 'put c', 'put d']);
});

test('content that arrives after a call was judged does not make it ask again', async () => {
  const { bench, tools } = open({ mode: 'workspace-free' });
  bench.script.push(calls(['look', 'page'], ['put', 'a']), { say: 'ok' });
  tools.result = (tool) => {
    if (tool === 'look') bench.taintOf = () => web;
    return 'words of others';
  };
  expect(await bench.ask('look and write')).toBe('done');
});

test('untrusted sources are logged right before the result they belong to', async () => {
  const { bench } = open({ mode: 'workspace-free' });
  bench.sourcesOf = (tool) => (tool === 'look' ? web.session : []);
  bench.script.push(calls(['look', 'page'], ['put', 'a']), { say: 'ok' });
  const { turnId } = bench.send('look and write');
  expect(await bench.rest(turnId)).toBe('done');
  const [looked, put] = bench.of(turnId, 'tool.requested').map(({ callId }) => callId);
  const seen = bench
    .events(turnId)
    .flatMap(({ type, body }) => (type === 'taint.marked' || type === 'tool.finished' ? [[type, body]] : []));
  expect(seen).toEqual([
    ['taint.marked', { callId: looked, sources: web.session, paths: [] }],
    ['tool.finished', expect.objectContaining({ callId: looked })],
    ['tool.finished', expect.objectContaining({ callId: put })],
  ]);
});

test('calls over the rate limit ask, including approved and direct calls', async () => {
  const { bench, tools } = open({ mode: 'workspace-free', limits: { callsPerMinute: { write: 1 } } });
  bench.script.push(calls(['put', 'a'], ['put', 'b']), { say: 'ok' });
  const { turnId } = bench.send('write a and b');
  expect(await bench.rest(turnId)).toBe('waiting');
  expect(bench.pending()).toMatchObject({ ruleId: 'rate.limit', widerScope: null });
  bench.clock.advance(59_999);
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('done');
  bench.clock.advance(1);
  const direct = bench.direct('put', { arg: 'c' });
  expect(await bench.rest(direct.turnId)).toBe('waiting');
  expect([tools.ran, bench.pending().origin?.channel]).toEqual([['put a', 'put b'], 'cli']);
  expect(bench.of(direct.turnId, 'turn.started')).toMatchObject([{ kind: 'tool', channel: 'cli' }]);
});

test('under lockdown a call is refused, the model learns it, and no approval is made', async () => {
  const { bench, tools } = open({ mode: 'locked-down' });
  bench.script.push(calls(['look', 'a'], ['put', 'a'], ['spy', 'x']), { say: 'I may only look.' });
  const { turnId } = bench.send('do it');
  expect(await bench.rest(turnId)).toBe('done');
  expect([tools.ran, bench.of(turnId, 'policy.decided').map(({ ruleId }) => ruleId)]).toEqual([
    ['look a'],
    ['read.workspace', 'mode.locked-down', 'mode.locked-down'],
  ]);
  expect(bench.policy.recentApprovals()).toEqual([]);
});

test('the decision on a call records that its tool declares its results private', async () => {
  const diary = new BenchTools().list().map((tool) => (tool.name === 'look' ? { ...tool, isPrivate: true as const } : tool));
  const bench = new TurnBench({ tools: diary });
  onTestFinished(() => bench.dispose());
  bench.script.push(calls(['look', 'a']), calls(['put', 'a']), { say: 'ok' });
  const { turnId } = bench.send('look, then write');
  await bench.rest(turnId);
  expect(bench.of(turnId, 'policy.decided').map(({ tool, isPrivate }) => [tool, isPrivate])).toEqual([
    ['look', true],
    ['put', undefined],
  ]);
});
