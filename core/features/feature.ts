// The kernel of the features: the form of a feature, and the parts of the spine it may receive. Plain data and one function; no lookup and
// no registration. compose.ts holds the list.

import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { Later } from '../base/later.ts';
import type { Logger } from '../base/logger.ts';
import type { Channel } from '../contracts/channels.ts';
import type { Config } from '../contracts/config.ts';
import type { HealthSource } from '../contracts/health.ts';
import type { OpHandlers } from '../contracts/ops.ts';
import type { PackSource } from '../contracts/pack-source.ts';
import type { ArtifactSink, FactContext, TaintSource, ToolDefinition } from '../contracts/tools.ts';
import type { BudgetBook } from '../guard/budget/budget.ts';
import type { PolicyStore } from '../guard/policy/policy.ts';
import type { SafetyChecks } from '../guard/safety/safety.ts';
import type { Secrets } from '../guard/secret/secret.ts';
import type { ToolHost } from '../hands/tools/tools.ts';
import type { Outbox } from '../runtime/outbox/outbox.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import type { CrashPoints, TurnPort } from '../runtime/turns/turns.ts';
import type { ArtifactStore } from '../store/artifact/artifact.ts';
import type { Checkpoints } from '../store/checkpoint/checkpoint.ts';
import type { SessionLog } from '../store/session/session.ts';
import type { Migration, Storage } from '../store/storage/storage.ts';

/** The parts of the program that every turn needs and a feature may use. A feature names those it takes: `Pick<Spine, 'log' | 'clock'>`. */
export interface Spine {
  /** The data folder. */
  readonly home: string;
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly later: Later;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly log: SessionLog;
  readonly facts: FactContext;
  readonly panic: { readonly engaged: boolean };
  readonly policy: PolicyStore;
  readonly budget: BudgetBook;
  readonly safety: SafetyChecks;
  readonly secrets: Pick<Secrets, 'resolve'>;
  readonly checkpoints: Checkpoints;
  /** Without the secrets that are known. */
  readonly artifacts: ArtifactSink & Pick<ArtifactStore, 'read'>;
  readonly tools: Pick<ToolHost, 'list' | 'schemas' | 'register'>;
  readonly settings: Settings;
  readonly outbox: Pick<Outbox, 'queue' | 'tell'>;
  readonly turns: TurnPort;
  readonly crashPoints: CrashPoints;
  /** Marks every child process of this data folder. */
  readonly instanceMarker: Readonly<Record<string, string>>;
  /** Aborted when the instance closes. */
  readonly closing: AbortSignal;
  /** Takes secrets out of what goes to a model server. */
  readonly redactPrompt: (text: string) => string;
  /** The untrusted sources of a session and of a file. */
  readonly sources: { ofSession(sessionId: string): readonly TaintSource[]; ofFile(path: string): readonly TaintSource[] };
}

/** Everything a feature adds to the program. A turn that uses none of it pays nothing for it. */
export interface Wing {
  /** Handlers of its operations. */
  readonly handlers?: Partial<OpHandlers>;
  readonly tools?: readonly ToolDefinition[];
  /** Sections it adds to the pack, besides the conversation. */
  readonly packSources?: readonly PackSource[];
  /** Its health checks. */
  readonly checks?: readonly HealthSource[];
  /** They join when the program is ready. */
  readonly channels?: readonly Channel[];
  /** Takes up what an earlier run left, once turns may be given work. */
  takeUp?(): void;
  /** Starts its automatic work; not called when the data is only inspected. */
  begin?(): void;
  /** A bounded piece of work for a quiet moment; true while there is more. */
  catchUp?(): boolean;
  daily?(): void;
  /** Last made, first disposed. */
  dispose?(): void | Promise<void>;
}

/** `Taken` are the parts of the spine it uses, `Others` those of earlier features in the list. */
export interface Feature<Taken, Rows, Others extends readonly unknown[], Made extends Wing> {
  /** No other has it. */
  readonly name: string;
  readonly migrations: readonly Migration[];
  rows(storage: Storage): Rows;
  create(spine: Taken, rows: Rows, ...others: Others): Made;
}

/** Adds types only: they tell the feature list what `create` takes and makes. */
export function defineBuiltInFeature<Taken, Rows, Others extends readonly unknown[], Made extends Wing>(
  feature: Feature<Taken, Rows, Others, Made>,
): Feature<Taken, Rows, Others, Made> {
  return feature;
}
