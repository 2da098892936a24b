// A real log with the taint book on it, and short ways to record what happens in a session. For tests only.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import type { AnyDraft, EventBodies } from '../../core/contracts/events.ts';
import type { CallFacts, CommandFact, PathFact, TaintSource } from '../../core/contracts/tools.ts';
import { SessionLog, sessionMigrations } from '../../core/store/session/session.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import { TaintBook, TaintStore, taintMigrations, type Heard, type JudgedCall } from '../../core/guard/taint/taint.ts';

export const workspace = '/ws';

export class TaintBench {
  readonly home = mkdtempSync(join(tmpdir(), 'trayclaw-taint-'));
  readonly there = new Set<string>();
  readonly executable = new Set<string>();
  readonly tracked = new Set<string>();
  readonly folders = new Set<string>();
  storage!: Storage;
  store!: TaintStore;
  log!: SessionLog;
  book!: TaintBook;
  #calls = 0;

  constructor() {
    this.open();
  }

  open(): void {
    this.storage = Storage.open({ home: this.home, migrations: [...sessionMigrations, ...taintMigrations] });
    this.store = new TaintStore(this.storage.db);
    this.log = new SessionLog({ storage: this.storage, clock: systemClock, logger: silentLogger, projections: [this.store] });
    const files = {
      exists: (path: string) => this.there.has(path),
      isExecutable: (path: string) => this.executable.has(path),
      isTracked: (path: string) => this.tracked.has(path),
      isFolder: (path: string) => this.folders.has(path),
      runsGit: ({ line }: CommandFact) => line === 'sh git-inside.sh',
    };
    this.book = new TaintBook({ store: this.store, reads: this.log.reads, folders: [workspace], files });
  }

  reopen(): void {
    this.storage.dispose();
    this.open();
  }

  dispose(): void {
    this.storage.dispose();
    rmSync(this.home, { recursive: true, force: true });
  }

  append(sessionId: string, ...drafts: AnyDraft[]): void {
    this.log.append(sessionId, drafts);
  }

  /** A message of the person; with `from`, forwarded text by another author. */
  say(sessionId: string, text: string, from?: string): void {
    const turnId = `t${(this.#calls += 1)}`;
    const source: TaintSource = { kind: 'message', where: from ?? '' };
    if (from !== undefined) this.append(sessionId, { type: 'taint.marked', turnId, body: { callId: null, sources: [source], paths: [] } });
    this.append(sessionId, { type: 'user.message', turnId, body: { text, channel: 'library', sender: 'me', dedupeKey: null } });
    this.append(sessionId, { type: 'turn.started', turnId, body: turnStarted });
  }

  /** Records a call with this result and its marks, as the runtime does. */
  run(call: JudgedCall, resultText: string, heard: Partial<Heard> = {}): JudgedCall {
    const { sessionId, callId = '', tool, facts, argsJson, argsHash } = call;
    this.append(
      sessionId,
      {
        type: 'policy.decided',
        body: {
          callId,
          tool,
          decision: 'allow',
          ruleId: 'test',
          reason: '',
          facts,
          idempotency: 'pure',
          verifies: false,
          grantId: null,
          approvalId: null,
        },
      },
      {
        type: 'tool.requested',
        body: { callId, tool, args: argsJson, argsHash, idempotency: 'pure', idempotencyKey: callId, grantId: null },
      },
    );
    const marks = this.book.marksOf(call, { untrusted: [], sessions: [], resultText, ok: true, ...heard });
    if (marks !== null) this.append(sessionId, { type: 'taint.marked', body: marks });
    this.append(sessionId, {
      type: 'tool.finished',
      body: {
        callId,
        tool,
        outcome: 'ok',
        forModel: resultText,
        forUser: '',
        silent: false,
        isAsync: false,
        artifacts: [],
        tookMs: 1,
        resultHash: '',
      },
    });
    return call;
  }

  /** Records that the session reads a page. */
  browse(sessionId: string, host: string, text: string): JudgedCall {
    return this.run(this.call(sessionId, 'web_fetch', { url: `https://${host}/` }, { class: 'network', hosts: [host] }), text);
  }

  call(sessionId: string, tool: string, args: object, facts: Partial<CallFacts>): JudgedCall {
    const argsJson = JSON.stringify(args);
    return {
      sessionId,
      tool,
      argsJson,
      argsHash: argsJson,
      callId: `call${(this.#calls += 1)}`,
      facts: { class: 'read', paths: [], command: null, hosts: [], ...facts },
    };
  }

  write(sessionId: string, path: string, content: string): JudgedCall {
    return this.call(sessionId, 'write_file', { path, content }, { class: 'write', paths: [pathFact(path, 'write')] });
  }

  read(sessionId: string, path: string): JudgedCall {
    return this.call(sessionId, 'read_file', { path }, { paths: [pathFact(path, 'read')] });
  }

  exec(sessionId: string, line: string, cwd = workspace): JudgedCall {
    return this.call(sessionId, 'exec', { command: line }, { class: 'exec', command: { line, cwd }, paths: [pathFact(cwd, 'read')] });
  }

  send(sessionId: string, text: string): JudgedCall {
    return this.call(sessionId, 'send_message', { text }, { class: 'message' });
  }

  derived(call: JudgedCall): string[] {
    return this.book.of(call).derived.map(({ kind, where }) => `${kind}:${where}`);
  }
}

export function pathFact(given: string, access: PathFact['access']): PathFact {
  const real = given.startsWith('/') ? given : `${workspace}/${given}`;
  return { given, real, access, insideWorkspace: real.startsWith(workspace), protectedBy: null };
}

const turnStarted: EventBodies['turn.started'] = {
  kind: 'chat',
  agentId: 'main',
  model: null,
  calls: [],
  limits: { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 },
};
