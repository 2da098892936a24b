// The form of a plugin: a program or a file of the person's adds a feature with it. Plain data and one function; types only.

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

/** The database of the data folder. A plugin keeps to tables whose names begin with its own. */
export interface PluginDatabase {
  exec(sql: string): void;
  run(sql: string, ...values: readonly (string | number | null)[]): void;
  all(sql: string, ...values: readonly (string | number | null)[]): unknown[];
}

export interface PluginMigration {
  /** Begins with the plugin's name and a dash. Runs once, and must be safe to run twice. */
  readonly id: string;
  readonly up: (db: PluginDatabase) => void;
}

export interface PluginOperation {
  /** A sentence for people. */
  readonly about: string;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
}

/** The services a plugin receives. */
export interface PluginSpine<Settings> {
  /** From `plugins.settings` of config.yaml, checked by its own schema. */
  readonly settings: Settings;
  readonly workspace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the program ends. */
  readonly signal: AbortSignal;
  /**
   * Records one of its events: checked, in the log, on the disk, and applied to its rows when this returns. Fails with invalid_params or a
   * store error.
   */
  readonly record: (name: string, body: unknown) => void;
}

export interface PluginParts {
  /** Handlers of its operations, by name without the plugin's prefix. */
  readonly handlers?: Readonly<Record<string, (params: never, caller: Caller) => unknown>>;
  /** Behind the same gate as all others. */
  readonly tools?: readonly ToolDefinition[];
  /** Sections it adds to the pack, besides the conversation. */
  readonly packSources?: readonly PackSource[];
  /** Ways of working on tasks with criteria. */
  readonly strategies?: readonly WorkStrategy[];
  readonly checks?: readonly HealthSource[];
  /** A chat service; it has the plugin's name, so that no channel can pass for another. */
  readonly channel?: Channel;
  /** The same with people, approvals and commands from the program; it has the plugin's name too. */
  readonly service?: ChatService;
  /** Starts its automatic work; not called when the data is only inspected. */
  begin?(): void;
  /** A bounded piece of work for a quiet moment; true while there is more. */
  catchUp?(): boolean;
  daily?(): void;
  /** Last made, first disposed. */
  dispose?(): void | Promise<void>;
}

export interface Plugin<Settings = unknown, Rows = unknown> {
  /** Stands before the names of its operations, events and tables. */
  readonly name: string;
  readonly settings?: z.ZodType<Settings>;
  /** By name without the plugin's prefix. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  readonly operations?: Readonly<Record<string, PluginOperation>>;
  readonly migrations?: readonly PluginMigration[];
  /** Kept in step with its events where they have `apply`, which is called inside the transaction of each. */
  rows?(db: PluginDatabase): Rows & { apply?(event: PluginEvent): void };
  create(spine: PluginSpine<Settings>, rows: Rows): PluginParts;
}
