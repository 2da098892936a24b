// One plugin in this run of the program: everything it adds, or the reason why it adds nothing. An error that its code throws during start
// fails the plugin, not the program.

import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { PluginView } from '../../contracts/features/plugins.ts';
import type { PackSource } from '../../contracts/pack-source.ts';
import { parseGiven } from '../../contracts/parse-given.ts';
import type { Plugin, PluginOperation, PluginParts, PluginSpine } from '../../contracts/plugin.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { Spine } from '../feature.ts';
import { assertParts } from './check-plugin.ts';
import { wordsOf, type PluginFile } from './load-plugins.ts';
import type { PluginBook } from './plugin-book.ts';

export type PluginGround = Pick<Spine, 'config' | 'clock' | 'logger' | 'log' | 'facts' | 'closing' | 'tools'>;

export interface OfferedOperation extends PluginOperation {
  readonly name: string;
  readonly run: (params: unknown, caller: Caller) => unknown;
}

export class RunningPlugin {
  readonly #spine: PluginGround;
  readonly #file: PluginFile;
  readonly #failed = new AbortController();
  #parts: PluginParts | null = null;
  #withdraw: (() => void)[] = [];
  #problem: string | null = null;

  /** Throws the plugin's error if the embedding program supplied the plugin, so that the program learns of it at start. */
  constructor(spine: PluginGround, file: PluginFile, book: PluginBook) {
    this.#spine = spine;
    this.#file = file;
    if (file.plugin !== null) this.#start(file.plugin, book);
  }

  get view(): PluginView {
    const { path, sha256, state, problem, plugin } = this.#file;
    const operations = this.operations.map(({ name, about, params }) => ({ name, about, params: jsonSchemaOf(params) }));
    const tools = (this.#parts?.tools ?? []).map(({ name }) => name);
    const said = this.#problem === null ? { state, problem } : { state: 'failed' as const, problem: this.#problem };
    return { name: plugin?.name ?? null, path, sha256, hash: sha256, ...said, operations, tools };
  }

  get operations(): OfferedOperation[] {
    const { plugin } = this.#file;
    const handlers = this.#parts?.handlers ?? {};
    return Object.entries(plugin?.operations ?? {}).flatMap(([local, operation]) => {
      const run = handlers[local] as OfferedOperation['run'] | undefined;
      return run === undefined ? [] : [{ ...operation, name: `${plugin?.name ?? ''}.${local}`, run }];
    });
  }

  /** Everything the plugin adds; empty after a failure. */
  get parts(): PluginParts {
    return this.#parts ?? {};
  }

  /** Remain registered after a failure of `begin`, but then return nothing. */
  get packSources(): PackSource[] {
    return (this.parts.packSources ?? []).map((source) => ({
      section: source.section,
      select: (request) => (this.#parts === null ? Promise.resolve([]) : source.select(request)),
    }));
  }

  async begin(): Promise<void> {
    try {
      this.parts.begin?.();
    } catch (cause) {
      await this.#fail(cause);
    }
  }

  #start(plugin: Plugin, book: PluginBook): void {
    const { tools } = this.#spine;
    try {
      const made: unknown = plugin.create(this.#spineOf(plugin), book.rowsOf(plugin));
      assertParts(made, plugin.name);
      this.#parts = made;
      for (const tool of made.tools ?? []) this.#withdraw.push(tools.register(tool));
      // Schemas that cannot be converted fail here, not in a turn.
      tools.schemas();
      for (const { params } of this.operations) jsonSchemaOf(params);
    } catch (cause) {
      void this.#fail(cause);
      if (this.#file.path === null) throw cause;
    }
  }

  async #fail(cause: unknown): Promise<void> {
    const { logger } = this.#spine;
    const parts = this.parts;
    this.#problem = wordsOf(cause);
    this.#parts = null;
    for (const withdraw of this.#withdraw.splice(0)) withdraw();
    this.#failed.abort();
    const about = { plugin: this.#file.plugin?.name ?? '' };
    logger.log('error', 'a plugin failed as it started', { ...about, cause: this.#problem });
    try {
      await parts.dispose?.();
    } catch (later) {
      logger.log('error', 'a plugin that failed could not be disposed of', { ...about, cause: wordsOf(later) });
    }
  }

  /** Fails with invalid_config if the settings do not match the schema of the plugin. */
  #spineOf(plugin: Plugin): PluginSpine<unknown> {
    const { config, clock, logger, facts, closing } = this.#spine;
    return {
      settings: settingsOf(plugin, config.plugins.settings[plugin.name] ?? {}),
      workspace: facts.workspace,
      clock,
      logger,
      signal: AbortSignal.any([closing, this.#failed.signal]),
      record: (event, body) => {
        this.#record(plugin, event, body);
      },
    };
  }

  #record({ name, events = {} }: Plugin, event: string, body: unknown): void {
    if (this.#failed.signal.aborted) throw new AppError('conflict', `The plugin ${name} failed and records nothing.`);
    const schema = events[event];
    if (schema === undefined) throw new AppError('invalid_params', `${name} has no event ${event}.`);
    const fitting = parseGiven(schema, body, { says: `The event ${name}.${event} is not valid`, whole: 'it' });
    this.#spine.log.append(systemSessionId, [{ type: 'plugin.recorded', body: { plugin: name, name: event, body: fitting } }], true);
  }
}

function settingsOf({ name, settings }: Plugin, given: Readonly<Record<string, unknown>>): unknown {
  if (settings === undefined) return given;
  const refusal = { says: `The settings of the plugin ${name} are not valid`, whole: 'the settings', code: 'invalid_config' } as const;
  return parseGiven(settings, given, refusal);
}

function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>;
}
