// The updates that show an editor a session it loads: messages, the text of each step, and the calls with their ends. Pure.

import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { AnyEvent, EventBodies } from '../../../contracts/events.ts';
import { callTitle, toolKind } from './acp-words.ts';

/** The events that it reads. */
export const replayedTypes = ['user.message', 'model.finished', 'policy.decided', 'tool.finished', 'turn.finished'] as const;

export class Replay {
  /** The updates of the events taken so far; the reader removes those that it has sent. */
  readonly updates: SessionUpdate[] = [];
  readonly #titles = new Map<string, string>();
  readonly #open = new Set<string>();
  #hasSaid = false;

  take(event: AnyEvent): void {
    switch (event.type) {
      case 'user.message':
        if (event.body.text !== '')
          this.updates.push({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: event.body.text } });
        return;
      case 'model.finished':
        for (const { callId, tool, args } of event.body.calls) this.#titles.set(callId, callTitle(tool, args));
        // The text of the last step is that of the turn.
        if (event.body.calls.length > 0) this.#say(event.body.text.trim());
        return;
      case 'policy.decided':
        this.#call(event.body);
        return;
      case 'tool.finished':
        this.#endCall(event.body.callId, event.body.outcome === 'ok', event.body.forUser);
        return;
      case 'turn.finished':
        // Calls that were not made: denied, or the turn was stopped.
        for (const callId of this.#open) this.#endCall(callId, false, '');
        this.#say(event.body.text);
        this.#hasSaid = false;
        return;
      default:
        return;
    }
  }

  #say(text: string): void {
    if (text === '') return;
    const told = this.#hasSaid ? `\n\n${text}` : text;
    this.updates.push({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: told } });
    this.#hasSaid = true;
  }

  #call({ callId, tool, facts }: EventBodies['policy.decided']): void {
    const locations = facts.paths.map(({ real }) => ({ path: real }));
    const title = this.#titles.get(callId) ?? tool;
    this.updates.push({ sessionUpdate: 'tool_call', toolCallId: callId, title, kind: toolKind(facts.class), status: 'pending', locations });
    this.#open.add(callId);
  }

  #endCall(callId: string, isDone: boolean, forUser: string): void {
    if (!this.#open.delete(callId)) return;
    const content = forUser === '' ? [] : [{ type: 'content' as const, content: { type: 'text' as const, text: forUser } }];
    this.updates.push({ sessionUpdate: 'tool_call_update', toolCallId: callId, status: isDone ? 'completed' : 'failed', content });
  }
}
