// Composes the gate and everything it bases its decisions on.

import { realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Config } from './contracts/config.ts';
import { systemSessionId } from './contracts/events.ts';
import type { FactContext } from './contracts/tools.ts';
import { Checkpoints } from './store/checkpoint/checkpoint.ts';
import { BudgetBook, type HistorySum } from './guard/budget/budget.ts';
import { literalWords } from './guard/command/command.ts';
import { PanicSwitch } from './guard/panic/panic.ts';
import { PolicyGate } from './guard/policy/policy.ts';
import { domainSets } from './guard/safety/safety.ts';
import { Sandbox } from './guard/sandbox/sandbox.ts';
import { Secrets } from './guard/secret/secret.ts';
import { filesOnDisk, LateCopies, TaintBook } from './guard/taint/taint.ts';
import { openWorkspace, realOf, Workspaces } from './guard/workspace/workspace.ts';
import { isOwnData, protectionOf } from './hands/tools/tools.ts';
import { helpers } from './features/helpers/helpers.ts';
import { bundledSkills } from './features/skills/skills.ts';
import { usage } from './features/usage/usage.ts';
import type { Base, Store } from './compose-base.ts';

/** More than a person can have allowed by hand. */
const EXTENSIONS_MAX = 10_000;
export function composeGuard(base: Base, store: Store) {
  const { home, config, clock, logger, environment, lifetimes } = base;
  const { policy, marks, log, rows } = store;
  const { report } = rows.of(usage);
  const jobs = rows.of(helpers);
  const workspace = openWorkspace(home, config.workspace.path);
  const facts = {
    workspace,
    home: realpathSync(home),
    extraFolders: config.workspace.extraFolders.map((folder) => resolve(home, folder)),
  };
  const panic = new PanicSwitch((engaged) => store.head.setStopped(engaged));
  const extraFolders = facts.extraFolders.map(realOf);
  const sandbox = lifetimes.add(
    new Sandbox({
      ...base,
      config: readingProgram(config.sandbox),
      facts,
      userHome: homedir(),
      platform: process.platform,
      temporaryFolder: tmpdir(),
    }),
  );
  const gate = new PolicyGate({
    ...base,
    store: policy,
    panic,
    policy: config.policy,
    workspace,
    extraFolders,
    domains: domainSets,
    hostsOfTools: { browser: config.browser.allowHosts },
    entryWords: literalWords,
    confines: () => sandbox.confines(),
  });
  const workspaces = composeWorkspaces(facts, policy);
  const taint = new TaintBook({
    store: marks,
    reads: log.reads,
    folders: [workspace, ...extraFolders],
    files: filesOnDisk,
  });
  const lateCopies = composeLateCopies(base, store, taint);
  const secrets = Secrets.open({ home, config, env: environment, registrar: base.safety, logger });
  const budget = new BudgetBook(config.budget, {
    // Subagent spending counts towards the caller.
    spentInTurn: (turnId) => total([turnId, ...jobs.turnsBelow(turnId)].map((one) => report.spentInTurn(one))),
    spentInSession: (sessionId) => total([sessionId, ...jobs.sessionsBelow(sessionId)].map((one) => report.spentInSession(one))),
    spentSince: (query) => report.spentSince(query),
    extensions: () =>
      log.reads
        .slice(systemSessionId, { types: ['budget.extended'], limit: EXTENSIONS_MAX, newest: true })
        .flatMap((event) => (event.type === 'budget.extended' ? [event.body] : [])),
  });
  const checkpoints = new Checkpoints({
    db: store.storage.db,
    rows: store.checkpointRows,
    store: store.artifacts,
    clock,
    undoDays: config.retention.undoDays,
    isStopped: () => panic.engaged,
    forbids: (path) => (isOwnData(path, facts) ? "It is TrayClaw's own data, which is never written this way." : null),
  });
  return { facts, workspaces, panic, gate, taint, lateCopies, secrets, budget, sandbox, checkpoints };
}
export type Guard = ReturnType<typeof composeGuard>;

function composeLateCopies({ logger, lifetimes }: Base, { log }: Store, taint: TaintBook): LateCopies {
  const lateCopies = new LateCopies({
    logger,
    watch: (command, sinceMs) => taint.watch(command, sinceMs),
    // No session's own: each that reads such a file learns of it.
    record: (callId, paths) =>
      void log.append(systemSessionId, [{ type: 'taint.marked', body: { callId, sources: [], paths: [...paths] } }]),
  });
  lifetimes.defer(() => lateCopies.dispose());
  return lateCopies;
}

function composeWorkspaces(facts: FactContext, policy: Store['policy']): Workspaces {
  return new Workspaces({
    facts,
    trusted: () => policy.trustedWorkspaces(),
    protectionOf: (real) => protectionOf(real, facts),
    userHome: realOf(homedir()),
    temporaryFolder: realOf(tmpdir()),
  });
}

function total(sums: readonly HistorySum[]): HistorySum {
  return sums.reduce((a, b) => ({
    usd: a.usd + b.usd,
    tokens: a.tokens + b.tokens,
    unknownCostCalls: a.unknownCostCalls + b.unknownCostCalls,
  }));
}

/** A confined command may read what came with the program: its skills, and the Node that their scripts are run by. */
function readingProgram(sandbox: Config['sandbox']): Config['sandbox'] {
  const skills = bundledSkills();
  const own = [dirname(process.execPath), ...(skills === null ? [] : [skills])];
  return { ...sandbox, files: { ...sandbox.files, read: [...sandbox.files.read, ...own] } };
}
