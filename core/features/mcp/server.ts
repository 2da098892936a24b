// One server: starts it on first use, supervises it and calls its tools. Owns the connection, the tools as last listed and the running
// calls. The gate has decided before whether a call may run.

import type { ElicitRequest, ElicitResult, Transport } from '@modelcontextprotocol/client';
import { orAborted } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { McpEra, McpServerConfig, McpServerView, McpTool } from '../../contracts/features/mcp.ts';
import type { TaintSource, ToolContext, ToolResult } from '../../contracts/tools.ts';
import type { RunningProgram } from '../../hands/tools/tools.ts';
import type { Spine } from '../feature.ts';
import { allOver, CallLimit } from './call-limit.ts';
import { callFailure, startFailure } from './start-failure.ts';
import { connectServer, failureOf, isSessionGone, wantsSignIn, type McpConnection, type ToolCall } from './connection.ts';
import { definitionHash, givesOf, runsOf, type CodeFile } from './definition.ts';
import { boundedFetch, httpLinkOpener, type SendElsewhere } from './http-link.ts';
import { questionMs, type Questions } from './questions.ts';
import type { Approved } from './rows.ts';
import type { SignIn } from './sign-in.ts';
import { callAsTask, taskEnds } from './task-call.ts';
import { StdioLink } from './stdio-link.ts';
import { approvalHash, readTools, shown, toolViews, withheld, type ReadTool } from './tool-pins.ts';
import { progressLine, toToolResult } from './tool-result.ts';

export interface ServerDeps extends Pick<Spine, 'clock' | 'later' | 'logger' | 'panic' | 'closing' | 'secrets' | 'version' | 'fetch'> {
  readonly questions: Questions;
  readonly sendElsewhere: SendElsewhere;
  /** The folder of the program of a server, and the code that it runs. */
  readonly programOf: (config: McpServerConfig) => { readonly cwd: string; readonly files: readonly CodeFile[] };
  /** Starts the program of a server, which runs until it is ended. */
  readonly start: (server: string, config: McpServerConfig, env: Readonly<Record<string, string>>) => Promise<RunningProgram>;
  readonly signInOf: (server: string, url: URL) => SignIn;
  /** A person's approval of this server; null if there is none for its current definition. */
  readonly approved: (server: string, definition: string) => Approved | null;
  /** The recorded task that an earlier run started for a call; null if there is none. */
  readonly taskOf: (callId: string) => string | null;
  /** Records the task durably before it returns. */
  readonly onTask: (server: string, tool: string, taskId: string, context: ToolContext) => void;
  /** Called after the tools were listed. They may differ from the approved ones. */
  readonly onListed: (server: McpServer) => void;
}

interface RunningCall {
  readonly tool: string;
  readonly limit: CallLimit;
  readonly context: ToolContext;
  /** Aborts when the call has ended in whatever way. */
  readonly over: AbortController;
}

type Health = 'idle' | 'starting' | 'connected' | 'sign-in' | 'failed';

const CALLS_MAX = 16;
const noCall = { sessionId: systemSessionId, turnId: '', callId: '' };
export const callMsDefault = 120_000;
const START_MS = 30_000;
const BACK_OFF_MS = [1000, 2000, 5000, 15_000, 60_000] as const;
const KEPT_LINES = 8;
const LOG_LINES_PER_START = 200;
const LIST_PAUSE_MS = 2000;

export class McpServer {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly #deps: ServerDeps;
  readonly #calls = new Set<RunningCall>();
  readonly #ended = new AbortController();
  #health: Health = 'idle';
  #problem: string | null = null;
  #connection: McpConnection | null = null;
  /** The definition that the running program was started with. */
  #started = '';
  #connecting: Promise<McpConnection> | null = null;
  #listed: readonly ReadTool[] | null = null;
  #era: McpEra | null = null;
  #failures = 0;
  #retryAtMs = 0;
  #lines: string[] = [];
  #logged = 0;
  #relisting: (() => void) | null = null;

  constructor(deps: ServerDeps, name: string, config: McpServerConfig) {
    this.#deps = deps;
    this.name = name;
    this.config = config;
  }

  /** Computed for each use, because it covers the content of files. */
  get definition(): string {
    return definitionHash(this.config, this.#deps.programOf(this.config).files);
  }

  /** The folder that its program resolves relative paths against. */
  get folder(): string {
    return this.#deps.programOf(this.config).cwd;
  }

  get approved(): Approved | null {
    return this.#deps.approved(this.name, this.definition);
  }

  get connection(): McpConnection | null {
    return this.#connection;
  }

  get era(): McpEra {
    return this.#era ?? 'legacy';
  }

  /** The tools as last listed; null until the server was reached. */
  get listed(): readonly ReadTool[] | null {
    return this.#listed;
  }

  get sha256(): string | null {
    return this.#listed === null ? null : approvalHash(this.definition, usable(this.#listed));
  }

  /** The approved tools. If the server was reached, only those that it still offers unchanged. */
  get offered(): readonly McpTool[] {
    if (this.config.enabled === false) return [];
    return (this.approved?.tools ?? []).filter((tool) => this.#isAsApproved(tool));
  }

  /** Where all comes from that the server says, its errors included. */
  get #sources(): readonly TaintSource[] {
    return [{ kind: 'mcp', where: this.name }];
  }

  view(): McpServerView {
    const { config, approved } = this;
    return {
      name: this.name,
      state: this.#state(approved),
      problem: this.#problem,
      runs: runsOf(config),
      gets: givesOf(config),
      transport: config.url === undefined ? 'stdio' : 'http',
      protocol: this.#connection?.protocol ?? null,
      sha256: this.sha256,
      tools: toolViews(this.name, this.#listed, approved?.tools ?? []),
    };
  }

  /** Returns the current connection, or opens one and lists the tools. Fails with tool_failed, and during a panic stop. */
  async connect(signal: AbortSignal, isByPerson = false): Promise<McpConnection> {
    if (this.#connection !== null && this.#started === this.definition) return this.#connection;
    if (this.#connection !== null) await this.close();
    if (this.config.enabled === false) throw new AppError('tool_failed', `The MCP server ${this.name} is switched off in config.yaml.`);
    if (this.#deps.panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped, so no MCP server starts.');
    const waitMs = this.#retryAtMs - this.#deps.clock.monotonicMs();
    if (this.#connecting === null && waitMs > 0 && !isByPerson) {
      const again = `It is started again in ${Math.ceil(waitMs / 1000)} s at the earliest.`;
      throw new AppError('tool_failed', `${this.#problem ?? 'It failed.'} ${again}`, { untrusted: this.#sources });
    }
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null;
    });
    return orAborted(this.#connecting, signal, () => new AppError('tool_failed', `Waiting for the MCP server ${this.name} was ended.`));
  }

  /** Runs one approved tool. Everything the server sends is untrusted, including its errors. */
  async call(tool: McpTool, args: Record<string, unknown>, context: ToolContext, isAgain = false): Promise<ToolResult> {
    if (this.#calls.size >= CALLS_MAX)
      throw new AppError('tool_failed', `${CALLS_MAX} calls of the MCP server ${this.name} already run; try again when one has ended.`);
    // Before the start as well: a program that has changed must not run at all.
    if (this.approved === null) throw withheld(this.name, tool);
    const connection = await this.connect(context.signal);
    if (!this.offered.some(({ sha256 }) => sha256 === tool.sha256)) throw withheld(this.name, tool);
    const limit = new CallLimit(this.#deps.clock, this.#deps.later, this.config.timeoutMs ?? callMsDefault);
    const running: RunningCall = { tool: tool.name, limit, context, over: new AbortController() };
    this.#calls.add(running);
    const progress = connection.watchProgress((step) => context.onOutput(progressLine(step)));
    const called = { tool: { name: tool.name, inputSchema: tool.schema as { type: 'object' } }, args, progressToken: progress.token };
    try {
      return await this.#perform(connection, called, tool.sha256, running);
    } catch (cause) {
      if (isAgain || !(await isSessionGone(cause))) return await this.#failedCall(cause, running);
    } finally {
      progress.end();
      limit.end();
      running.over.abort();
      this.#calls.delete(running);
    }
    if (this.#connection === connection) await this.close();
    return this.call(tool, args, context, true);
  }

  /** Calls the tool once. If an earlier run started the call as a task, follows that task instead. */
  async #perform(connection: McpConnection, called: ToolCall, sha256: string, { tool, limit, context }: RunningCall): Promise<ToolResult> {
    const options = {
      signal: AbortSignal.any([context.signal, limit.signal]),
      timeoutMs: (this.config.timeoutMs ?? callMsDefault) + 3 * questionMs,
    };
    const taskId = this.#deps.taskOf(context.callId);
    const isTask = connection.takesTasks && this.#listed?.find((one) => one.sha256 === sha256)?.isTask === true;
    if (taskId === null && !isTask) return toToolResult(this.name, await connection.callTool(called, options), context);
    const end = await callAsTask({
      taskId,
      begin: async (at) => {
        const task = await at.beginTask(called, options);
        this.#deps.onTask(this.name, tool, task.taskId, context);
        return task;
      },
      connect: () => this.connect(AbortSignal.timeout(START_MS)),
      result: (at, id) => at.taskResult(id, options),
      onStatus: (status) => context.onOutput(`${shown(status, 300)}\n`),
      signal: options.signal,
      mayCancel: () => !this.#deps.closing.aborted,
    });
    if ('result' in end) return toToolResult(this.name, end.result, context);
    return { forModel: taskEnds[end.ended], endedBy: end.ended, untrusted: this.#sources };
  }

  /** Ends the server and everything it started. It can be started again. */
  async close(): Promise<void> {
    this.#relisting?.();
    const connection = this.#connection ?? (await this.#connecting?.catch(() => null)) ?? null;
    this.#connection = null;
    this.#health = 'idle';
    await connection?.close();
  }

  async dispose(): Promise<void> {
    this.#ended.abort();
    await this.close();
  }

  #state(approved: Approved | null): McpServerView['state'] {
    if (this.config.enabled === false) return 'off';
    if (this.#health === 'failed' || this.#health === 'sign-in' || this.#health === 'starting') return this.#health;
    if (approved === null) return 'waiting';
    const differs = this.#listed !== null && approvalHash(this.definition, usable(this.#listed)) !== approved.sha256;
    return differs ? 'changed' : this.#health;
  }

  #isAsApproved(tool: McpTool): boolean {
    return this.#listed === null || this.#listed.some(({ sha256, problem }) => problem === null && sha256 === tool.sha256);
  }

  async #open(): Promise<McpConnection> {
    const { clock } = this.#deps;
    this.#health = 'starting';
    this.#problem = null;
    this.#lines = [];
    this.#logged = 0;
    this.#started = this.definition;
    try {
      const opener = await this.#opener();
      const startMs = this.config.startMs ?? START_MS;
      const signal = AbortSignal.any([this.#deps.closing, this.#ended.signal, AbortSignal.timeout(startMs * 2)]);
      const connection = await connectServer({
        open: opener.open,
        era: this.#era ?? this.approved?.era ?? null,
        isLocal: this.config.url === undefined,
        startMs,
        version: this.#deps.version,
        signal,
        onToolsChanged: () => this.#relist(),
        onClosed: () => this.#closed(connection, opener.ending()),
        elicit: (params, called) => this.#elicit(params, called),
      });
      this.#era = connection.era;
      try {
        this.#listed = readTools(this.name, await connection.listTools({ signal, timeoutMs: startMs }));
      } catch (cause) {
        await connection.close();
        throw cause;
      }
      this.#connection = connection;
      this.#health = 'connected';
      this.#failures = 0;
      this.#deps.onListed(this);
      return connection;
    } catch (cause) {
      this.#retryAtMs = clock.monotonicMs() + (BACK_OFF_MS[Math.min(this.#failures++, BACK_OFF_MS.length - 1)] ?? 0);
      throw await this.#failedStart(cause);
    }
  }

  async #opener(): Promise<{ readonly open: () => Transport; readonly ending: () => string }> {
    const { url, env = {}, headers = {} } = this.config;
    const values = await this.#resolved(url === undefined ? env : headers);
    if (url === undefined) {
      let link: StdioLink | null = null;
      const { clock } = this.#deps;
      const open = (): Transport => {
        // A second attempt writes the same lines again.
        this.#lines = [];
        link = new StdioLink({ clock, start: () => this.#deps.start(this.name, this.config, values), onLine: (line) => this.#keep(line) });
        return link;
      };
      return { open, ending: () => link?.ending ?? '' };
    }
    const address = new URL(url);
    const send = boundedFetch({ url: address, headers: values, fetch: this.#deps.fetch, sendElsewhere: this.#deps.sendElsewhere });
    const signIn = await this.#deps.signInOf(this.name, address).provider();
    const options = { fetch: send, ...(signIn === null ? {} : { authProvider: signIn }) };
    return { open: await httpLinkOpener(address, options), ending: () => 'the connection was closed' };
  }

  async #resolved(values: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    const { resolvedValue } = await import('../../contracts/secret-ref.ts');
    const entries = Object.entries(values).map(async ([name, value]) => [
      name,
      await resolvedValue(value, (reference) => this.#deps.secrets.resolve(reference)),
    ]);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
  }

  async #failedStart(cause: unknown): Promise<AppError> {
    const isSignIn = await wantsSignIn(cause);
    this.#health = isSignIn ? 'sign-in' : 'failed';
    const said = this.#lines.length === 0 ? '' : ` It wrote: ${this.#lines.join(' | ')}`;
    const failure = isSignIn
      ? new AppError('tool_failed', `The MCP server ${this.name} wants you to sign in.`, {
          hint: `Run: trayclaw mcp login ${this.name}`,
        })
      : await startFailure({ name: this.name, url: this.config.url }, cause);
    this.#problem = `${failure.message}${isSignIn ? '' : said}`;
    this.#deps.logger.log('warn', 'an MCP server could not be reached', { server: this.name, problem: this.#problem });
    // Even without a line, the message may be the server's.
    return isSignIn ? failure : new AppError(failure.code, this.#problem, { cause, data: failure.data, untrusted: this.#sources });
  }

  #closed(connection: McpConnection, how: string): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#health = this.#deps.panic.engaged || this.#ended.signal.aborted ? 'idle' : 'failed';
    this.#problem = `The MCP server ${this.name} ended: ${how === '' ? 'the connection was closed' : how}. It is started again when it is needed.`;
    this.#retryAtMs = this.#deps.clock.monotonicMs() + (BACK_OFF_MS[Math.min(this.#failures++, BACK_OFF_MS.length - 1)] ?? 0);
    this.#deps.logger.log('warn', 'an MCP server ended', { server: this.name, how });
  }

  /** Lists again at most once in two seconds, however often the server announces a change. */
  #relist(): void {
    this.#relisting ??= this.#deps.later(LIST_PAUSE_MS, () => {
      this.#relisting = null;
      void this.#listAgain();
    });
  }

  async #listAgain(): Promise<void> {
    const connection = this.#connection;
    if (connection === null) return;
    try {
      const tools = await connection.listTools({ signal: this.#ended.signal, timeoutMs: START_MS });
      if (this.#connection !== connection) return;
      this.#listed = readTools(this.name, tools);
      this.#deps.onListed(this);
    } catch (cause) {
      this.#deps.logger.log('warn', 'the tools of an MCP server could not be listed', {
        server: this.name,
        cause: failureOf(this.name, cause).message,
      });
    }
  }

  #keep(line: string): void {
    const text = shown(line.trim(), 300);
    // The frames of a stack would push out the line with the error.
    if (!/^(?:at |[\^{}[\]]*$)/.test(text)) this.#lines = [...this.#lines, text].slice(-KEPT_LINES);
    if (++this.#logged <= LOG_LINES_PER_START) this.#deps.logger.log('info', 'an MCP server said', { server: this.name, line: text });
  }

  /** Only during a call, with which the question ends. A request does not say which call it is for, so with several it belongs to none. */
  async #elicit(params: ElicitRequest['params'], called: AbortSignal): Promise<ElicitResult> {
    const calls = [...this.#calls];
    const [only] = calls;
    if (only === undefined) return { action: 'decline' };
    for (const { limit } of calls) limit.pause();
    try {
      const { tool, context: call } = calls.length === 1 ? only : { tool: '', context: noCall };
      const signal = AbortSignal.any([called, allOver(calls.map(({ over }) => over.signal))]);
      return await this.#deps.questions.ask({ server: this.name, tool, call, signal }, params);
    } finally {
      for (const { limit } of calls) limit.resume();
    }
  }

  async #failedCall(cause: unknown, { context, limit }: RunningCall): Promise<ToolResult> {
    const untrusted = this.#sources;
    if (context.signal.aborted) return { forModel: 'The call was cancelled.', endedBy: 'cancelled', untrusted };
    if (limit.signal.aborted)
      return { forModel: 'The MCP server did not answer in time; the call was cancelled.', endedBy: 'timeout', untrusted };
    if (await wantsSignIn(cause)) {
      await this.close();
      throw await this.#failedStart(cause);
    }
    return { ...(await callFailure({ name: this.name, url: this.config.url }, cause)), untrusted };
  }
}

function usable(tools: readonly ReadTool[]): readonly ReadTool[] {
  return tools.filter(({ problem }) => problem === null);
}
