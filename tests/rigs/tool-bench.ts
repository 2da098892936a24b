// For tests only: real folders, an in-memory sink and a context, so that tools run as in a turn.

import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { AppError } from '../../core/contracts/errors.ts';
import type { CommandSandbox } from '../../core/guard/sandbox/sandbox.ts';
import type { ArtifactRef, ArtifactSink, SpawnRecord, ToolContext } from '../../core/contracts/tools.ts';
import { GuardedFetch } from '../../core/guard/egress/egress.ts';
import { SafetyChecks } from '../../core/guard/safety/safety.ts';
import {
  createBuiltInTools,
  createProcessTable,
  ProcessTrees,
  ToolHost,
  type HostedResult,
  type MessagePort,
  type WebDeps,
} from '../../core/hands/tools/tools.ts';

export class MemoryArtifacts implements ArtifactSink {
  readonly stored = new Map<string, Buffer>();
  isFull = false;

  put(content: Uint8Array | string, about: { name: string; mediaType: string }): ArtifactRef {
    if (this.isFull) throw new AppError('store_full', 'The disk is full.');
    const bytes = Buffer.from(content as string);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.stored.set(sha256, bytes);
    return { sha256, name: about.name, mediaType: about.mediaType, sizeBytes: bytes.length };
  }

  read(id: string, range?: { offset: number; length: number }): Uint8Array {
    const bytes = this.stored.get(id);
    if (bytes === undefined) throw new AppError('artifact_missing', `There is no artifact ${id}.`);
    return range === undefined ? bytes : bytes.subarray(range.offset, range.offset + range.length);
  }
}

export interface ToolBench {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly artifacts: MemoryArtifacts;
  readonly trees: ProcessTrees;
  readonly host: ToolHost;
  readonly instanceMarker: Readonly<Record<string, string>>;
  readonly spawned: SpawnRecord[];
  readonly live: string[];
  context(overrides?: Partial<ToolContext>): ToolContext;
  /** Parses and runs a call as the runtime would. */
  call(tool: string, args: Readonly<Record<string, unknown>>, overrides?: Partial<ToolContext>): Promise<HostedResult>;
  dispose(): Promise<void>;
}

export interface ToolBenchOptions {
  readonly outputBytesMax?: number;
  readonly execTimeoutMs?: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** If absent, the web tools use the real rules and reach no server. */
  readonly web?: Partial<WebDeps>;
  /** If absent, there is no message tool. */
  readonly chats?: MessagePort;
  /** If absent, every command runs unconfined. */
  readonly sandbox?: CommandSandbox;
}

function webDeps(given: Partial<WebDeps> = {}): WebDeps {
  const config = configSchema.parse({}).web;
  const limits = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000, totalMs: 5_000, bytesMax: config.bytesMax };
  const judge = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  const http = given.http ?? new GuardedFetch({ judge, limits, resolver: { resolve: () => Promise.resolve([]) } });
  const secrets = { resolve: (ref: string) => Promise.reject(new AppError('secret_missing', `There is no secret ${ref}.`)) };
  return { http, searchHttp: http, secrets, config, redact: (text) => judge.redact(text).text, ...given };
}

const noSandbox: CommandSandbox = {
  wrap: ({ file, args, environment, sets }) =>
    Promise.resolve({
      file,
      args,
      environment: { ...environment, ...sets },
      side: 'outside',
      dispose: () => Promise.resolve({ remarks: [], failed: false, whenFailed: null }),
    }),
};

export function createToolBench(options: ToolBenchOptions = {}): ToolBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-tools-')));
  const home = join(root, 'home');
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const instanceMarker = { TRAYCLAW_INSTANCE: randomUUID() };
  const artifacts = new MemoryArtifacts();
  const table = createProcessTable(process.platform);
  const trees = new ProcessTrees({ clock: systemClock, logger: silentLogger, table, environment: process.env, instanceMarker });
  const outputBytesMax = options.outputBytesMax ?? 48_000;
  const tools = createBuiltInTools({
    processTrees: trees,
    sandbox: options.sandbox ?? noSandbox,
    clock: systemClock,
    environment: options.environment ?? process.env,
    platform: process.platform,
    userHome: homedir(),
    temporaryFolder: root,
    execTimeoutMs: options.execTimeoutMs ?? 20_000,
    outputBytesMax,
    web: webDeps(options.web),
    chats: options.chats ?? null,
  });
  const host = new ToolHost({ tools, clock: systemClock, logger: silentLogger, outputBytesMax, artifacts });
  const spawned: SpawnRecord[] = [];
  const live: string[] = [];
  let calls = 0;
  const context = (overrides: Partial<ToolContext> = {}): ToolContext => {
    const callId = `call_${++calls}`;
    return {
      workspace,
      home,
      extraFolders: [],
      callId,
      sessionId: 'ses_1',
      turnId: 'trn_1',
      attended: true,
      idempotencyKey: callId,
      signal: new AbortController().signal,
      processMarker: { TRAYCLAW_CALL: `${instanceMarker.TRAYCLAW_INSTANCE}-${callId}`, ...instanceMarker },
      artifacts,
      onOutput: (chunk) => void live.push(chunk),
      onSpawn: (record) => void spawned.push(record),
      searchSessions: () => [],
      ...overrides,
    };
  };
  return {
    root,
    workspace,
    home,
    artifacts,
    trees,
    host,
    instanceMarker,
    spawned,
    live,
    context,
    async call(tool, args, overrides) {
      const parsed = host.parse(tool, JSON.stringify(args));
      if (!parsed.ok) throw parsed.error;
      return host.run(parsed.value, context(overrides));
    },
    async dispose() {
      await trees.killAll();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
