// One connection to a server in either generation of the protocol, over the official client. The generation is detected once and passed in
// from then on. Never runs the server's schemas on data, because the server is not trusted.

import type { CallToolResult, Client, ElicitRequest, ElicitResult, Progress, Task, Tool, Transport } from '@modelcontextprotocol/client';
import { valueAt, jsonIn } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { McpEra } from '../../contracts/features/mcp.ts';

export interface ConnectWish {
  /** Creates a new transport for each attempt. */
  readonly open: () => Transport;
  /** The generation detected earlier; null to detect it. */
  readonly era: McpEra | null;
  /** A local process may exit when it receives an unknown request. */
  readonly isLocal: boolean;
  readonly startMs: number;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
  readonly onClosed: () => void;
  readonly elicit: (params: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface ToolCall {
  readonly tool: Pick<Tool, 'name' | 'inputSchema'>;
  readonly args: Record<string, unknown>;
  readonly progressToken: string;
}

/** Receives the progress of one call until the call ends. */
export interface ProgressWatch {
  readonly token: string;
  end(): void;
}

const PAGES_MAX = 20;
const TASK_MS = 10_000;
const MODERN = '2026-07-28';

/** Fails as the official client does: with `UnauthorizedError` if a person must sign in. */
export async function connectServer(wish: ConnectWish): Promise<McpConnection> {
  const { Client: OfficialClient } = await import('@modelcontextprotocol/client');
  // A program may need time to start, and one of the older protocol may ignore what it does not know. A URL that does not respond is down.
  const isSilenceOld = wish.isLocal && wish.era === null;
  const probeMs = isSilenceOld ? wish.startMs / 2 : wish.startMs;
  const attempt = async (era: McpEra | null): Promise<McpConnection> => {
    const client = new OfficialClient(
      { name: 'trayclaw', version: wish.version },
      {
        capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
        versionNegotiation: { mode: era === 'modern' ? { pin: MODERN } : 'auto', probe: { timeoutMs: probeMs } },
        inputRequired: { maxRounds: 3 },
        listMaxPages: PAGES_MAX,
        // A malicious schema pattern could block this process on the server's own values.
        jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
        listChanged: { tools: { autoRefresh: false, debounceMs: 300, onChanged: () => wish.onToolsChanged() } },
      },
    );
    client.setRequestHandler('elicitation/create', ({ params }, context) => wish.elicit(params, context.mcpReq.signal));
    const options = { timeout: wish.startMs, maxTotalTimeout: wish.startMs, signal: wish.signal };
    try {
      await client.connect(wish.open(), era === 'legacy' ? { ...options, prior: { kind: 'legacy' } } : options);
    } catch (cause) {
      await client.close().catch(() => undefined);
      throw cause;
    }
    return new McpConnection(client, wish);
  };
  try {
    return await attempt(wish.era);
  } catch (cause) {
    // The server ended, or no longer speaks the generation it spoke before.
    const mayDiffer = wish.era !== null || wish.isLocal;
    if (!mayDiffer || wish.signal.aborted || !(await isNegotiationFailure(cause, isSilenceOld))) throw cause;
    return attempt(wish.era === null ? 'legacy' : null);
  }
}

async function isNegotiationFailure(cause: unknown, isSilenceOld: boolean): Promise<boolean> {
  const { SdkError, SdkErrorCode, ProtocolError } = await import('@modelcontextprotocol/client');
  if (ProtocolError.isInstance(cause)) return true;
  if (!SdkError.isInstance(cause)) return false;
  if (cause.code === SdkErrorCode.RequestTimeout) return isSilenceOld;
  return [SdkErrorCode.ConnectionClosed, SdkErrorCode.EraNegotiationFailed].includes(cause.code);
}

export class McpConnection {
  readonly #client: Client;
  readonly #progress = new Map<unknown, (progress: Progress) => void>();
  #watched = 0;

  constructor(client: Client, { onClosed }: Pick<ConnectWish, 'onClosed'>) {
    this.#client = client;
    // The client stops watching progress at the first response to a request. A task's progress comes after that response.
    client.setNotificationHandler('notifications/progress', ({ params: { progressToken, ...progress } }) =>
      this.#progress.get(progressToken)?.(progress),
    );
    // The client accepts its listeners only as properties.
    Object.assign(client, { onclose: onClosed, onerror: () => undefined });
  }

  get era(): McpEra {
    return this.#client.getProtocolEra() === 'modern' ? 'modern' : 'legacy';
  }

  get protocol(): string | null {
    return this.#client.getNegotiatedProtocolVersion() ?? null;
  }

  get client(): Client {
    return this.#client;
  }

  /** The server's own claim; never shown to a model. */
  offers(what: 'tools' | 'resources' | 'prompts'): boolean {
    return this.#client.getServerCapabilities()?.[what] !== undefined;
  }

  /**
   * True if the server runs calls as tasks of revision 2025-11-25. Tasks of the later revision differ, and its servers use them only for
   * clients that ask for them.
   */
  get takesTasks(): boolean {
    return this.era === 'legacy' && this.#client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
  }

  watchProgress(onProgress: (progress: Progress) => void): ProgressWatch {
    const token = `call-${++this.#watched}`;
    this.#progress.set(token, onProgress);
    return { token, end: () => void this.#progress.delete(token) };
  }

  async listTools(options: CallOptions): Promise<readonly Tool[]> {
    if (!this.offers('tools')) return [];
    return (await this.#client.listTools(undefined, { ...requestOptions(options), cacheMode: 'refresh' })).tools;
  }

  /** Passes the approved definition, so that the client fetches no listing in between. */
  callTool({ tool, args, progressToken }: ToolCall, options: CallOptions): Promise<CallToolResult> {
    const params = { name: tool.name, arguments: args, _meta: { progressToken } };
    return this.#client.callTool(params, { ...requestOptions(options), toolDefinition: tool });
  }

  async beginTask({ tool, args, progressToken }: ToolCall, options: CallOptions): Promise<Task> {
    const { specTypeSchemas } = await import('@modelcontextprotocol/client');
    const params = { name: tool.name, arguments: args, task: {}, _meta: { progressToken } };
    const begun = await this.#client.request({ method: 'tools/call', params }, specTypeSchemas.CreateTaskResult, requestOptions(options));
    return begun.task;
  }

  async getTask(taskId: string, signal: AbortSignal): Promise<Task> {
    const { specTypeSchemas } = await import('@modelcontextprotocol/client');
    const options = requestOptions({ signal, timeoutMs: TASK_MS });
    return this.#client.request({ method: 'tasks/get', params: { taskId } }, specTypeSchemas.GetTaskResult, options);
  }

  /** Resolves when the task has ended. */
  async taskResult(taskId: string, options: CallOptions): Promise<CallToolResult> {
    const { specTypeSchemas } = await import('@modelcontextprotocol/client');
    return this.#client.request({ method: 'tasks/result', params: { taskId } }, specTypeSchemas.CallToolResult, requestOptions(options));
  }

  async cancelTask(taskId: string): Promise<void> {
    const { specTypeSchemas } = await import('@modelcontextprotocol/client');
    const request = { method: 'tasks/cancel', params: { taskId } };
    await this.#client.request(request, specTypeSchemas.CancelTaskResult, { timeout: TASK_MS });
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

export function requestOptions({ signal, timeoutMs }: CallOptions) {
  return { signal, timeout: timeoutMs };
}

/** True if a person has to sign in or grant more rights. */
export async function wantsSignIn(cause: unknown): Promise<boolean> {
  const { UnauthorizedError, SdkHttpError } = await import('@modelcontextprotocol/client');
  return UnauthorizedError.isInstance(cause) || (SdkHttpError.isInstance(cause) && cause.status === 401);
}

/** True if the server does not know the session, for example after a restart. It refused the request and wants a new session. */
export async function isSessionGone(cause: unknown): Promise<boolean> {
  const { SdkHttpError } = await import('@modelcontextprotocol/client');
  return SdkHttpError.isInstance(cause) && cause.status === 404;
}

const CAUSE_DEPTH_MAX = 6;

/** Describes a failure in one sentence for people, with a bounded part of the server's error. */
export function failureOf(server: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('tool_failed', `The MCP server ${server} failed: ${sentence(messagesOf(cause).join(': '))}`, { cause });
}

/** The message of a failure, and those of its causes that say more: `fetch failed` alone does not say why. */
function messagesOf(cause: unknown, depth = 0): string[] {
  if (!(cause instanceof Error)) return [String(cause)];
  const inner = depth < CAUSE_DEPTH_MAX && cause.cause instanceof Error ? messagesOf(cause.cause, depth + 1) : [];
  const own = httpAnswer(cause) ?? cause.message;
  const more = inner.filter((message) => message !== '' && !own.includes(message));
  return [own, ...more];
}

/** Returns the status and the words of an error response. The client's own message names the method of HTTP and the whole body. */
function httpAnswer(cause: Error & { readonly status?: unknown; readonly data?: unknown }): string | null {
  if (typeof cause.status !== 'number') return null;
  const text = valueAt(cause.data, 'text');
  const said = jsonIn(String(text));
  const words = said === undefined ? text : (valueAt(said, 'error.message') ?? valueAt(said, 'message'));
  return `it answered with HTTP ${cause.status}${typeof words === 'string' && words !== '' ? `: ${words}` : ''}`;
}

function sentence(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().slice(0, 500);
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
