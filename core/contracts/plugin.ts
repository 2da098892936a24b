// The form of a plugin, with which a host program or a file of the person adds a feature. Plain data and one function; types only.

import type * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Channel, ChatService } from './channels.ts';
import type { HealthSource } from './health.ts';
import type { Caller } from './ops.ts';
import type { PackSource } from './pack-source.ts';
import type { ToolDefinition } from './tools.ts';
import type { WorkStrategy } from './work-strategy.ts';

/** An event of the plugin, as recorded in the log. */
export interface PluginEvent {
  readonly seq: number;
  readonly atMs: number;
  readonly name: string;
  readonly body: unknown;
}

/** The database of the data folder. A plugin uses only tables whose names begin with its own name. */
export interface PluginDatabase {
  exec(sql: string): void;
  run(sql: string, ...values: readonly (string | number | null)[]): void;
  all(sql: string, ...values: readonly (string | number | null)[]): unknown[];
}

export interface PluginMigration {
  /** Begins with the plugin's name and a dash. Runs once, but must be safe to run twice. */
  readonly id: string;
  readonly up: (db: PluginDatabase) => void;
}

export interface PluginOperation {
  /** A sentence for people. */
  readonly about: string;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
}

/** The services that a plugin receives. */
export interface PluginSpine<Settings> {
  /** From `plugins.settings` of config.yaml, checked against the plugin's own schema. */
  readonly settings: Settings;
  readonly workspace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the program ends. */
  readonly signal: AbortSignal;
  /**
   * Records one of the plugin's events. When this returns, the event is validated, durably stored in the log and applied to the plugin's
   * rows. Fails with invalid_params or a store error.
   */
  readonly record: (name: string, body: unknown) => void;
}

export interface PluginParts {
  /** Handlers of its operations, keyed by the name without the plugin's prefix. */
  readonly handlers?: Readonly<Record<string, (params: never, caller: Caller) => unknown>>;
  /** Tools, behind the same gate as all others. */
  readonly tools?: readonly ToolDefinition[];
  /** Sections that it adds to the context pack, besides the conversation. */
  readonly packSources?: readonly PackSource[];
  readonly strategies?: readonly WorkStrategy[];
  readonly checks?: readonly HealthSource[];
  /** A channel. Its name must be that of the plugin, so that it cannot pose as another channel. */
  readonly channel?: Channel;
  /** A chat service, for which the program adds people, approvals and commands. Its name must be that of the plugin too. */
  readonly service?: ChatService;
  /** Starts its automatic work. Not called when the data is only inspected. */
  begin?(): void;
  /** Performs a limited piece of work at an idle moment. Returns whether there is more. */
  catchUp?(): boolean;
  /** `nowMs` is the time by which ages are judged. It stays behind a clock that jumped ahead. */
  daily?(nowMs: number): void;
  /** Plugins are disposed in reverse order of creation. */
  dispose?(): void | Promise<void>;
}

export interface Plugin<Settings = unknown, Rows = unknown> {
  /** The prefix of its operations, events and tables. */
  readonly name: string;
  readonly settings?: z.ZodType<Settings>;
  /** Keyed by the name without the plugin's prefix. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  readonly operations?: Readonly<Record<string, PluginOperation>>;
  readonly migrations?: readonly PluginMigration[];
  /** Creates the rows. If they have `apply`, it is called for each of the plugin's events, inside the event's transaction. */
  rows?(db: PluginDatabase): Rows & { apply?(event: PluginEvent): void };
  create(spine: PluginSpine<Settings>, rows: Rows): PluginParts;
}

/**
 * Types a plugin by its own settings and rows, while the program keeps plugins of every type in one list: checks the types of `create` against the plugin's own schema and rows, then erases them. The
 * plugin receives only matching values.
 */
export function defineFeature<Settings, Rows>(feature: Plugin<Settings, Rows>): Plugin {
  return feature;
}
