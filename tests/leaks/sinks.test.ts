// Every output of the program, with secrets planted in a person's message, a model's text, call arguments and tool output: none of them
// arrives anywhere.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { createHttpDoor } from '../../core/doors/http/http.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import { createFileLogger } from '../../main/file-logger.ts';
import { fakeParts, foundInstance, runCommand } from '../doubles/fake-terminal.ts';
import type { ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';
import { createPlant, registeredValues } from './plant.ts';

let home: TestHome;
let model: ScriptedModel;
const plant = createPlant();

eachTest((made) => ({ home, model } = made));

/** One provider for each value, which is how the runtime learns it from the settings. */
function configWithValues(): ConfigInput {
  const { providers, models } = model.config('openai');
  const more = registeredValues.map((value, index) => {
    writeFileSync(join(home.path, `v${index}.key`), value, { mode: 0o600 });
    return [`p${index}`, { kind: 'openai-compatible' as const, baseUrl: model.origin, apiKey: `file:v${index}.key` }] as const;
  });
  return { providers: { ...providers, ...Object.fromEntries(more) }, models, tools: { outputBytesMax: 2_000_000 } };
}

const effects = [
  defineTool({
    name: 'fail',
    description: 'Fails, saying what it was working on.',
    input: z.strictObject({}),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => 'fail',
    run: () => Promise.reject(new Error(`it failed on ${plant.text}`, { cause: new Error(plant.text) })),
  }),
  defineTool({
    name: 'keep',
    description: 'Keeps content.',
    input: z.strictObject({}),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => 'keep',
    run: (_args, context) => {
      const about = { name: 'kept.txt', mediaType: 'text/plain' };
      return Promise.resolve({
        forModel: 'kept',
        artifacts: [
          context.artifacts.put(plant.text, about),
          context.artifacts.put(Buffer.from(`${plant.text} once more`), { ...about, name: 'kept2.txt' }),
        ],
      });
    },
  }),
];

const bytesOf = (path: string): string => readFileSync(path).toString('utf8');

function filesBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => bytesOf(join(entry.parentPath, entry.name)))
    .join('\n');
}

async function readStream(url: string, token: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${url}/api/events?after=0`, { headers: { authorization: `Bearer ${token}` }, signal });
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString('utf8');
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
  return text;
}

async function turnWithPlants(claw: TrayClaw): Promise<{ sessionId: string; turnId: string }> {
  const calls = [
    { tool: 'read_file', args: { path: 'planted.txt' } },
    { tool: 'grep', args: { pattern: '.', path: 'planted.txt' } },
    { tool: 'calc', args: { expression: plant.text.slice(0, 3_000) } },
    { tool: 'write_file', args: { path: 'new.txt', content: plant.text } },
    { tool: 'fail', args: {} },
    { tool: 'keep', args: {} },
    { tool: 'exec', args: { command: 'cat planted.txt; env > env.txt; tr "\\0" "\\n" < /proc/$$/cmdline > args.txt' } },
    { tool: `no-such-tool-${registeredValues[2]}`, args: {} },
  ];
  model.script([
    { results: 0, answer: { text: plant.text, pieceChars: 61, calls: [], reasoning: plant.text } },
    { answer: { text: 'done' } },
  ]);
  const first = await claw.ask(`look at this: ${plant.text}`);
  model.script([
    { results: 0, answer: { text: `I will. ${plant.text}`, pieceChars: 997, calls } },
    { answer: { text: `It said: ${plant.text}`, pieceChars: 1009 } },
  ]);
  let answer = await claw.ask('do it', { sessionId: first.sessionId });
  while (answer.status === 'waiting') {
    for (const { approvalId } of answer.pending ?? []) await claw.op('approval.decide', { approvalId, decision: 'approve' });
    answer = await claw.op('turn.wait', { turnId: answer.turnId });
  }
  expect(answer.status).toBe('done');
  return { sessionId: first.sessionId, turnId: answer.turnId };
}

test('nothing planted arrives at any sink', { timeout: 120_000 }, async () => {
  expect(plant.count).toBeGreaterThan(700);
  expect(plant.leaksIn(plant.text).length).toBe(plant.count);
  const claw = await home.open({
    config: configWithValues(),
    tools: effects,
    logger: createFileLogger(home.path, 'debug'),
    environment: { ...process.env, LAB_API_TOKEN: registeredValues[2], PRIVATE: registeredValues[3] },
  });
  mkdirSync(home.workspace, { recursive: true });
  writeFileSync(join(home.workspace, 'planted.txt'), plant.text);
  // Joined as a listener would: reasoning, answer and each call's output separately.
  const deltas = new Map<string, string>();
  claw.onDelta(({ kind, turnId, callId, text }) => {
    const shownAs = `${kind} of ${callId ?? turnId}`;
    deltas.set(shownAs, (deltas.get(shownAs) ?? '') + text);
  });
  const token = 'token-of-this-test';
  const door = createHttpDoor({ claw, token, logger: silentLogger, clock: systemClock, assetsFolder: null, version: 'test' });
  const { url } = await door.listen({});
  const over = new AbortController();
  const streaming = readStream(url, token, over.signal);

  const { sessionId, turnId } = await turnWithPlants(claw);
  await claw.op('session.rename', { sessionId, title: `about ${registeredValues[2]}` });
  const post = async (name: string, params: unknown): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(`${url}/api/ops/${name}`, { method: 'POST', headers, body: JSON.stringify(params) })).text();
  };
  const { artifacts } = await claw.op('artifact.list', {});
  const bodies = [
    await post('session.get', { sessionId, limit: 5000 }),
    await post('session.list', {}),
    await post('turn.get', { turnId }),
    await post('session.search', { query: 'correct' }),
    await post('tool.run', { tool: 'read_file', args: { path: 'planted.txt' } }),
    await post('tool.run', { tool: 'calc', args: { expression: plant.text.slice(0, 2000) } }),
    ...(await Promise.all(artifacts.map(({ sha256 }) => post('artifact.get', { artifact: sha256, length: 1_000_000 })))),
  ];
  const parts = fakeParts(claw, { findInstance: () => Promise.resolve(foundInstance({ ...claw, close: () => Promise.resolve() })) });
  const ran = await Promise.all(
    [
      ['sessions', 'show', sessionId],
      ['sessions', 'export', sessionId],
      ['turns', 'show', turnId],
      ['tool', 'fail', '{}'],
      ['artifacts', 'get', artifacts[0]?.sha256 ?? ''],
    ].map((argv) => runCommand(argv, parts)),
  );
  const backup = await claw.op('backup.create', {});
  const exported = [
    (await claw.op('session.export', { sessionId, format: 'jsonl' })).text,
    (await claw.op('session.export', { sessionId, format: 'markdown' })).text,
  ];
  over.abort();
  const streamed = await streaming;
  await door.close();
  const database = ['trayclaw.db', 'trayclaw.db-wal'].map((name) => bytesOf(join(home.path, name))).join('\n');
  await claw.close();

  const sinks: Record<string, string> = {
    prompt: model.requests.map(({ body }) => JSON.stringify(body)).join('\n'),
    'event log': database,
    'app log': bytesOf(join(home.path, 'logs', 'trayclaw.log')),
    export: exported.join('\n'),
    'HTTP bodies': bodies.join('\n'),
    'event stream': streamed,
    deltas: [...deltas.values()].join('\n'),
    'command line': ran.map(({ out, err }) => out + err).join('\n'),
    artifacts: filesBelow(join(home.path, 'artifacts')),
    backup: bytesOf(backup.file),
    'child environment': bytesOf(join(home.workspace, 'env.txt')),
    'child arguments': bytesOf(join(home.workspace, 'args.txt')),
    channels: claw.redact(`for a notification: ${plant.text}`),
  };
  expect(Object.fromEntries(Object.entries(sinks).map(([name, text]) => [name, plant.leaksIn(text)]))).toEqual(
    Object.fromEntries(Object.keys(sinks).map((name) => [name, []])),
  );
  // Control: each sink really received the turn.
  const empty = Object.entries(sinks).filter(([name, text]) => !name.startsWith('child') && !text.includes('[redacted:'));
  expect(empty.map(([name]) => name)).toEqual([]);
  expect(sinks['child environment']).toContain('PATH=');
  // A call whose arguments contained a secret was not made with the secret removed.
  expect(readdirSync(home.workspace).includes('new.txt')).toBe(false);
});
