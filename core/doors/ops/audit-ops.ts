// Read-only operations: audit, replay, explain, safety, health, usage, config, artifacts; and the operations on secrets and backups.

import { setImmediate as giveWay } from 'node:timers/promises';
import * as z from 'zod';
import { replayTurn } from '../../agent/brain/brain.ts';
import { isPlainObject, valueAt } from '../../base/json.ts';
import { didYouMean, nearNames } from '../../base/near-names.ts';
import { type Config, configSchema } from '../../contracts/config.ts';
import { AppError, noSession, noTurn } from '../../contracts/errors.ts';
import { describeGap, gapAdvice } from '../../contracts/log-gap.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { keysAt } from '../../contracts/schema-keys.ts';
import { noTaint, readsAlone } from '../../contracts/tools.ts';
import type { ArtifactInfo } from '../../store/artifact/artifact.ts';
import { readSettings } from '../../store/config/config.ts';
import { acceptGaps, openGaps, type SessionLog, unexplainedRows, verifyLog } from '../../store/session/session.ts';
import { createBackup, listBackups, mapStorageError, pruneBackups, verifyBackup } from '../../store/storage/storage.ts';
import { argsText } from './args-text.ts';
import type { OpsParts } from './parts.ts';
import { shortSecretWords } from './short-secret.ts';

type Deps = Pick<
  OpsParts,
  'artifactStore' | 'clock' | 'settings' | 'gate' | 'log' | 'safety' | 'sandbox' | 'secrets' | 'tools' | 'workspaces'
>;

export function createAuditOps(deps: Deps) {
  return {
    'audit.verify': () => auditLog(deps.log),
    'audit.accept': (_params, caller) => ({ accepted: acceptGaps(deps.log, caller.actor) }),
    'replay.run': (params) => replay(deps, params.turnId),
    'policy.explain': (params, caller) => explain(deps, params, caller),
    'sandbox.explain': (params, caller) => explainSandbox(deps, params, caller),
    'safety.url': (params) => deps.safety.url(params.url),
    'safety.redact': (params) => {
      const { text, found } = deps.safety.redact(params.text);
      return { text, found: [...found] };
    },
    'config.get': async ({ key }) => ({
      ...(key === undefined ? {} : { value: settingAt(deps.settings.config, key) }),
      config: deps.settings.config,
      path: deps.settings.path,
      warnings: [...deps.settings.warnings],
      ...(await readSettings(deps.settings.path)),
    }),
    'config.set': ({ key, value }, caller) => deps.settings.change(key, value ?? null, caller.actor),
    'config.schema': () => ({ schema: z.toJSONSchema(configSchema, { io: 'input' }) as Record<string, unknown> }),
    'secret.set': async ({ name, value }) => {
      const { isKeptOut } = await deps.secrets.set(name, value);
      return { name, ...(isKeptOut ? {} : { warning: shortSecretWords(name) }) };
    },
    'secret.list': async () => ({ names: [...(await deps.secrets.list())] }),
    'secret.delete': async (params) => ({ name: params.name, deleted: await deps.secrets.delete(params.name) }),
    'secret.status': () => deps.secrets.status(),
    'secret.unlock': (params) => deps.secrets.unlock(params.passphrase),
    'artifact.list': (params) => ({ artifacts: deps.artifactStore.list(params).map((artifact) => describeArtifact(deps, artifact)) }),
    'artifact.get': (params) => readArtifact(deps, params),
    'backup.create': () => backup(deps),
    'backup.list': () => ({ backups: listBackups(deps.log.storage.home, deps.clock.nowMs()) }),
    'backup.verify': (params) => verifyBackup(params.file, { home: deps.log.storage.home, nowMs: deps.clock.nowMs() }),
  } satisfies Partial<OpHandlers>;
}

function replay(deps: Deps, turnId: string): OpResult<'replay.run'> {
  const row = deps.log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const report = replayTurn(deps.log.reads.turn(row.sessionId, turnId, row.firstSeq));
  return { ...report, differences: [...report.differences] };
}

function explain(deps: Deps, params: OpParsed<'policy.explain'>, caller: Caller): OpResult<'policy.explain'> {
  const session = params.sessionId === undefined ? null : deps.log.index.session(params.sessionId);
  if (params.sessionId !== undefined && session === null) throw noSession(params.sessionId);
  return explainIn(deps, params, { workspace: session === null ? trusted(deps, params.folder) : session.workspace, caller });
}

/** The folder if it is trusted; null for the configured workspace. */
function trusted(deps: Deps, folder: string | undefined): string | null {
  const look = folder === undefined ? null : deps.workspaces.look(folder);
  return look?.state === 'trusted' ? look.path : null;
}

interface ExplainedPlace {
  /** Null for the configured workspace. */
  readonly workspace: string | null;
  readonly caller: Caller;
}

/** Returns the gate's decision about a hypothetical call. Runs nothing. */
function explainIn(deps: Deps, params: OpParsed<'policy.explain'>, { workspace, caller }: ExplainedPlace): OpResult<'policy.explain'> {
  const given =
    isPlainObject(params.args) && params.cwd !== undefined && params.tool === 'exec' ? { cwd: params.cwd, ...params.args } : params.args;
  const parsed = deps.tools.parse(params.tool, argsText(given));
  if (!parsed.ok) throw parsed.error;
  const { name: tool, argsHash, args, tool: definition } = parsed.value;
  const seen = definition.facts(args, deps.workspaces.contextOf(workspace));
  const facts = workspace === null ? seen : { ...seen, workspace };
  // The decision is that of a new session without untrusted content.
  const request = { sessionId: '', tool, argsHash, facts, origin: { channel: caller.channel, agentId: 'main' }, taint: noTaint };
  const decided = deps.gate.authorize(request);
  const { decision, ruleId, reason, firstUse } = decided;
  // A grant for first use is created only when the call runs.
  const grantId = firstUse === null ? decided.grantId : null;
  const choices = deps.gate.choices(request, decided);
  return { decision, ruleId, reason, class: facts.class, facts, mode: deps.gate.mode, grantId, choices };
}

/** Explains how the sandbox would confine the command. Whether it counts as approved depends on whether the gate would ask about it now. */
function explainSandbox(
  deps: Deps,
  { command, cwd, folder }: OpParsed<'sandbox.explain'>,
  caller: Caller,
): Promise<OpResult<'sandbox.explain'>> {
  const workspace = trusted(deps, cwd ?? folder);
  const place = workspace === null ? {} : { workspace };
  if (command === undefined) return deps.sandbox.explain(null, place);
  const params = { tool: 'exec', args: { command }, ...(cwd === undefined ? {} : { cwd }) };
  const { decision, facts } = explainIn(deps, params, { workspace, caller });
  return deps.sandbox.explain({ attended: decision !== 'allow', reads: facts.command === null ? null : readsAlone(facts.command) }, place);
}

function describeArtifact(deps: Deps, { callId, ...artifact }: ArtifactInfo): OpResult<'artifact.list'>['artifacts'][number] {
  return { ...artifact, turnId: callId === null ? null : deps.log.index.turnOfCall(callId) };
}

function readArtifact(deps: Deps, params: OpParsed<'artifact.get'>): OpResult<'artifact.get'> {
  const page = deps.artifactStore.readPage(params.artifact, {
    ...(params.offset === undefined ? {} : { offset: params.offset }),
    ...(params.length === undefined ? {} : { length: params.length }),
  });
  return { ...page, artifact: describeArtifact(deps, page.artifact), text: page.text === null ? null : deps.safety.redact(page.text).text };
}

async function backup(deps: Deps): Promise<OpResult<'backup.create'>> {
  const { storage } = deps.log;
  const made = await createBackup(storage.db, storage.home, { nowMs: deps.clock.nowMs() });
  pruneBackups(storage.home, deps.settings.config.retention.backups, { origin: 'person', nowMs: deps.clock.nowMs() });
  return { file: made.file, sizeBytes: made.sizeBytes, events: verifyBackup(made.file).events };
}

/** Fails with not_found if nothing is set there, or if there is no such setting; then with the names of similar ones. */
function settingAt(config: Config, key: string): unknown {
  const value = valueAt(config, key);
  if (value !== undefined) return value;
  const steps = key.split('.');
  for (const [depth, step] of steps.entries()) {
    const above = steps.slice(0, depth);
    const known = keysAt(configSchema, above);
    if (known === null || known.includes(step)) continue;
    const near = nearNames(step, known).map((name) => [...above, name, ...steps.slice(depth + 1)].join('.'));
    const hint = didYouMean(near) ?? 'See what is set with: trayclaw config get';
    throw new AppError('not_found', `There is no setting ${key}.`, { hint });
  }
  throw new AppError('not_found', `Nothing is set for ${key}.`, { hint: `Set it with: trayclaw config set ${key} VALUE` });
}

// Verifies the whole log and its database.

type Audit = OpResult<'audit.verify'>;

const damageAdvice = 'Stop TrayClaw and restore a backup: trayclaw backup list, then trayclaw backup restore FILE';

async function auditLog(log: SessionLog): Promise<Audit> {
  const faults: NonNullable<Audit['faults']> = openGaps(log.reads).map(({ body }) => ({
    kind: 'gap',
    detail: describeGap(body),
    hint: gapAdvice,
  }));
  const lines = log.storage.integrity(false).filter((line) => line !== 'ok');
  if (lines.length > 0) faults.push({ kind: 'database', detail: lines.slice(0, 5).join('; '), hint: damageAdvice });
  const report = await readThrough(log, faults);
  if (report.ok) faults.push(...unexplained(log));
  return { ...report, ok: report.ok && faults.length === 0, ...(faults.length === 0 ? {} : { faults }) };
}

function unexplained(log: SessionLog): NonNullable<Audit['faults']> {
  const rows = log.permits.flatMap((given) => unexplainedRows(log.storage.db, given));
  // Several parts of one row may differ.
  const named = [...new Map(rows.map((row) => [`${row.what} ${row.key}`, row])).values()];
  return named.map(({ what, key, undo }) => ({
    kind: 'permission',
    detail: `${what} ${key} is not in the log as it is in the database.`,
    hint: `Take it back, unless you changed the database yourself: ${undo}`,
  }));
}

/** Verifies the log, and reports damage that makes it unreadable as a fault. */
async function readThrough(log: SessionLog, faults: NonNullable<Audit['faults']>): Promise<Audit> {
  try {
    return await verifyLog(log.storage.db, giveWay);
  } catch (cause) {
    const { message } = mapStorageError(cause);
    if (!faults.some(({ kind }) => kind === 'database')) faults.push({ kind: 'database', detail: message, hint: damageAdvice });
    return { ok: false, events: 0, sessions: 0 };
  }
}
