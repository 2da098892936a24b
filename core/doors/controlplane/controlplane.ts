// Every way in ends here: a message or a direct call of any channel gets its session, its agent and its sender, and goes to the runtime.

import { AppError } from '../../contracts/errors.ts';
import { helperSessionPrefix } from '../../contracts/helper-events.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { Channel, ChannelLink } from '../../contracts/channels.ts';
import type { Caller, OpParsed } from '../../contracts/ops.ts';
import { assert } from '../../base/assert.ts';
import type { IdSource } from '../../base/ids.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { broughtAlong, findMessage, type TurnRuntime } from '../../runtime/turns/turns.ts';
import { keepAttachments, type AttachmentDeps } from './attachments.ts';
import { introduceChat, receiveFrom, type ChatPort } from './channel-inbound.ts';
import { titleOf } from './title.ts';

export type { ChatPort } from './channel-inbound.ts';

export interface ControlplaneDeps {
  readonly runtime: TurnRuntime;
  readonly log: SessionLog;
  readonly ids: IdSource;
  readonly attachments: AttachmentDeps;
  /** Whose chat it is where nobody says so, and whether there is such an agent. */
  readonly agents: {
    route(from: { readonly channel: string; readonly chatId: string | null }): string;
    assertKnown(agentId: string): void;
  };
  readonly chats: ChatPort;
  readonly outbox: { open: ChannelLink['open'] };
  /** A title is cut out of a message: half a secret would be recognised by nobody. */
  redact(text: string): string;
}

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export class Controlplane {
  readonly #deps: ControlplaneDeps;

  constructor(deps: ControlplaneDeps) {
    this.#deps = deps;
  }

  /** Returns as soon as the message is committed. Fails with invalid_params, panic_engaged, queue_full or a store error. */
  receive(params: OpParsed<'message.send'>, caller: Caller): { sessionId: string; turnId: string } {
    const { sessionId, agentId, before } = this.#resolve(params.sessionId, params.agentId, titleOf(this.#deps.redact(params.text)), caller);
    // Before anything is kept; a message without files is refused where it is known whether it came before.
    if ((params.attachments ?? []).length > 0) this.#deps.runtime.assertOpen(sessionId);
    const attached = keepAttachments(this.#deps.attachments, params.attachments ?? [], {
      sessionId,
      mayNamePaths: caller.channel !== 'telegram',
    });
    return this.#deps.runtime.submit({
      sessionId,
      agentId,
      attached,
      text: params.text,
      channel: caller.channel,
      sender: caller.actor,
      dedupeKey: params.dedupeKey ?? null,
      ...(params.forwardedFrom === undefined ? {} : { untrusted: [{ kind: 'message', where: params.forwardedFrom }] }),
      before,
    });
  }

  /** What a channel reaches of the program: the way in for its messages under its own name and rules, and the way out. */
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

  /** The message of a conversation's last turn again, with another model where one is named. */
  retry(turnId: string, model: string | null, caller: Caller): { sessionId: string; turnId: string } {
    return this.#deps.runtime.retry(turnId, { model, by: caller.actor });
  }

  /** A fork of what had ended before a message, and that message in it, in other words where there are any. Nothing of the original changes. */
  branch(turnId: string, text: string | null, caller: Caller): { sessionId: string; turnId: string } {
    const { log, runtime, ids } = this.#deps;
    const { sessionId: from, agentId, message, marks, beginsAt } = findMessage(log, turnId);
    const sessionId = ids.next('ses');
    // Before anything is copied: a branch without its message would only be in the way.
    runtime.assertOpen(sessionId);
    const original = log.index.session(from)?.title ?? '';
    const title = original === '' ? '' : `${original} (branch)`;
    log.fork({ sessionId: from, atSessionSeq: beginsAt - 1, endedOnly: true }, { sessionId, title, agentId, channel: caller.channel });
    return runtime.submit({
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
    const { sessionId, agentId, before } = this.#resolve(params.sessionId, undefined, `Direct: ${params.tool}`, caller);
    return this.#deps.runtime.runTool({ sessionId, agentId, tool: params.tool, args, channel: caller.channel, before });
  }

  /** The first event of a new session; for one without a title, the title. A session a client names is made on first use. */
  #resolve(
    named: string | undefined,
    wantedAgent: string | undefined,
    title: string,
    caller: Caller,
  ): { sessionId: string; agentId: string; before: AnyDraft[] } {
    const { ids, agents } = this.#deps;
    if (wantedAgent !== undefined) agents.assertKnown(wantedAgent);
    const { index } = this.#deps.log;
    if (named === systemSessionId) throw new AppError('not_found', `There is no session ${named}.`);
    const known = named === undefined ? null : index.session(named);
    if (known !== null) {
      const before: AnyDraft[] = known.title === '' && title !== '' ? [{ type: 'session.renamed', body: { title } }] : [];
      return { sessionId: known.sessionId, agentId: wantedAgent ?? known.agentId, before };
    }
    if (named !== undefined && (!SESSION_ID.test(named) || named.startsWith(helperSessionPrefix))) {
      throw new AppError('invalid_params', `"${named}" cannot be the id of a session.`, {
        data: { hint: 'Use up to 100 letters, digits, dots, dashes and underscores.' },
      });
    }
    const sessionId = named ?? ids.next('ses');
    const agentId = wantedAgent ?? agents.route({ channel: caller.channel, chatId: null });
    return {
      sessionId,
      agentId,
      before: [{ type: 'session.created', body: { title, agentId, channel: caller.channel, forkedFrom: null } }],
    };
  }
}
