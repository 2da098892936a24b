// Builds the spine layer by layer, from the bottom up. Each step adds its parts to those of the earlier steps, and a part picks its
// dependencies from them by name.

import { realpathSync } from 'node:fs';
import { homedir, tmpdir, uptime } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { systemClock, systemLater } from './base/clock.ts';
import type { Lifetimes } from './base/disposable.ts';
import { RandomIds } from './base/ids.ts';
import { silentLogger } from './base/logger.ts';
import type { Redacted } from './base/redacted.ts';
import { ArtifactStore, artifactMigrations } from './store/artifact/artifact.ts';
import { CheckpointRows, Checkpoints, checkpointMigrations } from './store/checkpoint/checkpoint.ts';
import type { LoadedConfig } from './store/config/config.ts';
import { ContinuityRows, continuityMigrations } from './store/continuity/continuity.ts';
import { LogHead, SessionLog, sessionMigrations } from './store/session/session.ts';
import { Storage, type Migration } from './store/storage/storage.ts';
import { BudgetBook, spendingOf } from './guard/budget/budget.ts';
import { proxiedFetch } from './guard/egress/egress.ts';
import { literalWords, programFiles, runsGit } from './guard/command/command.ts';
import { PanicSwitch } from './guard/panic/panic.ts';
import { PolicyGate, PolicyStore, policyMigrations } from './guard/policy/policy.ts';
import { domainSets, SafetyChecks } from './guard/safety/safety.ts';
import { Sandbox } from './guard/sandbox/sandbox.ts';
import { Secrets } from './guard/secret/secret.ts';
import { filesOnDisk, LateCopies, TaintBook, TaintStore, taintMigrations } from './guard/taint/taint.ts';
import { openWorkspace, realOf, Workspaces } from './guard/workspace/workspace.ts';
import {
  EngineAccess,
  estimateTokens,
  ExactCounters,
  installedEngine,
  keptHealth,
  ModelLearning,
  modelMigrations,
  ModelRouter,
  newestModel,
  PriceBook,
} from './mind/llm/llm.ts';
import {
  BackgroundCommands,
  childEnvironment,
  createProcessTable,
  instanceMarkerOf,
  isOwnData,
  LastOutput,
  ProcessTrees,
  Programs,
  protectionOf,
  ToolHost,
} from './hands/tools/tools.ts';
import { ChatRows, Outbox, OutboundRows, outboxMigrations } from './runtime/outbox/outbox.ts';
import { Settings } from './runtime/settings/settings.ts';
import { DeferredTurns, type CrashPoints } from './runtime/turns/turns.ts';
import { AutomaticBackup } from './runtime/upkeep/upkeep.ts';
import { FeatureRows, type AnyFeature } from './features/feature.ts';
import { helpers } from './features/helpers/helpers.ts';
import { findPlugins, PluginBook, plugins } from './features/plugins/plugins.ts';
import { bundledSkills, isSkillModel } from './features/skills/skills.ts';
import { usage } from './features/usage/usage.ts';
import { createNameChecks } from './name-checks.ts';
import type { RedactedSink, RuntimeOptions } from './runtime-options.ts';

const spineMigrations = [
  ...sessionMigrations,
  ...policyMigrations,
  ...taintMigrations,
  ...artifactMigrations,
  ...checkpointMigrations,
  ...continuityMigrations,
  ...modelMigrations,
  ...outboxMigrations,
];

/** The migrations of the spine and of the features, in the order they are applied. */
export function migrationsOf(features: readonly AnyFeature[]): Migration[] {
  return [...spineMigrations, ...features.flatMap((feature) => feature.migrations)].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Prepares the options and the redaction function of each sink. @internal */
export function composeBase(options: RuntimeOptions, loaded: LoadedConfig, lifetimes: Lifetimes) {
  const { config } = loaded;
  const clock = options.clock ?? systemClock;
  const closer = new AbortController();
  const safety = new SafetyChecks({ policy: config.policy, personalData: config.safety.personalData, usesProxy: config.web.useProxy });
  const safetyOf = (sink: RedactedSink): SafetyChecks => options.faults?.replaceSafety?.(safety, sink) ?? safety;
  const crashPoints: CrashPoints = options.faults?.crashPoints ?? { reach: () => undefined };
  const redactions = {
    redact: (text: string): Redacted => safety.redact(text).text,
    redactPrompt: (text: string): Redacted => safetyOf('prompt').redact(text).text,
    redactLog: (line: string): string => safetyOf('app-log').redactJson(line).text,
    redactDeep: <T>(value: T): T => safetyOf('tool-results').redactDeep(value),
  };
  const given = { options, loaded, lifetimes, config, clock, safety, safetyOf, crashPoints, closer };
  return {
    ...given,
    ...redactions,
    home: options.home,
    closing: closer.signal,
    later: systemLater,
    ids: options.ids ?? new RandomIds(() => clock.nowMs()),
    logger: safetyOf('app-log').logger(options.logger ?? silentLogger),
    environment: options.environment ?? process.env,
    platform: process.platform,
    userHome: homedir(),
    temporaryFolder: tmpdir(),
    fetch: proxiedFetch(globalThis.fetch),
    version: options.version ?? '0',
  };
}
type Base = ReturnType<typeof composeBase>;

/** Opens the database and its tables. @internal */
export async function composeStore(base: Base, features: readonly AnyFeature[]) {
  const { home, lifetimes, clock, logger, crashPoints, config, options, safetyOf } = base;
  const reachMigration = (): void => crashPoints.reach('migration');
  const migrations = migrationsOf(features);
  const storage = lifetimes.add(Storage.open({ home, migrations, reachMigration, isThrowaway: options.isThrowaway === true }));
  const rows = new FeatureRows(storage, features);
  const given = options.features ?? [];
  const pluginFiles = await findPlugins({ home, config, given, lifetimes, approved: (path) => rows.of(plugins).approved(path) });
  const tables = {
    policy: new PolicyStore(storage.db),
    marks: new TaintStore(storage.db),
    checkpointRows: new CheckpointRows(storage.db),
    artifactStore: new ArtifactStore({ db: storage.db, folder: join(home, 'artifacts'), clock }),
    outbound: new OutboundRows(storage.db),
    chats: new ChatRows(storage.db),
    continuity: new ContinuityRows(storage.db),
  };
  const pluginBook = new PluginBook(storage, pluginFiles);
  const projections = [...Object.values(tables), ...rows.projections, pluginBook];
  const bootedAtMs = options.faults?.bootedAtMs ?? Math.round(systemClock.nowMs() - uptime() * 1_000);
  const head = lifetimes.add(new LogHead({ storage, clock, logger, bootedAtMs }));
  const scrub = <T>(body: T): T => safetyOf('event-log').redactDeep(body);
  const log = new SessionLog({ storage, clock, logger, scrub, projections, head });
  const opened = { storage, rows, pluginFiles, pluginBook, head, log };
  return {
    ...base,
    ...tables,
    ...opened,
    artifacts: safetyOf('artifacts').artifacts(tables.artifactStore),
    backups: lifetimes.add(new AutomaticBackup({ log, clock, logger, config: config.backup })),
    settings: new Settings({ loaded: base.loaded, log, areHandedIn: options.config !== undefined }),
  };
}
type Store = Awaited<ReturnType<typeof composeStore>>;

/** Builds the policy gate and everything its decisions are based on. @internal */
export function composeGuard(store: Store) {
  const { home, config, log, lifetimes, policy, marks, userHome, temporaryFolder } = store;
  const workspace = openWorkspace(home, config.workspace.path);
  const facts = {
    workspace,
    home: realpathSync(home),
    extraFolders: config.workspace.extraFolders.map((folder) => resolve(home, folder)),
    programFiles: () => programFiles(store.settings.config, workspace),
  };
  const extraFolders = facts.extraFolders.map(realOf);
  const panic = new PanicSwitch((engaged) => store.head.setStopped(engaged));
  // A sandboxed command may also read what ships with the program: the bundled skills, and the Node binary that runs their scripts.
  const read = [...config.sandbox.files.read, dirname(process.execPath), bundledSkills()].filter((path) => path !== null);
  const sandboxed = { ...config.sandbox, files: { ...config.sandbox.files, read } };
  const sandbox = lifetimes.add(new Sandbox({ ...store, config: sandboxed, facts }));
  const taint = new TaintBook({
    store: marks,
    reads: log.reads,
    folders: [workspace, ...extraFolders],
    files: { ...filesOnDisk, runsGit },
  });
  marks.settleIn(facts.home);
  const lateCopies = lifetimes.add(new LateCopies({ ...store, taint }));
  return {
    ...store,
    facts,
    panic,
    sandbox,
    taint,
    lateCopies,
    gate: new PolicyGate({
      ...store,
      panic,
      workspace,
      extraFolders,
      store: policy,
      policy: config.policy,
      domains: domainSets,
      hostsOfTools: { browser: config.browser.allowHosts },
      entryWords: literalWords,
      confines: () => sandbox.confines(),
    }),
    workspaces: new Workspaces({
      facts,
      trusted: () => policy.trustedWorkspaces(),
      protectionOf: (real) => protectionOf(real, facts),
      userHome: realOf(userHome),
      temporaryFolder: realOf(temporaryFolder),
    }),
    secrets: Secrets.open({ ...store, env: store.environment, registrar: store.safety }),
    budget: new BudgetBook(config.budget, spendingOf(store.rows.of(usage).report, store.rows.of(helpers), log)),
    checkpoints: new Checkpoints({
      ...store,
      db: store.storage.db,
      rows: store.checkpointRows,
      store: store.artifactStore,
      undoDays: config.retention.undoDays,
      isStopped: () => panic.engaged,
      forbids: (path) => (isOwnData(path, facts) ? "It is TrayClaw's own data, which is never written this way." : null),
    }),
    sources: {
      ofSession: (sessionId: string) => marks.session(sessionId)?.sources ?? [],
      ofFile: (path: string) => {
        const where = realOf(path);
        return marks.writerOf(where) === null ? [] : [{ kind: 'file' as const, where }];
      },
    },
  };
}
type Guard = ReturnType<typeof composeGuard>;

/**
 * Builds processes, tools, models and the outbox. Models are disposed after the turns, so that a model call cut off by shutdown does not
 * count as a failure of its turn. @internal
 */
export function composeHands(guard: Guard) {
  const { home, config, clock, logger, safetyOf, options, lifetimes, storage, log, facts, environment, platform } = guard;
  const instanceMarker = instanceMarkerOf(facts.home);
  const processes = new ProcessTrees({ ...guard, table: createProcessTable(platform, facts.home), instanceMarker });
  const redactDeep = <T>(value: T): Redacted<T> => safetyOf('channels').redactDeep(value);
  const outbox = lifetimes.add(new Outbox({ ...guard, rows: guard.outbound, after: systemLater, redactDeep }));
  const redact = (text: string): Redacted => safetyOf('tool-results').redact(text).text;
  const programs = new Programs({ ...guard, trees: processes, instanceMarker, workspace: facts.workspace });
  const redactStream = () => safetyOf('tool-results').stream();
  const engine = lifetimes.add(
    new EngineAccess({
      ...guard,
      library: () => installedEngine(home),
      start: options.startChild,
      // A panic stop ends the engine's child processes like all others, and their environment contains none of the person's API keys.
      environment: () => childEnvironment(environment, instanceMarker, platform),
      track: (pid) => processes.track({ ...processes.recordOf(pid), marker: instanceMarker }),
    }),
  );
  const learning = new ModelLearning({ db: storage.db, clock, counters: new ExactCounters(logger) });
  lifetimes.defer(() => void learning.save());
  const prices = new PriceBook(home);
  const models = new ModelRouter({
    ...guard,
    engine,
    prices,
    learned: learning,
    refusedWords: learning.refusedWords,
    health: keptHealth(storage.db),
    formerModel: () => newestModel(log, (model) => !isSkillModel(model)),
  });
  lifetimes.add(models);
  const { outputBytesMax } = config.tools;
  const nameChecks = createNameChecks({ ...guard, models, outbox });
  const tools = new ToolHost({ ...guard, tools: [], outputBytesMax, redact, names: nameChecks, shared: options.sharedTools });
  const names = nameChecks((name) => tools.assertKnown(name));
  guard.settings.useAtOnce(['models', 'providers'], (now) => models.configure(now));
  const made = { instanceMarker, processes, outbox, tools, names, programs, engine, learning, prices, models };
  return {
    ...guard,
    ...made,
    turns: new DeferredTurns(),
    background: new BackgroundCommands(),
    lastOutput: new LastOutput({ folder: join(facts.home, 'running'), redactStream }),
    asking: { clock, later: systemLater, budget: guard.budget, models, count: estimateTokens, redact: guard.redactPrompt },
  };
}
/** @internal */
export type Hands = ReturnType<typeof composeHands>;
