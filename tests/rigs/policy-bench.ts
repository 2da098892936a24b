// For tests only: shortcuts for facts, and the gate over a real store in a temporary folder.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../doubles/manual-clock.ts';
import { CountingIds } from '../doubles/counting-ids.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { configSchema, type ConfigInput } from '../../core/contracts/config.ts';
import type { AnyDraft } from '../../core/contracts/events.ts';
import type { Approval, Grant, GrantScope } from '../../core/contracts/policy.ts';
import {
  noTaint,
  type CallFacts,
  type CallTaint,
  type CommandBinding,
  type PathFact,
  type PlainCommand,
  type ToolClass,
} from '../../core/contracts/tools.ts';
import { SessionLog, sessionMigrations } from '../../core/store/session/session.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import { PolicyGate, PolicyStore, policyMigrations, type GateDecision, type GateRequest } from '../../core/guard/policy/policy.ts';

export const path = (real: string, changes: Partial<PathFact> = {}): PathFact => ({
  given: real,
  real,
  access: 'write',
  insideWorkspace: real.startsWith('/ws/') || real === '/ws',
  protectedBy: null,
  ...changes,
});

export const facts = (toolClass: ToolClass, paths: readonly PathFact[] = [], command: CallFacts['command'] = null): CallFacts => ({
  class: toolClass,
  paths: [...paths],
  command,
  hosts: [],
});

export const bindings = (...contents: readonly string[]): CommandBinding[] => [
  { kind: 'program', name: '/usr/bin/npm', sha256: 'p' },
  ...contents.map((content, at) => ({ kind: 'config' as const, name: `/ws/${at === 0 ? 'package.json' : `file${at}`}`, sha256: content })),
];

/** The facts of a plain command in a folder, with the folder among its paths, as the exec tool reports them. */
export function plainCommand(line: string, plain: Partial<PlainCommand> = {}, cwd = '/ws'): CallFacts {
  const argv = line.split(' ');
  const whole = { argv, reads: null, family: null, sayable: true, bindings: bindings('1'), ...plain };
  return facts('exec', [path(cwd, { access: 'read' })], { line, cwd, plain: whole });
}

export const npmTest = (content: string, cwd = '/ws'): CallFacts =>
  plainCommand('npm test', { family: ['npm', 'test'], bindings: bindings(content) }, cwd);

export const fetchFrom = (...hosts: readonly string[]): CallFacts => ({
  ...facts('network'),
  hosts: [...hosts],
  request: { method: 'GET', url: `https://${hosts[0] ?? ''}/`, reads: true },
});

export const fromWeb = (...hosts: readonly string[]): CallTaint => ({
  session: hosts.map((where) => ({ kind: 'web', where })),
  derived: hosts.map((where) => ({ kind: 'web', where })),
  sensitive: false,
});

export interface Asked {
  readonly tool?: string;
  readonly argsHash?: string;
  readonly sessionId?: string;
  readonly taint?: CallTaint;
  readonly dispatch?: { readonly grantId: string | null };
  readonly channel?: string;
}

/** `example.org` covers itself and its subdomains. */
const listedDomains = (entries: readonly string[]) => ({
  covers: (host: string) => entries.some((entry) => host === entry || host.endsWith(`.${entry}`)),
});

/** Splits an entry as the composition does, but without quotes. */
export const entryWords = (entry: string): readonly string[] => entry.trim().split(/\s+/);

export class PolicyBench {
  readonly clock = new ManualClock();
  readonly ids = new CountingIds();
  readonly panic = { engaged: false };
  readonly storage: Storage;
  readonly store: PolicyStore;
  readonly log: SessionLog;
  readonly gate: PolicyGate;
  readonly #home = mkdtempSync(join(tmpdir(), 'trayclaw-policy-'));

  constructor(policy: NonNullable<ConfigInput['policy']> = {}) {
    this.storage = Storage.open({ home: this.#home, migrations: [...sessionMigrations, ...policyMigrations] });
    this.store = new PolicyStore(this.storage.db);
    const { storage, clock } = this;
    this.log = new SessionLog({ storage, clock, logger: silentLogger, projections: [this.store] });
    this.gate = this.gateWith(policy);
  }

  /** The gate as after a start with another config.yaml. */
  gateWith(policy: NonNullable<ConfigInput['policy']>): PolicyGate {
    const { store, clock, ids, panic } = this;
    const config = configSchema.parse({ policy });
    return new PolicyGate({
      store,
      clock,
      ids,
      panic,
      policy: config.policy,
      workspace: '/ws',
      extraFolders: ['/opened'],
      domains: listedDomains,
      entryWords,
      confines: () => true,
    });
  }

  request(given: CallFacts, asked: Asked = {}): GateRequest {
    const { tool = 'put', argsHash = 'h', sessionId = 's1', taint = noTaint, channel = 'cli' } = asked;
    return {
      callId: 'call_1',
      sessionId,
      turnId: 'trn_1',
      tool,
      args: '{}',
      argsHash,
      facts: given,
      summary: 'put it',
      origin: { channel, agentId: 'main' },
      taint,
      ...(asked.dispatch === undefined ? {} : { dispatch: asked.dispatch }),
    };
  }

  /** Decides, then records and counts as the runtime would. */
  decide(given: CallFacts, asked: Asked = {}, gate = this.gate): GateDecision {
    const request = this.request(given, asked);
    const decided = gate.authorize(request);
    if (decided.firstUse !== null) this.add({ type: 'grant.created', body: { grant: decided.firstUse } });
    if (decided.decision === 'allow') gate.count(request);
    return decided;
  }

  ruleOf(given: CallFacts, asked: Asked = {}, gate = this.gate): string {
    return this.decide(given, asked, gate).ruleId;
  }

  ask(given: CallFacts, asked: Asked = {}): Approval {
    const request = this.request(given, asked);
    // As if nothing had been allowed yet.
    const approval = this.gate.createApproval(request, this.gate.authorize({ ...request, dispatch: { grantId: null } }));
    this.add({ type: 'approval.requested', body: { approval } });
    return approval;
  }

  /** Asks, and a person approves. */
  allow(given: CallFacts, scope: GrantScope, asked: Asked = {}, choice = 0): Grant {
    return this.approve(this.ask(given, asked), scope, asked.argsHash, choice);
  }

  approve(approval: Approval, scope: GrantScope, argsHash = 'h', choice = 0): Grant {
    const grant = this.gate.grantFor(approval, scope, argsHash, choice);
    const rebound = this.gate.rebind(approval);
    const body = { approvalId: approval.approvalId, callId: 'call_1', scope: grant.scope, by: 'ada', grantId: grant.grantId };
    this.add({ type: 'approval.decided', body: { ...body, decision: 'approve' } });
    for (const grantId of rebound?.revoked ?? []) this.add({ type: 'grant.revoked', body: { grantId, by: 'ada' } });
    this.add({ type: 'grant.created', body: { grant } });
    if (rebound !== null) this.add({ type: 'grant.created', body: { grant: rebound.created } });
    return grant;
  }

  /** Approves a call once and runs it with that approval. */
  runOnce(given: CallFacts, asked: Asked = {}): void {
    const { grantId } = this.allow(given, { kind: 'once' }, asked);
    this.add({ type: 'grant.spent', body: { grantId, callId: 'call_1' } });
  }

  revoke(grantId: string): void {
    this.add({ type: 'grant.revoked', body: { grantId, by: 'ada' } });
  }

  add(draft: AnyDraft): void {
    this.log.append('system', [draft]);
  }

  dispose(): void {
    this.storage.dispose();
    rmSync(this.#home, { recursive: true, force: true });
  }
}
