// The tool host: lists tools, checks their calls, and runs them bounded in time and size. Decides nothing about permission: the caller of
// `run` has asked the guard first.

import type { Clock } from '../../base/clock.ts';
import { assert } from '../../base/assert.ts';
import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { Logger } from '../../base/logger.ts';
import { err, type Result } from '../../base/result.ts';
import { AppError } from '../../contracts/errors.ts';
import type { NameChecks } from '../../contracts/named-things.ts';
import type { ToolSchema } from '../../contracts/llm.ts';
import type { ArtifactSink, ToolContext, ToolDefinition, ToolListing, ToolShown } from '../../contracts/tools.ts';
import { describeValue, hostResult, settleEnd, type HostedResult } from './hosted-result.ts';
import { didYouMean, nearNames } from '../../base/near-names.ts';
import { parseCall, type ParsedCall } from './parse-call.ts';
import { sendableTool, type SendableTool } from './sendable-tool.ts';
import { raceRun } from './race-run.ts';

export { BackgroundCommands, type ShownCommand } from './background-commands.ts';
export { LastOutput } from './last-output.ts';
export { LiveOutput } from './live-output.ts';
export { createBuiltInTools, type BuiltInToolDeps } from './built-in-tools.ts';
export type { MessagePort } from './message.ts';
export { readZip, type ZipRules } from './read-zip.ts';
export { documentText, readablePage, textOfHtml } from './web-page.ts';
export { createWebDeps, type WebDeps } from './web-tools.ts';
export { defineTool } from './define-tool.ts';
export { shownPath } from './path-argument.ts';
export type { HostedResult } from './hosted-result.ts';
export type { ParsedCall } from './parse-call.ts';
export type { SendableTool } from './sendable-tool.ts';
export { expandHome } from './real-path.ts';
export { createOpenWorkspace } from './open-workspace.ts';
export { isOwnData, protectionOf } from './protected-places.ts';
export { createProcessTable } from './process-table.ts';
export type { ProcessRow, ProcessTable } from './process-table-port.ts';
export { childEnvironment, instanceMarkerOf, screenVariables } from './child-environment.ts';
export { findProgram } from './find-program.ts';
export { newWalkReport, walkFiles } from './folder-walk.ts';
export { endWords, Programs, type AskProgram } from './programs.ts';
export type { ProgramEnd } from './run-program.ts';
export type { RunningProgram } from './start-program.ts';
export { createCheckedPaths } from './checked-paths.ts';
export { createNamedPlaces, type NamedPlaces } from './named-paths.ts';
export { ProcessTrees, type EnvironmentMarker, type KillReport, type ProcessTreesOptions, type TrackedProcess } from './process-trees.ts';

export interface ToolHostOptions {
  readonly tools: readonly ToolDefinition[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** The maximum bytes of UTF-8 that the model sees of one result; the whole is stored as an artifact. */
  readonly outputBytesMax: number;
  readonly artifacts: ArtifactSink;
  /** Redacts every result before any of it is cut or stored. */
  readonly redact?: (text: string) => Redacted;
  /** Checks of the names that arguments give; without them, no name is checked. */
  readonly names?: (assertTool: (name: string) => void) => NameChecks;
  /** Prepared tool schemas that several hosts of one program share, so that each is computed once. */
  readonly shared?: Map<string, SendableTool> | undefined;
}

const TIMEOUT_MS = 120_000;
const LIVE_BYTES_MAX = 1_000_000;
/** The pattern that every model server accepts. */
const NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

export class ToolHost {
  readonly #tools = new Map<string, ToolDefinition>();
  /** Computed once for each tool, when first needed. */
  readonly #sendable = new WeakMap<ToolDefinition, SendableTool>();
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #outputBytesMax: number;
  readonly #artifacts: ArtifactSink;
  readonly #redact: (text: string) => Redacted;
  readonly #names: NameChecks | null;
  readonly #shared: Map<string, SendableTool> | undefined;
  #schemas: readonly ToolSchema[] | null = null;

  constructor(options: ToolHostOptions) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#outputBytesMax = options.outputBytesMax;
    this.#artifacts = options.artifacts;
    this.#redact = options.redact ?? stillRedacted;
    this.#names = options.names?.((name) => this.assertKnown(name)) ?? null;
    this.#shared = options.shared;
    for (const tool of options.tools) this.register(tool);
  }

  /** Adds a tool, or replaces the one of the same name. Returns a function that removes it again. */
  register(tool: ToolDefinition): () => void {
    assert(NAME_PATTERN.test(tool.name), `a tool name is 1 to 64 letters, digits, _ or -, and begins with a letter or _: ${tool.name}`);
    this.#tools.set(tool.name, tool);
    this.#schemas = null;
    return () => {
      if (this.#tools.get(tool.name) !== tool) return;
      this.#tools.delete(tool.name);
      this.#schemas = null;
    };
  }

  /** Fails with `unknown_tool`, with near names. */
  assertKnown(name: string): void {
    if (!this.#tools.has(name)) throw this.#unknownTool(name);
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name);
  }

  list(): ToolListing[] {
    return this.schemas().map(({ name, description, parameters }) => ({
      name,
      description,
      class: this.#tools.get(name)?.class ?? 'exec',
      schema: { ...parameters },
    }));
  }

  /** The wording of calls by tool name, including tools only the program calls. */
  shown(): Record<string, ToolShown> {
    return Object.fromEntries([...this.#tools.values()].flatMap(({ name, shows }) => (shows === undefined ? [] : [[name, shows]])));
  }

  /** The tools' schemas for a model, sorted by name. The identical object until a tool is added or removed. */
  schemas(): readonly ToolSchema[] {
    this.#schemas ??= [...this.#tools.values()]
      .filter((tool) => tool.isInternal !== true && tool.isSearched !== true && tool.isForPlans !== true)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((tool) => this.#sendableOf(tool).schema);
    return this.#schemas;
  }

  /** The schemas of tools that are offered only if a plan comes first. */
  planSchemas(): readonly ToolSchema[] {
    return [...this.#tools.values()].filter((tool) => tool.isForPlans === true).map((tool) => this.#sendableOf(tool).schema);
  }

  /** Fails with `unknown_tool`, `arguments_too_large` or `invalid_arguments`. Empty text counts as `{}`. */
  parse(name: string, argsJson: string): Result<ParsedCall, AppError> {
    const tool = this.#tools.get(name);
    return tool === undefined
      ? err(this.#unknownTool(name))
      : parseCall(tool, argsJson, { sendable: this.#sendableOf(tool), names: this.#names });
  }

  /**
   * Runs a checked call and never throws: any outcome becomes a result. A run over its time limit ends as `timeout`, an aborted one as
   * `cancelled`, both immediately even if the tool ignores the signal. After an abort a tool with `abortGraceMs` may still report its own
   * end.
   */
  async run(parsed: ParsedCall, context: ToolContext, options: { readonly timeoutMs?: number } = {}): Promise<HostedResult> {
    const startedMs = this.#clock.monotonicMs();
    const timeoutMs = options.timeoutMs ?? parsed.tool.timeoutMs ?? TIMEOUT_MS;
    const end = await raceRun(parsed.tool, parsed.args, context, {
      timeoutMs,
      abortGraceMs: parsed.tool.abortGraceMs ?? 0,
      liveBytesMax: LIVE_BYTES_MAX,
      onLate: (cause) => this.#log('debug', 'a tool failed after its run was over', parsed.name, cause),
    });
    if (end.kind === 'threw') this.#log('info', 'a tool threw', parsed.name, end.cause);
    const result = hostResult(settleEnd(end, parsed.name, timeoutMs), parsed.name, context, {
      outputBytesMax: this.#outputBytesMax,
      artifacts: this.#artifacts,
      redact: this.#redact,
      onSpillFailure: (cause) => this.#log('warn', 'the whole output of a tool could not be kept', parsed.name, cause),
    });
    return { ...result, isOwnEnd: end.kind === 'returned', tookMs: this.#clock.monotonicMs() - startedMs };
  }

  #sendableOf(tool: ToolDefinition): SendableTool {
    const known = this.#sendable.get(tool) ?? this.#sharedOf(tool);
    this.#sendable.set(tool, known);
    return known;
  }

  /** A tool with an explicit schema is not shared, because another tool may have the same name. */
  #sharedOf(tool: ToolDefinition): SendableTool {
    if (this.#shared === undefined || tool.schema !== undefined) return sendableTool(tool);
    const key = `${tool.name} ${tool.description}`;
    const made = this.#shared.get(key) ?? sendableTool(tool);
    this.#shared.set(key, made);
    return made;
  }

  #unknownTool(name: string): AppError {
    const near = nearNames(name, this.#tools.keys());
    const said = [`There is no tool called ${JSON.stringify(name.slice(0, 80))}.`, didYouMean(near)];
    return new AppError('unknown_tool', said.filter((one) => one !== null).join(' '), { data: { near } });
  }

  #log(level: 'debug' | 'info' | 'warn', message: string, tool: string, cause: unknown): void {
    this.#logger.log(level, message, { tool, cause: cause instanceof Error ? (cause.stack ?? cause.message) : describeValue(cause) });
  }
}
