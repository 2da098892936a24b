// `trayclaw acp`: TrayClaw inside an editor, over the Agent Client Protocol on standard input and output. Nothing else is written there. If
// an instance is running, this process is only its client.

import { Readable, Writable } from 'node:stream';
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type AgentContext,
  type ElicitationCapabilities,
} from '@agentclientprotocol/sdk';
import type { Claw } from '../../../contracts/claw.ts';
import { toAppError } from '../../../contracts/errors.ts';
import type { AnyEvent } from '../../../contracts/events.ts';
import type { OpName, OpParams, OpResult } from '../../../contracts/ops.ts';
import { cliCaller } from '../caller.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-code.ts';
import { isInsideTool, refusedInsideTool } from '../person-only.ts';
import { Replay, replayedTypes } from './acp-replay.ts';
import { AcpTurn } from './acp-turn.ts';
import { commandsOf, modesOf, readPrompt, sessionOf } from './acp-words.ts';

const SESSIONS_LISTED = 50;
const EVENTS_LOADED = 1_000;

export async function acp(context: CommandContext): Promise<number> {
  // Refused inside a tool, because this command answers approvals.
  if (isInsideTool(context.io.env)) throw refusedInsideTool('acp');
  return context.withClaw('live', async ({ claw }) => {
    const door = new AcpDoor(claw, context.parts.version);
    const { stdin, stdout } = context.io;
    const input = Readable.toWeb(stdin) as ReadableStream<Uint8Array>;
    const connection = door.app().connect(ndJsonStream(Writable.toWeb(stdout) as WritableStream<Uint8Array>, input));
    const stopListening = context.io.onInterrupt(() => connection.close());
    await connection.closed;
    stopListening();
    await door.cancelAll();
    return exitCodes.done;
  });
}

class AcpDoor {
  readonly #claw: Claw;
  readonly #version: string;
  readonly #turns = new Map<string, AcpTurn>();
  #forms: ElicitationCapabilities | null = null;

  constructor(claw: Claw, version: string) {
    this.#claw = claw;
    this.#version = version;
  }

  app(): AgentApp {
    const { session } = methods.agent;
    return agent({ name: 'trayclaw' })
      .onRequest(methods.agent.initialize, ({ params }) => {
        this.#forms = params.clientCapabilities?.elicitation ?? null;
        return {
          // The only one there is here, whatever the editor asks for.
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: 'trayclaw', title: 'TrayClaw', version: this.#version },
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { image: true, embeddedContext: true },
            sessionCapabilities: { list: {}, resume: {}, close: {} },
          },
          authMethods: [],
        };
      })
      .onRequest(session.new, async ({ params, client }) => {
        const { sessionId, agentId } = await this.#op('session.create', { workspace: params.cwd });
        this.#offerCommands(sessionId, client);
        return { sessionId, modes: await this.#modes(agentId) };
      })
      .onRequest(session.list, ({ params }) => this.#list(params.cwd ?? undefined, params.cursor ?? undefined))
      .onRequest(session.load, async ({ params, client }) => {
        const agentId = await this.#replay(params.sessionId, client);
        this.#offerCommands(params.sessionId, client);
        return { modes: await this.#modes(agentId) };
      })
      .onRequest(session.resume, async ({ params, client }) => {
        const { session: found } = await this.#op('session.get', { sessionId: params.sessionId, limit: 1 });
        this.#offerCommands(params.sessionId, client);
        return { modes: await this.#modes(found.agentId) };
      })
      .onRequest(session.close, async ({ params }) => {
        await this.#turns.get(params.sessionId)?.cancel();
        return {};
      })
      .onRequest(session.setMode, async ({ params }) => {
        await this.#op('session.configure', { sessionId: params.sessionId, agentId: params.modeId });
        return {};
      })
      .onRequest(session.prompt, ({ params, client }) => this.#prompt(params.sessionId, readPrompt(params.prompt), client))
      .onNotification(session.cancel, ({ params }) => this.#turns.get(params.sessionId)?.cancel());
  }

  /** Cancels all turns when the editor disconnects, because the person who asked is gone. */
  async cancelAll(): Promise<void> {
    await Promise.all([...this.#turns.values()].map((turn) => turn.cancel()));
  }

  async #prompt(sessionId: string, prompt: Parameters<AcpTurn['run']>[0], client: AgentContext) {
    if (this.#turns.has(sessionId)) throw RequestError.invalidParams({ sessionId }, 'The session is still answering; cancel that first.');
    const turn = new AcpTurn({ claw: this.#claw, client, sessionId, forms: this.#forms });
    this.#turns.set(sessionId, turn);
    try {
      // A named session must exist, so that a mistyped id does not start a new one.
      await this.#op('session.get', { sessionId, limit: 1 });
      return { stopReason: await turn.run(prompt) };
    } catch (cause) {
      throw outward(cause);
    } finally {
      this.#turns.delete(sessionId);
    }
  }

  async #list(workspace: string | undefined, cursor: string | undefined) {
    const { configured } = await this.#op('workspace.list', {});
    const inFolder = workspace === undefined ? {} : { workspace: workspace === configured ? null : workspace };
    const page = { limit: SESSIONS_LISTED, ...inFolder, ...(cursor === undefined ? {} : { cursor }) };
    const { sessions, nextCursor } = await this.#op('session.list', page);
    return { sessions: sessions.map((one) => sessionOf(one, configured)), nextCursor };
  }

  /** Sends everything that was said and done in a session to the editor, page by page. */
  async #replay(sessionId: string, client: AgentContext): Promise<string> {
    const { session } = await this.#op('session.get', { sessionId, limit: 1 });
    const replay = new Replay();
    for (let after = 0; ;) {
      const { events } = await this.#op('session.get', { sessionId, after, limit: EVENTS_LOADED, types: [...replayedTypes] });
      for (const event of events) replay.take(event as AnyEvent);
      for (const update of replay.updates.splice(0)) await client.notify(methods.client.session.update, { sessionId, update });
      const last = events.at(-1);
      if (last === undefined || events.length < EVENTS_LOADED) return session.agentId;
      after = last.seq;
    }
  }

  /** Sent after the answer, because an editor does not know the session before. */
  #offerCommands(sessionId: string, client: AgentContext): void {
    setImmediate(() => {
      this.#sendCommands(sessionId, client).catch(() => undefined);
    });
  }

  async #sendCommands(sessionId: string, client: AgentContext): Promise<void> {
    const { commands } = await this.#op('command.list', {});
    const update = { sessionUpdate: 'available_commands_update' as const, availableCommands: commandsOf(commands) };
    await client.notify(methods.client.session.update, { sessionId, update });
  }

  async #modes(agentId: string) {
    const { agents } = await this.#op('agent.list', {});
    return modesOf(agents, agentId);
  }

  async #op<N extends OpName>(name: N, params: OpParams<N>): Promise<OpResult<N>> {
    try {
      return await this.#claw.op(name, params, cliCaller);
    } catch (cause) {
      throw outward(cause);
    }
  }
}

function outward(cause: unknown): RequestError {
  if (cause instanceof RequestError) return cause;
  const error = toAppError(cause);
  const { code } = error;
  const text = error.told();
  const isAsked = code === 'invalid_params' || code === 'not_found' || code === 'forbidden' || code === 'conflict';
  return isAsked ? RequestError.invalidParams({ code }, text) : RequestError.internalError({ code }, text);
}
