// Builds the offer of this door with the official server: the tools and resources that a client's scopes include. Everything with an effect
// is an operation that passes the gate; no decision is made here.

import {
  McpServer,
  ResourceTemplate,
  isInputRequiredResult,
  type CallToolResult,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { AppError, isAppError, toAppError } from '../../contracts/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { OpName, OpParams, OpResult } from '../../contracts/ops.ts';
import { messageTextMax } from '../../contracts/define-ops.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import type { ToolListing } from '../../contracts/tools.ts';
import type { Peer } from './peer.ts';
import { listSessions, readSession, watchSessions } from './session-resources.ts';
import type { SessionNews } from './session-news.ts';
import { followTurn, type TurnCallDeps, type Visit } from './turn-call.ts';

export interface DoorServerDeps extends TurnCallDeps {
  readonly version: string;
  readonly logger: Logger;
  readonly news: SessionNews;
}

type Made = CallToolResult | InputRequiredResult;
type Context = Visit['context'];

const ROUNDS_MAX = 50;
const QUESTION_MS = 30 * 60_000;
const AGENTS_NAMED = 50;

const instructions =
  'TrayClaw is an agent on this computer, with its own tools, memory and documents. What it does passes its gate: a call may wait for the ' +
  'approval of a person, and the request stays open meanwhile.';

/** Creates a server per connection, or per request if connections are not kept. `tellsAll` is for clients that listen to a stream. */
export async function createDoorServer(deps: DoorServerDeps, peer: Peer, tellsAll = false): Promise<McpServer> {
  const server = new McpServer(
    { name: 'trayclaw', title: 'TrayClaw', version: deps.version },
    {
      instructions,
      capabilities: { tools: {}, resources: { subscribe: true } },
      inputRequired: { maxRounds: ROUNDS_MAX, roundTimeoutMs: QUESTION_MS },
      requestState: { verify: (state, context) => deps.rounds.verify(state, context) },
      // Answers are validated where they are read.
      jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
    },
  );
  const offering = new Offering(server, deps, peer);
  await offering.addAgents();
  await offering.addTools();
  offering.addSearches();
  offering.addSessions();
  watchSessions(server, peer, { news: deps.news, tellsAll });
  return server;
}

class Offering {
  readonly #server: McpServer;
  readonly #deps: DoorServerDeps;
  readonly #peer: Peer;

  constructor(server: McpServer, deps: DoorServerDeps, peer: Peer) {
    this.#server = server;
    this.#deps = deps;
    this.#peer = peer;
  }

  async addAgents(): Promise<void> {
    const { agents } = await this.#op('agent.list', {});
    const allowed = agents.filter(({ agentId }) => this.#peer.may(`trayclaw/${agentId}`));
    if (allowed.length === 0 && !this.#peer.may('trayclaw')) return;
    const names = allowed.slice(0, AGENTS_NAMED).map(({ agentId }) => agentId);
    this.#server.registerTool(
      'ask_agent',
      {
        title: 'Ask the agent',
        description: `Ask an agent of TrayClaw and wait for its answer. It works with its own tools. Agents: ${names.join(', ')}.`,
        inputSchema: z.strictObject({
          message: z.string().min(1).max(messageTextMax).describe('What to ask.'),
          session: z.string().min(1).max(100).optional().describe('The session of an earlier answer, to continue it.'),
          agent: z.string().min(1).max(100).optional().describe('Which agent. Default: the usual one.'),
        }),
        annotations: { openWorldHint: true },
      },
      ({ message, session, agent }, context) => this.#answer(context, () => this.#ask({ message, session, agent }, context)),
    );
  }

  async addTools(): Promise<void> {
    this.#server.registerTool(
      'calculate',
      {
        title: 'Calculate',
        description: 'Calculate an expression exactly, such as 2*(3+4) or sqrt(2).',
        inputSchema: z.strictObject({ expression: z.string().min(1).max(2000) }),
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      },
      ({ expression }, context) => this.#answer(context, () => this.#run('calc', { expression }, context)),
    );
    const tools = await this.#tools();
    if (tools.length === 0) return;
    this.#server.registerTool(
      'list_tools',
      {
        title: 'List the tools',
        description: 'List the tools that run_tool can run, each with the schema of its arguments.',
        inputSchema: z.strictObject({}),
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      },
      (_given, context) => this.#answer(context, async () => textResult(JSON.stringify(await this.#tools(), null, 1))),
    );
    this.#server.registerTool(
      'run_tool',
      {
        title: 'Run a tool',
        description: `Run one tool of TrayClaw through its gate, without a model. list_tools shows the arguments. Tools: ${tools.map(({ name }) => name).join(', ')}.`,
        inputSchema: z.strictObject({
          tool: z.string().min(1).max(100).describe('The name of the tool.'),
          arguments: z.record(z.string(), z.unknown()).default({}).describe('Its arguments.'),
        }),
        annotations: { destructiveHint: true, openWorldHint: true },
      },
      ({ tool, arguments: args }, context) => this.#answer(context, () => this.#runNamed(tool, args, context)),
    );
  }

  addSearches(): void {
    const query = z.string().min(1).max(2000).describe('Words to search for.');
    const limit = z.number().int().min(1).max(50).default(10).describe('Maximum number of results.');
    const annotations = { readOnlyHint: true, openWorldHint: false };
    if (this.#peer.may('memory')) {
      const about = { title: 'Search memory', description: 'Search what TrayClaw remembers about its person and their work.', annotations };
      this.#server.registerTool('search_memory', { ...about, inputSchema: z.strictObject({ query, limit }) }, (given, context) =>
        this.#answer(context, async () => {
          const { hits } = await this.#op('memory.recall', given);
          return textResult(
            hits.length === 0 ? 'Nothing is remembered about this.' : hits.map(({ text, kind }) => `- ${text} (${kind})`).join('\n'),
          );
        }),
      );
    }
    if (!this.#peer.may('documents')) return;
    const about = {
      title: 'Search documents',
      description: 'Search the documents that TrayClaw has indexed. Returns passages with their place.',
      annotations,
    };
    this.#server.registerTool('search_documents', { ...about, inputSchema: z.strictObject({ query, limit }) }, (given, context) =>
      this.#answer(context, async () => {
        const { evidence } = await this.#op('knowledge.search', given);
        return textResult(
          evidence.length === 0
            ? 'No document says anything about this.'
            : evidence.map(({ citation, text }) => `[${citation}]\n${text}`).join('\n\n'),
        );
      }),
    );
  }

  addSessions(): void {
    const { claw } = this.#deps;
    const peer = this.#peer;
    this.#server.registerResource(
      'session',
      new ResourceTemplate('trayclaw://sessions/{sessionId}', { list: () => listSessions(claw, peer) }),
      { title: 'Conversations', description: 'A conversation with TrayClaw, as Markdown', mimeType: 'text/markdown' },
      (uri, { sessionId }) => readSession(claw, peer, { uri: uri.href, sessionId: String(sessionId) }),
    );
  }

  async #ask(
    { message, session, agent }: { readonly message: string; readonly session: string | undefined; readonly agent: string | undefined },
    context: Context,
  ): Promise<Made> {
    const peer = this.#peer;
    if (!peer.may(agent === undefined ? 'trayclaw' : `trayclaw/${agent}`))
      throw new AppError('not_found', agent === undefined ? 'Name one of the agents.' : `There is no agent ${agent} for this client.`);
    const begin = async (): Promise<string> => (await peer.submit({ text: message, sessionId: session, agentId: agent })).turnId;
    const ended = await followTurn(this.#deps, this.#visit(context), begin);
    if (isInputRequiredResult(ended)) return ended;
    assertDone(ended);
    const { sessionId, turnId, text } = ended;
    return {
      content: [
        { type: 'text', text },
        { type: 'text', text: `Session: ${sessionId}` },
      ],
      structuredContent: { text, sessionId, turnId },
    };
  }

  async #runNamed(tool: string, args: Record<string, unknown>, context: Context): Promise<Made> {
    if (!this.#peer.may(`tools/${tool}`)) throw new AppError('unknown_tool', `There is no tool called ${tool} for this client.`);
    return this.#run(tool, args, context);
  }

  async #run(tool: string, args: Record<string, unknown>, context: Context): Promise<Made> {
    const peer = this.#peer;
    peer.ownToolSession();
    const { toolSession } = peer;
    const begin = async (): Promise<string> => (await this.#op('tool.run', { tool, args, sessionId: toolSession, wait: 'start' })).turnId;
    const ended = await followTurn(this.#deps, this.#visit(context), begin);
    if (isInputRequiredResult(ended)) return ended;
    const { calls } = await this.#op('turn.get', { turnId: ended.turnId });
    const [call] = calls;
    if (call === undefined) throw new AppError('internal', 'The call is missing from its turn.');
    const text = call.forModel !== '' ? call.forModel : (call.reason ?? `The call ended: ${call.outcome}.`);
    const kept = call.artifacts.map(({ name, sha256 }) => `Kept: ${name} (${sha256.slice(0, 12)})`);
    return { ...textResult([text, ...kept].join('\n')), ...(call.outcome === 'ok' ? {} : { isError: true }) };
  }

  async #tools(): Promise<Pick<ToolListing, 'name' | 'description' | 'schema'>[]> {
    const { tools } = await this.#op('tool.list', {});
    return tools.flatMap(({ name, description, schema }) => (this.#peer.may(`tools/${name}`) ? [{ name, description, schema }] : []));
  }

  /** Returns failures as results, so that the model and the person can read them. */
  async #answer(context: Context, work: () => Promise<Made>): Promise<Made> {
    try {
      return await work();
    } catch (cause) {
      if (context.mcpReq.signal.aborted) throw cause;
      return { ...textResult(outward(this.#deps.logger, cause)), isError: true };
    }
  }

  #visit(context: Context): Visit {
    return { peer: this.#peer, context, capabilities: this.#server.server.getClientCapabilities() };
  }

  #op<N extends OpName>(name: N, params: OpParams<N>): Promise<OpResult<N>> {
    return this.#deps.claw.op(name, params, this.#peer.caller);
  }
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function assertDone({ status, error }: AskResult): void {
  if (status === 'done') return;
  if (error !== undefined) throw new AppError(error.code, error.message, { hint: error.hint });
  if (status === 'over_budget') throw new AppError('over_budget', 'The turn reached a budget.');
  throw new AppError('cancelled', 'The turn was stopped.');
}

/** The message of an unexpected error may name anything, so it goes to the log and is not sent to the client. */
function outward(logger: Logger, cause: unknown): string {
  if (!isAppError(cause)) {
    logger.log('error', 'a request of an MCP client failed unexpectedly', {
      cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
    });
    return 'Something unexpected happened inside; the log has the details.';
  }
  return toAppError(cause).told();
}
