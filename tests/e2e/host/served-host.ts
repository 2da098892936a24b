// The real server with a scripted model. Each host has a separate folder, which is deleted when the host is closed.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ScriptedModel, type Answer } from '../../doubles/scripted-model.ts';
import { freePort } from '../../free-port.ts';
import { blankDatabase } from '../../rigs/blank-database.ts';
import type { ConfigInput } from '../../../core/contracts/config.ts';
import { writeEarlierTurns } from './earlier-turns.ts';
import { writeLongTurn } from './one-long-turn.ts';
import { HostHere } from './host-here.ts';
import { ServerProcess } from './server-process.ts';
import type { HostOptions, WindowHost } from './window-host.ts';

const defaultFiles = { 'notes.md': '# Notes\n\nBuy milk.\n' };

/** Starts on the given port, or on a free one. */
export async function startServedHost(options: HostOptions = {}, givenPort?: number): Promise<WindowHost> {
  const home = mkdtempSync(join(tmpdir(), 'tce-'));
  const model = await ScriptedModel.start();
  const reply = (replies: readonly Answer[]): void => model.script([{ answer: inOrder(replies) }]);
  reply(options.replies ?? []);
  // A separate process applies the migrations, as for a person.
  if (options.ownProcess !== true) writeFileSync(join(home, 'trayclaw.db'), blankDatabase(), { mode: 0o600 });
  prepareFolder(home, options, { ...(options.usesDemo ? demoConfig : scriptedConfig(model)), ...options.config });
  await options.before?.(home);
  const port = givenPort ?? (await freePort());
  const begin = (): Promise<ServerProcess | HostHere> => (options.ownProcess === true ? ServerProcess : HostHere).start(home, port);
  let server = await begin();
  let isOn = true;
  return {
    kind: 'serve',
    origin: server.url,
    get token() {
      return server.token;
    },
    readFile: (path) => readFile(join(home, 'workspace', path), 'utf8').catch(absentAsNull),
    writeFile: (path, text) => writeFile(join(home, 'workspace', path), text),
    stop: async (signal = 'SIGTERM') => {
      if (signal === 'SIGKILL' && server instanceof HostHere)
        throw new Error('Only a host in a process of its own can be killed: ownProcess.');
      isOn = false;
      await server.stop(signal);
    },
    start: async ({ later = false } = {}) => {
      if (later) makeLongAgo(join(home, 'ended.json'));
      server = await begin();
      isOn = true;
    },
    reply,
    op: (name, params) => runOp(server, name, params),
    close: async () => {
      if (isOn) await server.stop('SIGTERM');
      await model.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function makeLongAgo(endedFile: string): void {
  const ended = JSON.parse(readFileSync(endedFile, 'utf8')) as object;
  writeFileSync(endedFile, JSON.stringify({ ...ended, endedAtMs: Date.now() - 3_600_000 }));
}

const demoConfig: ConfigInput = { models: { default: 'demo/offline' } };

export function scriptedConfig(model: ScriptedModel): ConfigInput {
  const { providers = {} } = model.config('openai');
  const prices = { scripted: { inputUsdPerMillion: 2, outputUsdPerMillion: 8 } };
  const lab = providers['lab'];
  return {
    providers: lab?.kind === 'openai-compatible' ? { lab: { ...lab, prices } } : providers,
    // A refusal is shown at once: in these specs only the person retries.
    models: { default: 'lab/scripted', retries: 0 },
    budget: { perDayUsd: 10 },
    // Answers are scripted in order, so no summary may consume one.
    context: { summaries: { mode: 'extract' } },
  };
}

export function prepareFolder(home: string, options: HostOptions, config: ConfigInput): void {
  // JSON is valid YAML.
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(config, null, 2));
  for (const [path, text] of Object.entries(options.files ?? defaultFiles)) {
    const file = join(home, 'workspace', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  if (options.historyTurns !== undefined) writeEarlierTurns(home, options.historyTurns);
  if (options.longTurnEvents !== undefined) writeLongTurn(home, options.longTurnEvents);
}

export function inOrder(replies: readonly Answer[]): () => Answer {
  const left = [...replies];
  return () => left.shift() ?? { text: 'Done.' };
}

async function runOp(
  server: Pick<ServerProcess, 'url' | 'token'>,
  name: string,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const response = await fetch(`${server.url}/api/ops/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(params),
  });
  const reply = (await response.json()) as { readonly ok: boolean; readonly result?: unknown };
  if (!reply.ok) throw new Error(`${name} was refused: ${JSON.stringify(reply)}`);
  return reply.result;
}

function absentAsNull(cause: unknown): null {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null;
  throw cause;
}
