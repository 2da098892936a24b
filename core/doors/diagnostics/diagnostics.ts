// Health: what a person would check by hand, each with what to do when it is not well. Looks only; repairs nothing.

import { accessSync, constants, statfsSync } from 'node:fs';
import { unpricedWords } from '../../contracts/budget-words.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { BudgetScope } from '../../contracts/policy.ts';
import type { SessionLog } from '../../store/session/session.ts';

type Check = OpResult<'health.check'>['checks'][number];

export interface DiagnosticsDeps {
  readonly log: SessionLog;
  readonly home: string;
  readonly workspace: string;
  readonly defaultModel: () => string | null;
  /** Scopes with a limit in US dollars. */
  readonly limitsUsd: readonly BudgetScope[];
  readonly hasPrice: (ref: string) => boolean;
  readonly warnings: readonly string[];
  readonly panic: { readonly engaged: boolean };
  readonly unknownOutcomes: () => number;
  secretStatus(): Promise<OpResult<'secret.status'>>;
  sandbox(): Promise<Omit<Check, 'id'>>;
  /** Parts of the program around the runtime. */
  moreChecks(): readonly Check[];
}

const DISK_WARN_BYTES = 500 * 1024 * 1024;

export async function checkHealth(deps: DiagnosticsDeps): Promise<OpResult<'health.check'>> {
  const checks: Check[] = [
    checkStorage(deps),
    checkQuarantine(deps),
    checkDisk(deps),
    checkWorkspace(deps),
    checkModel(deps),
    ...checkPrice(deps),
    checkOutcomes(deps),
    await checkSecrets(deps),
    { id: 'sandbox', ...(await deps.sandbox()) },
    {
      id: 'panic',
      ok: !deps.panic.engaged,
      detail: deps.panic.engaged ? 'Everything is stopped.' : 'Not engaged.',
      ...(deps.panic.engaged ? { fix: 'trayclaw panic --release' } : {}),
    },
    ...deps.moreChecks(),
    ...deps.warnings.map((detail, index) => ({ id: `config.${index + 1}`, ok: false, detail, fix: 'Correct config.yaml.' })),
  ];
  return { ok: checks.every((check) => check.ok), checks };
}

function checkStorage({ log }: DiagnosticsDeps): Check {
  const { ok, detail } = log.storage.checkIntegrity();
  return {
    id: 'storage',
    ok,
    detail: ok ? `The database is sound; ${log.lastSeq} events.` : detail,
    ...(ok ? {} : { fix: 'Restore a backup: trayclaw backup restore FILE' }),
  };
}

function checkQuarantine({ log }: DiagnosticsDeps): Check {
  const rows = log.reads.quarantined();
  if (rows.length === 0) return { id: 'events', ok: true, detail: 'Every event met so far could be read.' };
  const first = rows[0];
  return {
    id: 'events',
    ok: false,
    detail: `${rows.length} events cannot be read, the first is ${first?.seq}: ${first?.reason}.`,
    fix: 'Run trayclaw audit verify, then restore a backup.',
  };
}

function checkDisk({ home }: DiagnosticsDeps): Check {
  const stat = statfsSync(home);
  const free = stat.bavail * stat.bsize;
  const ok = free > DISK_WARN_BYTES;
  return { id: 'disk', ok, detail: `${(free / 1e9).toFixed(1)} GB free for ${home}.`, ...(ok ? {} : { fix: 'Free some disk space.' }) };
}

function checkWorkspace({ workspace }: DiagnosticsDeps): Check {
  try {
    accessSync(workspace, constants.R_OK | constants.W_OK);
    return { id: 'workspace', ok: true, detail: workspace };
  } catch {
    return {
      id: 'workspace',
      ok: false,
      detail: `${workspace} cannot be read and written.`,
      fix: 'Make it writable or set workspace.path in config.yaml.',
    };
  }
}

function checkModel({ defaultModel }: DiagnosticsDeps): Check {
  const ref = defaultModel();
  if (ref === null)
    return { id: 'model', ok: false, detail: 'No model.', fix: 'Start a local model server or add a provider to config.yaml.' };
  const isDemo = ref.startsWith('demo/');
  return { id: 'model', ok: true, detail: isDemo ? `${ref}: the offline demo, not a language model.` : ref };
}

/** Only where a limit in US dollars is set: then it must be known what the model costs. */
function checkPrice({ defaultModel, limitsUsd, hasPrice }: DiagnosticsDeps): Check[] {
  const ref = defaultModel();
  if (ref === null || limitsUsd.length === 0) return [];
  if (hasPrice(ref)) return [{ id: 'budget', ok: true, detail: `The price of ${ref} is known, so limits in US dollars hold.` }];
  const detail = unpricedWords({ model: ref, scopes: [...limitsUsd] });
  return [{ id: 'budget', ok: false, detail, fix: 'Set the prices of the model, or a limit in tokens, in config.yaml.' }];
}

function checkOutcomes({ unknownOutcomes }: DiagnosticsDeps): Check {
  const count = unknownOutcomes();
  return {
    id: 'outcomes',
    ok: count === 0,
    detail: count === 0 ? 'No call is of unknown outcome.' : `${count} calls are of unknown outcome.`,
    ...(count === 0 ? {} : { fix: 'trayclaw outcomes list' }),
  };
}

/** Many machines have no keychain; env: and file: references work without one. A locked store fails only those who need it. */
async function checkSecrets(deps: DiagnosticsDeps): Promise<Check> {
  const { store, locked, detail } = await deps.secretStatus();
  if (store === 'none') return { id: 'secrets', ok: true, detail: `${detail} References env:NAME and file:PATH need neither.` };
  return {
    id: 'secrets',
    ok: !locked,
    detail,
    ...(locked ? { fix: store === 'vault' ? 'trayclaw secret unlock' : 'Unlock the keychain.' } : {}),
  };
}
