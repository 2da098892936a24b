// The window's state in one place: owns the parts, passes them the single event stream, and turns failures into notices.

import { isOpen, type TurnView } from '../../../core/contracts/turn-view.ts';
import type { AnyEvent, DeltaNotice, EventOf } from '../../../core/contracts/events.ts';
import type { DesktopBridge, ShellCommand, ShellFacts } from '../../../core/contracts/desktop-channels.ts';
import type { BudgetScope, BudgetUnit } from '../../../core/contracts/policy.ts';
import type { Words } from '../i18n/words.ts';
import { OpFailure, toOpFailure, type LinkState, type OpClient } from '../client.ts';
import type { DraftFile } from '../draft-files.ts';
import { mentionedFiles } from '../mentions.ts';
import { ChatServices } from './chat-services.svelte.ts';
import { Approvals } from './approvals.svelte.ts';
import { CommandResults } from './command-results.svelte.ts';
import { Doing } from './doing.svelte.ts';
import { Helpers } from './helpers.svelte.ts';
import { Identities } from './identities.svelte.ts';
import { Inspector, Review, Side } from './inspector.svelte.ts';
import { Reading } from './reading.svelte.ts';
import { NewSession } from './new-session.svelte.ts';
import { Notices } from './notices.svelte.ts';
import { OpenConversation } from './open-conversation.svelte.ts';
import { Route } from './route.svelte.ts';
import { Rules } from './rules.svelte.ts';
import { ServerQuestions } from './server-questions.svelte.ts';
import { Schedules } from './schedules.svelte.ts';
import { Sessions } from './sessions.svelte.ts';
import { System } from './system.svelte.ts';
import { ToolLooks } from './tool-looks.svelte.ts';
import { Unfinished } from './unfinished.svelte.ts';

const conversationsMax = 6;

export interface AppOptions {
  readonly client: OpClient;
  /** A rune, so that changes are observed. */
  readonly drafts: Record<string, string>;
  readonly draftFiles: Record<string, DraftFile[]>;
  onUnauthorized(): void;
  /** Called each time, because the language may have changed. */
  words(): Words['frame'];
}

export class App {
  readonly client: OpClient;
  readonly notices = new Notices();
  readonly route = new Route();
  readonly inspector = new Inspector();
  readonly review = new Review();
  readonly side = new Side();
  readonly reading = new Reading();
  readonly sessions: Sessions;
  readonly newSession: NewSession;
  readonly approvals: Approvals;
  readonly system: System;
  readonly unfinished: Unfinished;
  readonly services: ChatServices;
  readonly schedules: Schedules;
  readonly helpers: Helpers;
  readonly questions: ServerQuestions;
  readonly rules: Rules;
  readonly tools: ToolLooks;
  readonly identities = new Identities();
  /** Typed but unsent text by session; '' is the conversation that has no session yet. */
  readonly drafts: Record<string, string>;
  /** Files attached to those drafts. */
  readonly draftFiles: Record<string, DraftFile[]>;
  readonly commands: CommandResults;
  /** The session of the tour, while the tour runs. */
  tour = $state<string | null>(null);
  /** Increases with every accepted message. */
  sentCount = $state(0);
  /** Updated once a second while shown, for elapsed times. */
  nowMs = $state(Date.now());
  /** Facts about the desktop app; null in a browser. */
  shell = $state.raw<ShellFacts | null>(null);
  /** The turn that ended last while its session was shown, until its end is shown. */
  endedId: string | null = null;
  /** The end of the last turn, until it is announced. */
  #ended: EventOf<'turn.finished'> | null = null;
  /** Something could not be loaded while the host was away. */
  #isIncomplete = false;
  #conversations = new Map<string, OpenConversation>();
  readonly #onUnauthorized: () => void;
  readonly #words: () => Words['frame'];

  constructor(options: AppOptions) {
    const { client, drafts, draftFiles } = options;
    this.client = client;
    this.drafts = drafts;
    this.draftFiles = draftFiles;
    this.commands = new CommandResults(client);
    this.#onUnauthorized = () => options.onUnauthorized();
    this.#words = () => options.words();
    const report = (cause: unknown): void => this.notices.fail(cause);
    this.sessions = new Sessions(client, report);
    this.newSession = new NewSession({ client, drafts, draftFiles, route: this.route, sessions: this.sessions });
    this.approvals = new Approvals(client);
    this.system = new System(client, report);
    this.unfinished = new Unfinished(client, report);
    this.services = new ChatServices(client, report);
    this.schedules = new Schedules(client, report);
    this.helpers = new Helpers(client, report);
    this.questions = new ServerQuestions(client, report);
    this.rules = new Rules(client);
    this.tools = new ToolLooks(client);
  }

  start(target: Window): () => void {
    const stopRoute = this.route.follow(target);
    // Opens the stream first: an answer older than the stream is requested again.
    const stopEvents = this.client.events('latest', {
      onEvent: (event) => this.#take(event),
      onDelta: (delta) => this.#takeDelta(delta),
      onState: (state, gap) => this.#linkChanged(state, gap),
    });
    void this.#loadAll();
    const tick = setInterval(() => {
      if (!target.document.hidden) this.nowMs = Date.now();
    }, 1000);
    return () => {
      clearInterval(tick);
      stopEvents();
      stopRoute();
    };
  }

  /** Navigates where the desktop shell asks, until the returned function is called. */
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

  /** Opens a link to the outside that the person clicked. */
  async openLink(bridge: DesktopBridge, url: string): Promise<void> {
    await this.attempt(async () => {
      if (await bridge.openLink(url)) return;
      this.notices.tell(this.#words().linkNotOpened, this.#words().linkHint);
    });
  }

  #goTo(command: ShellCommand): void {
    if (command.kind === 'stopping') void this.attempt(() => this.system.lookStopped());
    else if (command.kind === 'show') this.route.go(command.view);
    else if (command.kind === 'show-server') this.route.go('settings', 'mcp', command.query);
    else if (command.kind === 'show-session') this.route.go('chat', command.sessionId);
    else void this.attempt(() => this.#goToApproval(command.approvalId));
  }

  async #goToApproval(approvalId: string): Promise<void> {
    this.route.go('approvals', null, approvalId);
    // A newly opened window may not have loaded its list yet.
    await this.approvals.load();
    if (this.approvals.pending.some((approval) => approval.approvalId === approvalId)) return;
    this.route.replace('approvals');
    this.notices.tell(this.#words().questionGone, this.#words().questionHint);
  }

  /** Runs an action of the person; a failure becomes a notice, or goes to `tell`. Resolves to false if it failed. */
  async attempt(work: () => Promise<unknown>, tell = (cause: unknown): void => this.notices.fail(cause)): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (cause) {
      if (cause instanceof OpFailure && cause.code === 'unauthorized') this.#onUnauthorized();
      tell(cause);
      return false;
    }
  }

  /** For a part of a view that waits while it runs an action of the person. */
  doing(after?: () => Promise<unknown>): Doing {
    return new Doing((work) => this.attempt(work), after);
  }

  /** The conversation of a session, loaded on first use. The least recently used one is dropped first. */
  conversation(sessionId: string): OpenConversation {
    const known = this.#conversations.get(sessionId);
    const conversation = known ?? new OpenConversation(this.client, sessionId);
    this.#conversations.delete(sessionId);
    this.#conversations.set(sessionId, conversation);
    // Deferred: this may run while a view is being derived, when state must not change.
    if (known === undefined) queueMicrotask(() => void conversation.load());
    const oldest = this.#conversations.keys().next().value;
    if (this.#conversations.size > conversationsMax && oldest !== undefined) this.#conversations.delete(oldest);
    return conversation;
  }

  /** The session shown in the chat, if any. */
  get lookedAt(): string | null {
    const { view, sessionId } = this.route.place;
    return view === 'chat' ? sessionId : null;
  }

  /** Forks a session up to an event, or all of it, and opens the copy. */
  forkSession(sessionId: string, atSessionSeq?: number): Promise<boolean> {
    return this.attempt(async () => {
      const forked = await this.sessions.fork(sessionId, atSessionSeq);
      this.route.go('chat', forked.sessionId);
    });
  }

  /** Runs the message of the last turn again. */
  async retryTurn(turnId: string, changes: { readonly model?: string; readonly text?: string } = {}): Promise<boolean> {
    const taken = await this.attempt(() => this.client.op('turn.retry', { turnId, ...changes }));
    if (taken) this.sentCount += 1;
    return taken;
  }

  /** Creates a session with everything before a turn's message, sends this text there, and opens it. */
  branchTurn(turnId: string, text: string): Promise<boolean> {
    return this.attempt(async () => {
      const { sessionId } = await this.client.op('turn.branch', { turnId, text });
      this.route.go('chat', sessionId);
    });
  }

  /** Whether the turn is the ended last message of the conversation. A turn that a fork copied is retried in its original session. */
  canRetry(sessionId: string, turn: TurnView): boolean {
    if (isOpen(turn) || turn.kind !== 'chat' || turn.messages.length === 0) return false;
    const last = this.conversation(sessionId).view.turns.findLast((candidate) => candidate.kind === 'chat');
    return last?.turnId === turn.turnId && !this.isCopied(sessionId, turn);
  }

  /** True for a turn that was not run in this session but copied by a fork. */
  isCopied(sessionId: string, turn: { readonly startedAtMs: number }): boolean {
    return turn.startedAtMs < (this.sessions.find(sessionId)?.createdAtMs ?? 0);
  }

  /** Sets the model of the session, or of a new session if there is none. A null model is the default one. */
  chooseModel(sessionId: string | null, model: string | null): Promise<boolean> {
    return this.attempt(() => this.newSession.chooseModel(sessionId, model));
  }

  /** Runs a slash command and goes where it leads. Resolves to false if it was refused; its result then says so. */
  async runCommand(sessionId: string | null, line: string): Promise<boolean> {
    const ran = await this.commands.run(line, sessionId);
    if (ran === false) return false;
    if (ran.sessionId !== null && ran.sessionId !== sessionId) {
      if (sessionId === null) this.newSession.moveDraft('', ran.sessionId);
      this.route.go('chat', ran.sessionId);
    }
    this.sentCount += 1;
    return true;
  }

  /** Steers a running turn; otherwise, and always with files, sends a new message. Resolves to true if it was accepted. */
  async send(sessionId: string | null, text: string, runningTurnId: string | null, files: readonly DraftFile[] = []): Promise<boolean> {
    const taken = await this.attempt(async () => {
      const mentioned = text.includes('@') ? await mentionedFiles(this.client, sessionId, text) : [];
      const attachments = [
        ...files.map(({ name, mediaType, base64 }) => ({ name, base64, ...(mediaType === '' ? {} : { mediaType }) })),
        ...mentioned.map((path) => ({ path })),
      ];
      if (runningTurnId !== null && attachments.length === 0 && (await this.#steer(runningTurnId, text))) return;
      const along = attachments.length === 0 ? {} : { attachments };
      const sent = await this.client.op('message.send', { text, ...(sessionId === null ? {} : { sessionId }), ...along });
      if (sessionId !== null) return;
      this.newSession.moveDraft('', sent.sessionId);
      // A person who went to another view or session meanwhile stays there.
      const { view, sessionId: shown } = this.route.place;
      if (view === 'chat' && shown === null) {
        // The turn may have ended before the answer to the request arrived.
        this.#tellEnd(sent.sessionId);
        this.route.go('chat', sent.sessionId);
      } else if (view !== 'chat') this.route.lastSessionId = sent.sessionId;
    }, this.#tellUnsent);
    if (taken) this.sentCount += 1;
    // The result of an earlier command would cover the conversation.
    if (taken) this.commands.dismiss(sessionId);
    return taken;
  }

  /** While the banner says that the connection is lost, and the text is still in its field, a notice would repeat it. */
  readonly #tellUnsent = (cause: unknown): void => {
    const { code, message } = toOpFailure(cause);
    if (code === 'offline' && isLost(this.system.link)) this.notices.say(message);
    else this.notices.fail(cause);
  };

  /** Extends the budget that ended a turn, and continues the turn. */
  allowMore(turnId: string, sessionId: string, more: { scope: BudgetScope; unit: BudgetUnit; amount: number }): Promise<boolean> {
    const place = { turn: { turnId }, session: { sessionId }, day: {} }[more.scope];
    return this.attempt(async () => {
      await this.client.op('budget.allow', { scope: more.scope, ...place, [more.unit]: more.amount });
      await this.client.op('turn.continue', { turnId });
    });
  }

  /** Continues a turn that a limit ended. */
  continueTurn(turnId: string): Promise<boolean> {
    return this.attempt(() => this.client.op('turn.continue', { turnId }));
  }

  async #steer(turnId: string, text: string): Promise<boolean> {
    try {
      await this.client.op('turn.steer', { turnId, text });
      return true;
    } catch (cause) {
      // The turn ended in the meantime, so the typed text becomes the next message.
      if (cause instanceof OpFailure && cause.code === 'turn_not_running') return false;
      throw cause;
    }
  }

  #take(event: AnyEvent): void {
    if (event.type === 'session.deleted') {
      const left = this.newSession.leaveDeleted(event.body.sessionId);
      if (left !== null) this.notices.tell(this.#words().deletedElsewhere(left || this.#words().newSession));
    }
    this.sessions.apply(event);
    this.approvals.apply(event);
    this.system.apply(event);
    this.unfinished.apply(event);
    this.services.apply(event);
    this.schedules.apply(event);
    this.helpers.apply(event);
    this.questions.apply(event);
    this.rules.apply(event);
    this.identities.apply(event);
    if (event.type === 'turn.finished') {
      this.#ended = event;
      this.#tellEnd(this.lookedAt);
    }
    this.#conversations.get(event.sessionId)?.take(event);
    if (event.type === 'panic.released') {
      this.notices.isOver('panic_engaged');
      this.notices.say(this.#words().released);
    }
    if (event.type === 'approval.requested') this.notices.say(this.#words().approvalNeeded(event.body.approval.summary));
    if (event.type === 'mcp.asked') this.notices.say(this.#words().serverAsks(event.body.server));
  }

  /** Announces the end of the last turn if it is of the session that is shown now. */
  #tellEnd(shownId: string | null): void {
    if (this.#ended?.sessionId !== shownId || this.#ended === null) return;
    const { turnId, body } = this.#ended;
    this.#ended = null;
    this.endedId = turnId;
    this.notices.say(this.#words().turnEnded(body.status));
  }

  #takeDelta(delta: DeltaNotice): void {
    this.#conversations.get(delta.sessionId)?.takeDelta(delta);
  }

  #linkChanged(state: LinkState, gap: boolean): void {
    // The banner about the lost connection disappears silently, so announce it.
    if (state === 'online' && isLost(this.system.link)) this.notices.say(this.#words().backOnline);
    if (state === 'online') this.notices.isOver('offline');
    // Live text between the first load and now was not received.
    if (state === 'online' && this.system.link === 'connecting')
      for (const conversation of this.#conversations.values()) conversation.linkOpened();
    this.system.link = state;
    if (state === 'reconnecting') for (const conversation of this.#conversations.values()) conversation.linkLost();
    if (state === 'unauthorized') this.#onUnauthorized();
    else if (gap || (state === 'online' && this.#isIncomplete)) void this.#loadAll();
    else if (state === 'online') for (const conversation of this.#conversations.values()) conversation.linkBack();
  }

  async #loadAll(): Promise<void> {
    const parts = [
      this.sessions.load(),
      this.approvals.load(),
      this.system.load(),
      this.unfinished.load(),
      this.helpers.load(),
      this.tools.load(),
    ];
    for (const conversation of this.#conversations.values()) parts.push(conversation.load());
    this.#isIncomplete = false;
    for (const part of await Promise.allSettled(parts)) {
      if (part.status === 'fulfilled') continue;
      // The link shows that the host is away; the request is repeated when it is back.
      if (this.system.link !== 'online') this.#isIncomplete = true;
      else this.notices.fail(part.reason);
    }
  }
}

function isLost(state: LinkState): boolean {
  return state === 'reconnecting' || state === 'unproven';
}
