// The common entry of all channels: determines the session, agent and sender of a message or direct call, and passes it to the runtime.

import { doors } from '../../contracts/doors.ts';
import { AppError, noSession } from '../../contracts/errors.ts';
import { isOwnSessionId } from '../../contracts/system-session.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { Channel, ChannelLink } from '../../contracts/channels.ts';
import type { Caller, OpParsed } from '../../contracts/ops.ts';
import { assert } from '../../base/assert.ts';
import type { Workspaces } from '../../guard/workspace/workspace.ts';
import { broughtAlong, findMessage, type TurnRuntime } from '../../runtime/turns/turns.ts';
import { keepAttachments } from './attachments.ts';
import { introduceChat, receiveFrom, type InboundDeps } from './channel-inbound.ts';
import { titleOf } from '../../base/session-title.ts';

export interface ControlplaneDeps extends InboundDeps {
  readonly turns: TurnRuntime;
  /** The default agent of a chat, and whether an agent exists. */
  readonly agents: {
    route(from: { readonly channel: string; readonly chatId: string | null }): string;
    assertKnown(agentId: string): void;
  };
  readonly workspaces: Pick<Workspaces, 'choose' | 'configured' | 'contextOf'>;
  readonly outbox: { open: ChannelLink['open'] };
}

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export class Controlplane {
  readonly #deps: ControlplaneDeps;

  constructor(deps: ControlplaneDeps) {
    this.#deps = deps;
  }

  /**
   * Commits the message before it returns. The message may be acknowledged after `onDisk`. Fails with invalid_params, panic_engaged,
   * queue_full or a store error.
   */
  receive(params: OpParsed<'message.send'>, caller: Caller): ReturnType<TurnRuntime['accept']> {
    const { sessionId, agentId, workspace, opening } = this.#resolve(params, caller);
    // Checked before any file is stored. A message without files is refused later, where duplicates are recognized.
    if ((params.attachments ?? []).length > 0) this.#deps.turns.assertOpen(sessionId);
    const attached = keepAttachments(this.#deps, params.attachments ?? [], {
      sessionId,
      workspace,
      mayNamePaths: doors[caller.channel].isHere,
    });
    return this.#deps.turns.accept({
      sessionId,
      agentId,
      attached,
      text: params.text,
      channel: caller.channel,
      sender: caller.actor,
      dedupeKey: params.dedupeKey ?? null,
      ...(params.model === undefined ? {} : { model: params.model }),
      ...(caller.bounds === undefined ? {} : { bounds: caller.bounds }),
      ...(params.forwardedFrom === undefined ? {} : { untrusted: [{ kind: 'message', where: params.forwardedFrom }] }),
      before: (text) => opening(titleOf(text)),
    });
  }

  /** The functions that a channel may use: inbound messages under its own name and rules, and outbound ones. */
  link(channel: Pick<Channel, 'name' | 'identities' | 'rules'>): ChannelLink {
    return {
      receive: (inbound) => receiveFrom(this.#deps, channel, inbound),
      introduce: (chat, about) => introduceChat(this.#deps, channel, chat, about),
      open: (port) => {
        assert(port.name === channel.name, `the channel ${channel.name} sends for itself alone`);
        return this.#deps.outbox.open(port);
      },
    };
  }

  /** Repeats the message of a conversation's last turn, optionally with another model or text. */
  retry({ turnId, model, text }: OpParsed<'turn.retry'>, caller: Caller): { sessionId: string; turnId: string } {
    return this.#deps.turns.retry(turnId, { model: model ?? null, text: text ?? null, by: caller.actor });
  }

  /** Forks everything that ended before a message, and adds that message, with a new text if given. The original is unchanged. */
  branch(turnId: string, text: string | null, caller: Caller): { sessionId: string; turnId: string } {
    const { log, turns, ids } = this.#deps;
    const { sessionId: from, agentId, message, marks, beginsAt } = findMessage(log, turnId);
    const sessionId = ids.next('ses');
    // Checked before anything is copied, because a branch without its message would be useless.
    turns.assertOpen(sessionId);
    const original = log.index.session(from)?.title ?? '';
    const title = original === '' ? '' : `${original} (branch)`;
    log.fork({ sessionId: from, atSessionSeq: beginsAt - 1, endedOnly: true }, { sessionId, title, agentId, channel: caller.channel });
    return turns.submit({
      sessionId,
      agentId,
      text: text ?? message.text,
      channel: caller.channel,
      sender: caller.actor,
      dedupeKey: null,
      ...broughtAlong({ message, marks }),
      before: [],
    });
  }

  runTool(params: OpParsed<'tool.run'>, caller: Caller): { sessionId: string; turnId: string; callId: string } {
    const args = typeof params.args === 'string' ? params.args : JSON.stringify(params.args ?? {});
    const { opening, ...place } = this.#resolve({ sessionId: params.sessionId, workspace: params.workspace }, caller);
    const before = opening(`Direct: ${params.tool}`);
    const bounds = caller.bounds === undefined ? {} : { bounds: caller.bounds };
    return this.#deps.turns.runTool({ ...place, before, tool: params.tool, args, channel: caller.channel, ...bounds });
  }

  /**
   * Determines the session of a message and its first event. A session without a title gets one. A session named by the client is created
   * on first use.
   */
  #resolve(wanted: Wanted, caller: Caller): Place {
    const { agents, workspaces, log } = this.#deps;
    if (wanted.agentId !== undefined) agents.assertKnown(wanted.agentId);
    if (wanted.sessionId === systemSessionId) throw noSession(wanted.sessionId);
    const chosen = wanted.workspace === undefined ? undefined : workspaces.choose(wanted.workspace);
    const known = wanted.sessionId === undefined ? null : log.index.session(wanted.sessionId);
    if (known === null) return this.#begin(wanted, chosen ?? null, caller);
    if (chosen !== undefined && chosen !== known.workspace) throw worksElsewhere(known.workspace ?? workspaces.configured);
    const opening: Place['opening'] = (title) => (known.title !== '' || title === '' ? [] : [{ type: 'session.renamed', body: { title } }]);
    return { sessionId: known.sessionId, agentId: wanted.agentId ?? known.agentId, workspace: known.workspace, opening };
  }

  #begin({ sessionId: named, agentId: wanted }: Wanted, workspace: string | null, { channel }: Caller): Place {
    if (named !== undefined && (!SESSION_ID.test(named) || isOwnSessionId(named))) {
      throw new AppError('invalid_params', `"${named}" cannot be the id of a session.`, {
        hint: 'Use up to 100 letters, digits, dots, dashes and underscores.',
      });
    }
    const sessionId = named ?? this.#deps.ids.next('ses');
    const agentId = wanted ?? this.#deps.agents.route({ channel, chatId: null });
    const body = { agentId, channel, forkedFrom: null, ...(workspace === null ? {} : { workspace }) };
    return { sessionId, agentId, workspace, opening: (title) => [{ type: 'session.created', body: { title, ...body } }] };
  }
}

type Wanted = Partial<Pick<OpParsed<'message.send'>, 'sessionId' | 'agentId' | 'workspace'>>;

interface Place {
  readonly sessionId: string;
  readonly agentId: string;
  readonly workspace: string | null;
  /** The first event of a new session, or the title of one without a title. */
  readonly opening: (title: string) => AnyDraft[];
}

function worksElsewhere(workspace: string): AppError {
  return new AppError('conflict', `This session works in ${workspace}, and a session keeps its folder.`, {
    hint: 'Start a new session for another folder.',
  });
}
