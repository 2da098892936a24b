// The window's state in one place: owns the parts, feeds them the one event stream, and turns failures into notices.

import { createContext } from 'svelte';
import type { AnyEvent, DeltaNotice } from '../../../core/contracts/events.ts';
import type { DesktopBridge, ShellCommand, ShellFacts } from '../../../core/contracts/desktop-channels.ts';
import type { BudgetScope, BudgetUnit } from '../../../core/contracts/policy.ts';
import { OpFailure, type LinkState, type OpClient } from '../client.ts';
import { Approvals } from './approvals.svelte.ts';
import { Notices } from './notices.svelte.ts';
import { OpenConversation } from './open-conversation.svelte.ts';
import { Route } from './route.svelte.ts';
import { Sessions } from './sessions.svelte.ts';
import { System } from './system.svelte.ts';

const conversationsMax = 6;

export interface AppOptions {
  readonly client: OpClient;
  /** Under runes, so that what changes it is seen. */
  readonly drafts: Record<string, string>;
  onUnauthorized(): void;
}

export class App {
  readonly client: OpClient;
  readonly notices = new Notices();
  readonly route = new Route();
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly system: System;
  /** Text typed but not sent, by session; '' is the conversation that has no session yet. */
  readonly drafts: Record<string, string>;
  /** Grows with every message that was taken. */
  sentCount = $state(0);
  /** Moves once a second while shown, for elapsed times. */
  nowMs = $state(Date.now());
  /** What holds of the desktop app; null in a browser. */
  shell = $state.raw<ShellFacts | null>(null);
  #conversations = new Map<string, OpenConversation>();
  readonly #onUnauthorized: () => void;

  constructor(options: AppOptions) {
    const { client, drafts } = options;
    this.client = client;
    this.drafts = drafts;
    this.#onUnauthorized = () => options.onUnauthorized();
    const report = (cause: unknown): void => this.notices.fail(cause);
    this.sessions = new Sessions(client, report);
    this.approvals = new Approvals(client);
    this.system = new System(client, report);
  }

  start(target: Window): () => void {
    const stopRoute = this.route.follow(target);
    const stopEvents = this.client.events('latest', {
      onEvent: (event) => this.#take(event),
      onDelta: (delta) => this.#takeDelta(delta),
      onState: (state, gap) => this.#linkChanged(state, gap),
    });
    const tick = setInterval(() => {
      if (!target.document.hidden) this.nowMs = Date.now();
    }, 1000);
    return () => {
      clearInterval(tick);
      stopEvents();
      stopRoute();
    };
  }

  /** Goes where the desktop shell asks, until the returned function is called. */
  followShell(bridge: DesktopBridge): () => void {
    const stop = bridge.onCommand((command) => this.#goTo(command));
    void this.attempt(async () => {
      this.shell = await bridge.ready();
    });
    return stop;
  }

  setLoginStart(bridge: DesktopBridge, isOn: boolean): Promise<boolean> {
    return this.attempt(async () => {
      this.shell = await bridge.setLoginStart(isOn);
    });
  }

  /** A link out of the window, pressed by the person. */
  async openLink(bridge: DesktopBridge, url: string): Promise<void> {
    await this.attempt(async () => {
      if (await bridge.openLink(url)) return;
      this.notices.tell('This link was not opened.', 'Only web pages and mail addresses are. Copy it to look at it elsewhere.');
    });
  }

  #goTo(command: ShellCommand): void {
    if (command.kind === 'stopping') void this.attempt(() => this.system.lookStopped());
    else if (command.kind === 'show') this.route.go(command.view);
    else if (command.kind === 'show-session') this.route.go('chat', command.sessionId);
    else void this.attempt(() => this.#goToApproval(command.approvalId));
  }

  async #goToApproval(approvalId: string): Promise<void> {
    this.route.go('approvals', null, approvalId);
    // The list of a window that was just opened may not be there yet.
    await this.approvals.load();
    if (this.approvals.pending.some((approval) => approval.approvalId === approvalId)) return;
    this.route.replace('approvals');
    this.notices.tell('This question does not wait any more.', 'What was decided is in the list below the open ones.');
  }

  /** Runs something a person asked for; a failure becomes a notice. False when it failed. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (cause) {
      if (cause instanceof OpFailure && cause.code === 'unauthorized') this.#onUnauthorized();
      this.notices.fail(cause);
      return false;
    }
  }

  /** The conversation of a session, loaded the first time it is asked for. The least recently used one goes first. */
  conversation(sessionId: string): OpenConversation {
    const known = this.#conversations.get(sessionId);
    const conversation = known ?? new OpenConversation(this.client, sessionId);
    this.#conversations.delete(sessionId);
    this.#conversations.set(sessionId, conversation);
    // Not at once: this may run while a view is being derived, where state must not change.
    if (known === undefined) queueMicrotask(() => void conversation.load());
    const oldest = this.#conversations.keys().next().value;
    if (this.#conversations.size > conversationsMax && oldest !== undefined) this.#conversations.delete(oldest);
    return conversation;
  }

  /** The session on screen in the chat, if any. */
  get lookedAt(): string | null {
    const { view, sessionId } = this.route.place;
    return view === 'chat' ? sessionId : null;
  }

  /** Sends to a running turn as steering, else as a new message. True when it was taken. */
  async send(sessionId: string | null, text: string, runningTurnId: string | null): Promise<boolean> {
    const taken = await this.attempt(async () => {
      if (runningTurnId !== null && (await this.#steer(runningTurnId, text))) return;
      const sent = await this.client.op('message.send', { text, ...(sessionId === null ? {} : { sessionId }) });
      if (sessionId === null) this.route.go('chat', sent.sessionId);
    });
    if (taken) this.sentCount += 1;
    return taken;
  }

  /** Allows more for what ended a turn, and goes on with its work. */
  allowMore(turnId: string, sessionId: string, more: { scope: BudgetScope; unit: BudgetUnit; amount: number }): Promise<boolean> {
    const place = { turn: { turnId }, session: { sessionId }, day: {} }[more.scope];
    return this.attempt(async () => {
      await this.client.op('budget.allow', { scope: more.scope, ...place, [more.unit]: more.amount });
      await this.client.op('turn.continue', { turnId });
    });
  }

  /** Takes up the work of a turn that a limit ended. */
  continueTurn(turnId: string): Promise<boolean> {
    return this.attempt(() => this.client.op('turn.continue', { turnId }));
  }

  async #steer(turnId: string, text: string): Promise<boolean> {
    try {
      await this.client.op('turn.steer', { turnId, text });
      return true;
    } catch (cause) {
      // It ended in the meantime: what was typed becomes the next message.
      if (cause instanceof OpFailure && cause.code === 'turn_not_running') return false;
      throw cause;
    }
  }

  #take(event: AnyEvent): void {
    this.sessions.apply(event, document.hidden ? null : this.lookedAt);
    this.approvals.apply(event);
    this.system.apply(event);
    this.#conversations.get(event.sessionId)?.take(event);
    if (event.type === 'approval.requested') this.notices.say(`Approval needed: ${event.body.approval.summary}`);
    if (event.type === 'turn.finished' && event.sessionId === this.lookedAt)
      this.notices.say(`Turn ${event.body.status.replace('_', ' ')}.`);
  }

  #takeDelta(delta: DeltaNotice): void {
    this.#conversations.get(delta.sessionId)?.takeDelta(delta);
  }

  #linkChanged(state: LinkState, gap: boolean): void {
    const isFirst = state === 'online' && this.system.link === 'connecting';
    this.system.link = state;
    if (state === 'unauthorized') this.#onUnauthorized();
    else if (isFirst || gap) void this.#loadAll();
  }

  async #loadAll(): Promise<void> {
    const parts = [this.sessions.load(), this.approvals.load(), this.system.load()];
    for (const conversation of this.#conversations.values()) parts.push(conversation.load());
    for (const part of await Promise.allSettled(parts)) {
      if (part.status === 'rejected') this.notices.fail(part.reason);
    }
  }
}

export const [getApp, setApp] = createContext<App>();
