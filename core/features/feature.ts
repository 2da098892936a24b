// The shape of a feature, and the parts of the program that it may receive. Plain data and one function, without lookup or registration.
// compose-features.ts holds the list of features.

import { assert } from '../base/assert.ts';
import type { Lifetimes } from '../base/disposable.ts';
import type { Channel, ChannelTrial, ChatService } from '../contracts/channels.ts';
import type { Claw } from '../contracts/claw.ts';
import type { Config } from '../contracts/config.ts';
import type { DoorRoute } from '../contracts/door-route.ts';
import type { TrayClawOptions } from '../contracts/library.ts';
import type { NameChecks } from '../contracts/named-things.ts';
import type { OpHandlers } from '../contracts/ops.ts';
import type { PluginParts } from '../contracts/plugin.ts';
import type { ArtifactSink, FactContext, TaintSource } from '../contracts/tools.ts';
import type { BudgetBook } from '../guard/budget/budget.ts';
import type { PanicState } from '../guard/panic/panic.ts';
import type { PolicyGate } from '../guard/policy/policy.ts';
import type { SafetyChecks } from '../guard/safety/safety.ts';
import type { Secrets } from '../guard/secret/secret.ts';
import type { Workspaces } from '../guard/workspace/workspace.ts';
import type { BackgroundCommands, Programs, ToolHost } from '../hands/tools/tools.ts';
import type { AskingDeps } from '../mind/asking/asking.ts';
import type { EngineAccess, ModelRouter } from '../mind/llm/llm.ts';
import type { Outbox } from '../runtime/outbox/outbox.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import type { ModelPort, TurnPort, TurnDeps } from '../runtime/turns/turns.ts';
import type { ArtifactStore } from '../store/artifact/artifact.ts';
import type { Checkpoints } from '../store/checkpoint/checkpoint.ts';
import type { EventProjection } from '../store/session/session.ts';
import type { Migration, Storage } from '../store/storage/storage.ts';

/**
 * The parts of the program that every turn needs and that a feature may use. A feature names the ones it takes: `Pick<Spine, 'log' |
 * 'clock'>`.
 */
export interface Spine extends Pick<TurnDeps, 'clock' | 'later' | 'ids' | 'logger' | 'log' | 'policy' | 'crashPoints' | 'instanceMarker'> {
  /** The data folder. */
  readonly home: string;
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly facts: FactContext;
  readonly panic: PanicState;
  readonly gate: Pick<PolicyGate, 'trustFor'>;
  readonly workspaces: Workspaces;
  readonly budget: BudgetBook;
  readonly safety: SafetyChecks;
  readonly secrets: Pick<Secrets, 'resolve'>;
  readonly checkpoints: Checkpoints;
  /** Redacts known secrets before it stores an artifact. */
  readonly artifacts: ArtifactSink & Pick<ArtifactStore, 'read'>;
  readonly models: ModelRouter;
  readonly engine: EngineAccess;
  /** The options of the program that starts the runtime. */
  readonly options: TrayClawOptions & { readonly wait?: (ms: number, signal: AbortSignal) => Promise<boolean> };
  /** For asking a model outside the conversation of a turn. */
  readonly asking: AskingDeps;
  readonly programs: Programs;
  /** Lists the work that a tool keeps running after its call, so that people can see and end it. */
  readonly background: Pick<BackgroundCommands, 'join'>;
  readonly tools: Pick<ToolHost, 'list' | 'schemas' | 'register'>;
  /** Fails for a name that nothing has. */
  readonly names: NameChecks;
  readonly settings: Settings;
  readonly outbox: Pick<Outbox, 'queue' | 'tell' | 'knows'>;
  readonly turns: TurnPort;
  /** Aborted when the instance closes. */
  readonly closing: AbortSignal;
  /** The version of this program. */
  readonly version: string;
  readonly fetch: typeof globalThis.fetch;
  readonly temporaryFolder: string;
  readonly redactDeep: <T>(value: T) => T;
  /** Redacts secrets in a line of JSON that is written to a file. */
  readonly redactLog: (line: string) => string;
  /** Redacts secrets in text that is sent to a model server. */
  readonly redactPrompt: (text: string) => string;
  readonly sources: {
    ofSession(sessionId: string): readonly TaintSource[];
    /** Of the file that the path leads to, also over links. */
    ofFile(path: string): readonly TaintSource[];
  };
}

/** A door that a feature opens once the runtime exists. */
export interface DoorPlan extends Omit<DoorRoute, 'answer'> {
  readonly open: (claw: Claw) => DoorRoute['answer'];
}

/** Everything a feature adds to the program. A turn that does not use the feature pays nothing for it. */
export interface Contribution extends Omit<PluginParts, 'handlers' | 'channel' | 'service'> {
  /** Parts for the features after this one in the list, and for the program. */
  readonly gives?: object;
  /** Handlers of the feature's operations. */
  readonly handlers?: Partial<OpHandlers>;
  readonly channels?: readonly Channel[];
  /** Returns the channels that need the port of the runtime. They and `channels` join when the program is ready. */
  join?(claw: Claw): readonly Channel[];
  /** Wraps the models that turns see, for a feature that adds other things as models. */
  runsAsModels?(models: ModelPort): ModelPort;
  /** Chat services. The channels feature turns them into channels. */
  readonly services?: readonly ChatService[];
  /** Tests of the settings of a chat service. */
  readonly trials?: readonly ChannelTrial[];
  /** The doors that the feature opens to other programs. */
  readonly doors?: readonly DoorPlan[];
  /** Continues work that an earlier run left, once turns can be started. */
  takeUp?(): void;
}

/** `Taken` are the parts that the feature uses: parts of the spine and of the features before it in the list. */
export interface Feature<Taken, Rows, Made extends Contribution> {
  /** Unique among the features. */
  readonly name: string;
  readonly migrations: readonly Migration[];
  /** One object, or several by name. Objects with `apply` are projections, which are kept in step with the log. */
  rows(storage: Storage): Rows;
  readonly create: (parts: Taken, rows: Rows) => Made;
}

type RowlessFeature<Taken, Made extends Contribution> = Pick<Feature<Taken, null, Made>, 'name' | 'create'>;

/** Checks that `create` fits the rows. A feature without rows has no migrations either. */
export function defineBuiltInFeature<Taken, Made extends Contribution>(feature: RowlessFeature<Taken, Made>): Feature<Taken, null, Made>;
export function defineBuiltInFeature<Taken, Rows, Made extends Contribution>(
  feature: Feature<Taken, Rows, Made>,
): Feature<Taken, Rows, Made>;
export function defineBuiltInFeature<Taken, Made extends Contribution>(feature: RowlessFeature<Taken, Made>): Feature<Taken, null, Made> {
  return { migrations: [], rows: () => null, ...feature };
}

type GivenBy<W> = W extends { readonly gives: infer Given } ? Given : unknown;
type HandlersIn<W> = W extends { readonly handlers: infer Handlers } ? Handlers : unknown;

/** A feature in the list. The types of its other parts matter only where the feature is named. */
export type AnyFeature = Pick<Feature<never, unknown, Contribution>, 'name' | 'migrations' | 'rows'>;
type ListedFeature = AnyFeature & { readonly create: (parts: never, rows: never) => Contribution };

/**
 * The features in order. Each is created after the features whose parts it takes. A part that no earlier feature provides is a type error,
 * and so is an operation without a handler.
 */
export class FeatureList<Base extends object, Parts extends object, Handlers> {
  readonly all: readonly ListedFeature[];

  private constructor(all: readonly ListedFeature[]) {
    this.all = all;
  }

  /** `Base` are the parts that no feature provides. */
  static over<Base extends object>(): FeatureList<Base, Base & { readonly contributions: readonly Contribution[] }, unknown> {
    return new FeatureList([]);
  }

  with<Rows, Made extends Contribution>(
    feature: Feature<Parts, Rows, Made>,
  ): FeatureList<Base, Parts & GivenBy<Made>, Handlers & HandlersIn<Made>> {
    return new FeatureList([...this.all, feature]);
  }

  /** Creates all features; `lifetimes` disposes them in reverse order. Each feature sees the `contributions` of those before it. */
  make(base: Base, rows: FeatureRows, lifetimes: Lifetimes): { parts: Parts; handlers: Handlers; contributions: readonly Contribution[] } {
    const contributions: Contribution[] = [];
    let parts: object = { ...base, contributions };
    for (const feature of this.all) {
      // `with` has checked that the types match.
      const contribution = feature.create(parts as never, rows.of(feature) as never);
      contributions.push(contribution);
      lifetimes.defer(() => contribution.dispose?.());
      parts = { ...parts, ...contribution.gives };
    }
    const handlers: object = Object.assign({}, ...contributions.map((one) => one.handlers));
    return { parts: parts as Parts, handlers: handlers as Handlers, contributions };
  }
}

/** The rows of every feature, created once. */
export class FeatureRows {
  readonly #rows: ReadonlyMap<string, unknown>;
  /** The rows that are kept in step with the log. */
  readonly projections: readonly EventProjection[];

  constructor(storage: Storage, features: readonly AnyFeature[]) {
    this.#rows = new Map(features.map((feature) => [feature.name, feature.rows(storage)]));
    this.projections = [...this.#rows.values()].flatMap((rows) =>
      isProjection(rows) ? rows : Object.values(rows ?? {}).filter(isProjection),
    );
  }

  of<Rows>({ name }: { readonly name: string; rows(storage: Storage): Rows }): Rows {
    assert(this.#rows.has(name), `the list of features has no ${name}`);
    // The constructor stored what this feature's `rows` returned.
    return this.#rows.get(name) as Rows;
  }
}

function isProjection(rows: unknown): rows is EventProjection {
  return typeof rows === 'object' && rows !== null && 'apply' in rows;
}
