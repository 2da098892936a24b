import { hash } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import * as fc from 'fast-check';
import * as z from 'zod';
import { systemClock } from '../../base/clock.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { canonicalJson } from '../../base/json.ts';
import { silentLogger } from '../../base/logger.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { createToolBench, MemoryArtifacts } from '../../../tests/rigs/tool-bench.ts';
import { defineTool, ToolHost, type ParsedCall } from './tools.ts';

const bench = createToolBench();
afterAll(() => bench.dispose());
afterEach(() => {
  bench.artifacts.isFull = false;
});

function toolThat(run: (args: { n?: number | undefined }, context: ToolContext) => Promise<ToolResult>, name = 'probe'): ToolDefinition {
  return defineTool({
    name,
    description: 'A probe.',
    input: z.strictObject({ n: z.number().optional() }),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => 'probe',
    run,
  });
}

function hostOf(tool: ToolDefinition, outputBytesMax = 48_000): ToolHost {
  return new ToolHost({ tools: [tool], clock: systemClock, logger: silentLogger, outputBytesMax, artifacts: bench.artifacts });
}

function parsedOf(host: ToolHost, name = 'probe', args = '{}'): ParsedCall {
  const parsed = host.parse(name, args);
  if (!parsed.ok) throw parsed.error;
  return parsed.value;
}

async function runProbe(
  run: (args: { n?: number | undefined }, context: ToolContext) => Promise<ToolResult>,
  options: { timeoutMs?: number } = {},
) {
  const host = hostOf(toolThat(run));
  return host.run(parsedOf(host), bench.context(), options);
}

const classOf = (name: string): string =>
  name === 'exec' ? 'exec' : /^(?:http|web)_/.test(name) ? 'network' : /^(?:write|edit|append)/.test(name) ? 'write' : 'read';

test('lists every built-in tool by name, with a schema for models', () => {
  const names = bench.host.schemas().map((schema) => schema.name);
  expect(names).toEqual(
    ['append_file', 'artifact_read', 'calc', 'edit_file', 'exec', 'glob', 'grep', 'http_request', 'list_dir', 'read_file', 'session_search', 'web_fetch', 'write_file'], // prettier-ignore
  );
  expect(bench.host.list().map(({ name, class: toolClass }) => `${name}:${toolClass}`)).toEqual(
    names.map((name) => `${name}:${classOf(name)}`),
  );
  expect(names.flatMap((name) => (bench.host.get(name)?.isPrivate === undefined ? [] : [name]))).toEqual([
    'artifact_read',
    'session_search',
  ]);
  for (const schema of bench.host.schemas()) {
    const words = Object.keys(schema.parameters).filter((word) => !['type', 'properties', 'required'].includes(word));
    expect([schema.parameters['type'], words]).toEqual(['object', []]);
  }
});

test('returns the identical list of schemas until a tool is added or removed', () => {
  const host = hostOf(toolThat(() => Promise.resolve({ forModel: 'a' })));
  const before = host.schemas();
  expect(host.schemas()).toBe(before);
  const remove = host.register(toolThat(() => Promise.resolve({ forModel: 'b' }), 'another'));
  expect(host.schemas().map((schema) => schema.name)).toEqual(['another', 'probe']);
  remove();
  expect(host.has('another')).toBe(false);
  expect(host.get('probe')?.name).toBe('probe');
  expect(host.schemas()).toEqual(before);
});

test('refuses a tool whose name no provider would accept', () => {
  expect(() => hostOf(toolThat(() => Promise.resolve({ forModel: '' }), 'no spaces'))).toThrow(/tool name/);
});

test('treats empty arguments as an empty object and hashes the canonical form', () => {
  const host = hostOf(toolThat(() => Promise.resolve({ forModel: '' })));
  expect(parsedOf(host, 'probe', '  ')).toMatchObject({ args: {}, argsJson: '{}', name: 'probe' });
  const write = parsedOf(bench.host, 'write_file', '{"path":"a","content":"b"}');
  expect(write.argsHash).toBe(hash('sha256', canonicalJson({ content: 'b', path: 'a' }), 'hex'));
  expect(parsedOf(bench.host, 'write_file', ' {"content":"b", "path":"a"}').argsHash).toBe(write.argsHash);
});

test.each([
  ['write_file', '{"path":3,"contents":"x"}', ['path must be text, not a number', 'content is missing (it must be text)', 'contents is not a known key']], // prettier-ignore
  ['write_file', '[1]', ['the arguments as a whole must be keys with values, not a list']],
  ['write_file', 'null', ['the arguments as a whole must be keys with values, not empty']],
  ['exec', '{"action":"write","sessionId":"a"}', ['data is needed for the action write']],
  ['read_file', '{"path":"a\\u0000b"}', ['path: a path cannot hold a NUL byte']],
])('names every wrong key of %s %s', (tool, args, problems) => {
  const parsed = bench.host.parse(tool, args);
  expect(parsed.ok ? null : { code: parsed.error.code, problems: parsed.error.data['problems'] }).toEqual({
    code: 'invalid_arguments',
    problems,
  });
});

test('reports broken, huge and endlessly nested arguments with a code', () => {
  const codeOf = (args: string): string => {
    const parsed = bench.host.parse('calc', args);
    return parsed.ok ? 'ok' : parsed.error.code;
  };
  expect(codeOf('{"expression":')).toBe('invalid_arguments');
  expect(codeOf(JSON.stringify({ expression: 'x'.repeat(1_000_001) }))).toBe('arguments_too_large');
  expect(codeOf(JSON.stringify({ expression: 'ü'.repeat(600_000) }))).toBe('arguments_too_large');
  expect(codeOf('['.repeat(300_000) + ']'.repeat(300_000))).toBe('invalid_arguments');
  const loose = hostOf({ ...toolThat(() => Promise.resolve({ forModel: '' })), input: z.looseObject({}) });
  const deep = loose.parse('probe', `{"a":${'['.repeat(300_000)}${']'.repeat(300_000)}}`);
  expect(deep.ok ? 'ok' : deep.error.code).toBe('invalid_arguments');
});

test('suggests the tool that was probably meant', () => {
  const messageOf = (name: string): string => {
    const parsed = bench.host.parse(name, '{}');
    return parsed.ok ? '' : `${parsed.error.code}: ${parsed.error.message}`;
  };
  expect(messageOf('readFile')).toBe('unknown_tool: There is no tool called "readFile". Did you mean read_file?');
  expect(messageOf('edit')).toBe('unknown_tool: There is no tool called "edit". Did you mean edit_file?');
  expect(messageOf('zzzzzzzz')).toBe('unknown_tool: There is no tool called "zzzzzzzz".');
});

test('any text as arguments gives a value or an error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      for (const { name } of bench.host.schemas()) {
        const parsed = bench.host.parse(name, text);
        expect(parsed.ok || parsed.error instanceof AppError).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});

test('turns anything a tool throws or returns into an error result', async () => {
  const bad: unknown[] = [undefined, null, 7, 'text', [], {}, { forModel: 3 }, Object.create(null)];
  for (const value of bad) {
    const returned = await runProbe(() => Promise.resolve(value as ToolResult));
    expect(returned).toMatchObject({ outcome: 'error', forModel: expect.stringMatching(/^probe gave back .* instead of a result\.$/) });
    const rejected = await runProbe(() => Promise.reject(value));
    expect(rejected).toMatchObject({ outcome: 'error', forModel: expect.stringMatching(/^probe failed: it threw /) });
    const thrown = await runProbe(() => {
      throw value;
    });
    expect(thrown.forModel).toBe(rejected.forModel);
  }
  const trap: ToolResult = Object.defineProperty({ forModel: 'x' }, 'forUser', {
    get: () => {
      throw new Error('trap');
    },
  });
  expect(await runProbe(() => Promise.resolve(trap))).toMatchObject({ outcome: 'error', forModel: 'probe failed: trap' });
  expect(await runProbe(() => undefined as unknown as Promise<ToolResult>)).toMatchObject({ outcome: 'error' });
  const hinted = await runProbe(() => Promise.reject(new AppError('not_found', 'Gone.', { hint: 'Look again.' })));
  expect(hinted.forModel).toBe('Gone. Look again.');
});

test('a tool that names its sources wrongly still gets one', async () => {
  const named = (untrusted: unknown) => runProbe(() => Promise.resolve({ forModel: 'm', untrusted } as ToolResult));
  const probe = { kind: 'mcp', where: 'probe' };
  expect((await named('example.org')).untrusted).toEqual([probe]);
  expect((await named([{ kind: 'web', where: 'example.org' }, { kind: 'sky' }])).untrusted).toEqual([
    { kind: 'web', where: 'example.org' },
    probe,
  ]);
  expect((await named(undefined)).untrusted).toEqual([]);
});

test('passes on a good result unchanged', async () => {
  const ref = { sha256: 'a', name: 'n', mediaType: 't', sizeBytes: 1 };
  const clock = new ManualClock();
  const tool = toolThat(() => {
    clock.advance(25);
    return Promise.resolve({
      forModel: 'm',
      forUser: 'u',
      silent: true,
      isAsync: true,
      artifacts: [ref],
      untrusted: [{ kind: 'mcp', where: 's' }],
    });
  });
  const host = new ToolHost({ tools: [tool], clock, logger: silentLogger, outputBytesMax: 2000, artifacts: bench.artifacts });
  expect(await host.run(parsedOf(host), bench.context())).toEqual({
    outcome: 'ok',
    forModel: 'm',
    forUser: 'u',
    silent: true,
    isAsync: true,
    isOwnEnd: true,
    artifacts: [ref],
    untrusted: [{ kind: 'mcp', where: 's' }],
    tookMs: 25,
    resultHash: hash('sha256', 'ok\nm', 'hex'),
  });
  const plain = await runProbe(() => Promise.resolve({ forModel: '' }));
  expect(plain).toMatchObject({
    outcome: 'ok',
    forModel: '(no output)',
    forUser: '(no output)',
    silent: false,
    isAsync: false,
    artifacts: [],
  });
});

test('ends a run at its time limit even if the tool ignores its signal', async () => {
  let signal: AbortSignal | undefined;
  const result = await runProbe(
    (_, context) => {
      signal = context.signal;
      return new Promise(() => undefined);
    },
    { timeoutMs: 20 },
  );
  expect(result).toMatchObject({ outcome: 'timeout', forModel: 'probe timed out after 20 ms and was ended.' });
  expect(signal?.aborted).toBe(true);
});

test('ends a run as cancelled if its context aborts, before or during the run', async () => {
  const host = hostOf(toolThat(() => new Promise(() => undefined)));
  const controller = new AbortController();
  const running = host.run(parsedOf(host), bench.context({ signal: controller.signal }));
  controller.abort();
  expect(await running).toMatchObject({ outcome: 'cancelled' });
  let ran = false;
  const late = hostOf(
    toolThat(() => {
      ran = true;
      return Promise.resolve({ forModel: '' });
    }),
  );
  expect(await late.run(parsedOf(late), bench.context({ signal: controller.signal }))).toMatchObject({ outcome: 'cancelled' });
  expect(ran).toBe(false);
});

test('live output is bounded and ends with the run', async () => {
  bench.live.length = 0;
  let push: (chunk: string) => void = () => undefined;
  await runProbe((_, context) => {
    push = (chunk) => context.onOutput(chunk);
    for (let i = 0; i < 40; i++) push('x'.repeat(100_000));
    return Promise.resolve({ forModel: '' });
  });
  push('late');
  expect(bench.live.join('').length).toBe(1_000_000);
  expect(bench.live).not.toContain('late');
});

test('cuts long output in the middle and stores the whole', async () => {
  const whole = Array.from({ length: 3000 }, (_, i) => `line ${i}`).join('\n');
  const host = hostOf(
    toolThat(() => Promise.resolve({ forModel: whole })),
    4000,
  );
  const result = await host.run(parsedOf(host), bench.context());
  expect(Buffer.byteLength(result.forModel)).toBeLessThanOrEqual(4000);
  const [ref] = result.artifacts;
  expect(result.forModel).toMatch(/^line 0\nline 1\n/);
  expect(result.forModel).toMatch(/\nline 2999$/);
  expect(result.forModel).toContain(`kB more in artifact ${ref?.name}; read it with artifact_read {"artifact":"${ref?.sha256}"}`);
  expect(Buffer.from(bench.artifacts.read(ref?.sha256 ?? '')).toString()).toBe(whole);
  expect(result.resultHash).toBe(hash('sha256', `ok\n${whole}`, 'hex'));
});

test('says so if the whole cannot be stored', async () => {
  bench.artifacts.isFull = true;
  const host = hostOf(
    toolThat(() => Promise.resolve({ forModel: 'x'.repeat(10_000) })),
    2000,
  );
  const result = await host.run(parsedOf(host), bench.context());
  expect(result).toMatchObject({ outcome: 'ok', artifacts: [] });
  expect(result.forModel).toContain('more were cut and could not be kept');
});

/** Without the replacement character, so that one in a result was caused by a cut. */
const wholeText = fc.string({ unit: 'grapheme', maxLength: 3000 }).filter((text) => !text.includes('\uFFFD'));

test('a result never exceeds its limit, and a short one is unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(wholeText, fc.integer({ min: 1024, max: 4000 }), async (text, bytesMax) => {
      const artifacts = new MemoryArtifacts();
      const tool = toolThat(() => Promise.resolve({ forModel: text, forUser: text }));
      const host = new ToolHost({ tools: [tool], clock: systemClock, logger: silentLogger, outputBytesMax: bytesMax, artifacts });
      const result = await host.run(parsedOf(host), bench.context());
      expect(Buffer.byteLength(result.forModel)).toBeLessThanOrEqual(bytesMax);
      expect(Buffer.byteLength(result.forUser)).toBeLessThanOrEqual(bytesMax);
      expect(result.forModel).not.toContain('\uFFFD');
      const isShort = text !== '' && Buffer.byteLength(text) <= bytesMax;
      expect(result.forModel === text && result.artifacts.length === 0).toBe(isShort);
    }),
    { numRuns: 150 },
  );
});

test('a tool cannot change the arguments of its call after they were judged', () => {
  const tool = defineTool({
    name: 'probe',
    description: 'Of a test.',
    input: z.strictObject({ to: z.array(z.strictObject({ path: z.string() })) }),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => 'probe',
    run: () => Promise.resolve({ forModel: 'done' }),
  });
  const args = parsedOf(hostOf(tool), 'probe', '{"to":[{"path":"a"}]}').args as { to: { path: string }[] };
  expect([args, args.to, args.to[0]].map((part) => Object.isFrozen(part))).toEqual([true, true, true]);
});
