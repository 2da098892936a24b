// Commands about the current session and its last turn.

import { tick } from 'svelte';
import type { SessionInfo } from '../../../core/contracts/op-results.ts';
import type { TurnView } from '../../../core/contracts/turn-view.ts';
import type { InspectorPart, SideTab } from '../state/inspector.svelte.ts';
import { fileNameOf, saveFile } from '../save-file.ts';
import { commandsOf, everywhere, focusOn, press, instead, type CommandContext } from './command.ts';

/** The current session; in the activity view, its session. */
export function sessionInView({ app }: CommandContext): SessionInfo | undefined {
  const { view, sessionId } = app.route.place;
  return view === 'chat' || view === 'activity' ? app.sessions.find(sessionId) : undefined;
}

function lastTurn(context: CommandContext): TurnView | undefined {
  const session = sessionInView(context);
  return session && context.app.conversation(session.sessionId).view.turns.at(-1);
}

const hasSession = (context: CommandContext): boolean => sessionInView(context) !== undefined;
const hasTurn = (context: CommandContext): boolean => lastTurn(context) !== undefined;
const isEnded = (turn: TurnView | undefined): turn is TurnView => turn !== undefined && turn.finishedAtMs !== null;

function onSession(context: CommandContext, work: (session: SessionInfo) => Promise<unknown>): Promise<boolean> | undefined {
  const session = sessionInView(context);
  return session && context.app.attempt(() => work(session));
}

async function go(context: CommandContext, sessionId: string): Promise<void> {
  context.app.route.go('chat', sessionId);
  await shown(context);
}

async function shown({ frame }: CommandContext): Promise<void> {
  await tick();
  if (frame.isNarrow) frame.listShown = false;
}

export async function writeMessage({ app, frame, page }: CommandContext): Promise<void> {
  if (app.route.place.view !== 'chat') app.route.go('chat', app.route.lastSessionId);
  await tick();
  if (frame.isNarrow) frame.listShown = false;
  await tick();
  focusOn(page, 'message');
}

async function searchSessions({ app, frame, page }: CommandContext): Promise<void> {
  if (app.route.place.view !== 'chat') app.route.go('chat', app.route.lastSessionId);
  await tick();
  frame.listShown = true;
  await tick();
  focusOn(page, 'session-search');
}

const isReading = ({ app }: CommandContext): boolean => app.route.place.view === 'chat' && app.route.place.sessionId !== null;

/** Opens the find bar, or focuses it if it is open; loads it first. */
async function find({ frame, page }: CommandContext, field: 'find' | 'find-date'): Promise<void> {
  if (frame.isFinding) focusOn(page, field);
  else frame.findField = field;
  frame.isFinding = true;
  if (frame.isNarrow) frame.listShown = false;
  await tick();
}

/** An approval of the conversation that is shown is answered there, the others in their view. */
export async function goToWaiting(context: CommandContext): Promise<void> {
  const { app } = context;
  const { pending } = app.approvals;
  const here = pending.find(({ sessionId }) => sessionId === app.lookedAt);
  if (here === undefined) return app.route.go('approvals', null, pending[0]?.approvalId);
  if (app.review.shown !== null) app.review.close();
  await shown(context);
  app.reading.goal = { sessionId: here.sessionId, to: 'approval', approvalId: here.approvalId };
}

/** Goes to the session above or below in the list, wrapping around. */
function step({ app }: CommandContext, by: 1 | -1): void {
  const sessions = app.sessions.visible.filter((session) => !session.archived);
  const at = sessions.findIndex((session) => session.sessionId === app.route.lastSessionId);
  const next = sessions[(at + by + sessions.length) % sessions.length] ?? sessions[0];
  if (next !== undefined) app.route.go(app.route.place.view === 'activity' ? 'activity' : 'chat', next.sessionId);
}

async function rename(context: CommandContext): Promise<void> {
  const session = sessionInView(context);
  if (session === undefined) return;
  if (context.app.route.place.view !== 'chat') context.app.route.go('chat', session.sessionId);
  await tick();
  context.frame.isRenaming = true;
}

function exportAs(context: CommandContext, format: 'markdown' | 'jsonl'): unknown {
  return onSession(context, async ({ sessionId, title }) => {
    const { text } = await context.app.client.op('session.export', { sessionId, format });
    const name = fileNameOf(title, format === 'markdown' ? 'md' : 'jsonl');
    saveFile(name, text);
    context.app.notices.inform(context.language.words.commands.exported(name));
  });
}

async function inspect(context: CommandContext, part: InspectorPart): Promise<void> {
  const [session, turn] = [sessionInView(context), lastTurn(context)];
  if (session === undefined || (turn === undefined && part !== 'rules' && part !== 'new-rule')) return;
  if (context.app.route.place.view !== 'chat') context.app.route.go('chat', session.sessionId);
  await tick();
  const { activeElement } = context.page;
  context.app.inspector.open(
    { sessionId: session.sessionId, turnId: turn?.turnId ?? null, part },
    activeElement instanceof HTMLElement ? activeElement : null,
  );
}

async function showSide({ app, page, ...context }: CommandContext, tab: SideTab): Promise<void> {
  const session = sessionInView({ app, page, ...context });
  if (session === undefined) return;
  if (app.side.shown?.sessionId === session.sessionId && app.route.place.view === 'chat') return app.side.close();
  if (app.route.place.view !== 'chat') app.route.go('chat', session.sessionId);
  await tick();
  const { activeElement } = page;
  app.inspector.shown = null;
  app.side.open({ sessionId: session.sessionId, tab }, activeElement instanceof HTMLElement ? activeElement : null);
}

async function reviewSession({ app, page, ...context }: CommandContext): Promise<void> {
  const session = sessionInView({ app, page, ...context });
  if (session === undefined) return;
  if (app.route.place.view !== 'chat') app.route.go('chat', session.sessionId);
  await tick();
  const { activeElement } = page;
  app.review.open({ sessionId: session.sessionId, turnId: null }, activeElement instanceof HTMLElement ? activeElement : null);
}

const pin = (context: CommandContext, pinned: boolean): unknown =>
  onSession(context, ({ sessionId }) => context.app.sessions.pin(sessionId, pinned));

export const sessionCommands = commandsOf('session', {
  newSession: {
    keys: instead('Mod+N', 'Alt+Shift+N'),
    run: (context) =>
      context.app.attempt(async () => {
        await context.app.newSession.begin();
        await shown(context);
        await writeMessage(context);
      }),
  },
  searchSessions: {
    keys: instead('Mod+Shift+F', 'Alt+Shift+F'),
    run: searchSessions,
  },
  findInSession: {
    // The page contains only a few turns of the session, so the browser's own find would miss the others.
    keys: everywhere('Mod+F'),
    isPossible: isReading,
    yields: true,
    run: (context) => find(context, 'find'),
  },
  goToDate: {
    keys: everywhere('Alt+Shift+G'),
    isPossible: isReading,
    run: (context) => find(context, 'find-date'),
  },
  goToBeginning: {
    keys: everywhere('Mod+Home'),
    isPossible: isReading,
    yields: true,
    run: ({ app }) => void (app.reading.goal = { sessionId: app.route.place.sessionId ?? '', to: 'time', atMs: 0 }),
  },
  goToEnd: {
    keys: everywhere('Mod+End'),
    isPossible: isReading,
    yields: true,
    run: ({ app }) => void (app.reading.goal = { sessionId: app.route.place.sessionId ?? '', to: 'end' }),
  },
  printSession: {
    // The page contains only a few turns of the session, so the browser's own print would leave the others out.
    keys: everywhere('Mod+P'),
    isPossible: isReading,
    yields: true,
    run: ({ app }) => void (app.reading.goal = { sessionId: app.route.place.sessionId ?? '', to: 'paper' }),
  },
  writeMessage: {
    keys: everywhere('M'),
    run: writeMessage,
  },
  nextSession: {
    keys: everywhere('Alt+Down', 'J'),
    isPossible: ({ app }) => app.sessions.visible.length > 1,
    run: (context) => step(context, 1),
    repeats: true,
  },
  previousSession: {
    keys: everywhere('Alt+Up', 'K'),
    isPossible: ({ app }) => app.sessions.visible.length > 1,
    run: (context) => step(context, -1),
    repeats: true,
  },
  renameSession: {
    keys: everywhere('F2'),
    isPossible: hasSession,
    run: rename,
  },
  pinSession: {
    isPossible: (context) => sessionInView(context)?.pinned === false,
    run: (context) => pin(context, true),
  },
  unpinSession: {
    isPossible: (context) => sessionInView(context)?.pinned === true,
    run: (context) => pin(context, false),
  },
  archiveSession: {
    isPossible: (context) => sessionInView(context)?.archived === false,
    run: (context) => onSession(context, ({ sessionId }) => context.app.sessions.archive(sessionId, true)),
  },
  unarchiveSession: {
    isPossible: (context) => sessionInView(context)?.archived === true,
    run: (context) => onSession(context, ({ sessionId }) => context.app.sessions.archive(sessionId, false)),
  },
  forkSession: {
    isPossible: hasSession,
    run: (context) =>
      onSession(context, async ({ sessionId }) => {
        await go(context, (await context.app.sessions.fork(sessionId)).sessionId);
      }),
  },
  compactSession: {
    isPossible: hasTurn,
    run: (context) =>
      onSession(context, async ({ sessionId }) => {
        const { app, language } = context;
        const words = language.words.commands;
        app.notices.say(words.summingUp);
        const { summaryId, messages } = await app.client.op('session.compact', { sessionId });
        app.notices.inform(summaryId === null ? words.nothingToSumUp : words.summedUp(messages));
      }),
  },
  reviewSession: {
    keys: everywhere('Alt+Shift+R'),
    isPossible: hasSession,
    run: reviewSession,
  },
  showSide: {
    keys: everywhere('Alt+Shift+A'),
    isPossible: hasSession,
    run: (context) => showSide(context, 'artifacts'),
  },
  savedPrompts: {
    run: async (context) => {
      await writeMessage(context);
      context.frame.overlay = 'prompts';
    },
  },
  attachFiles: {
    run: async (context) => {
      await writeMessage(context);
      press(context.page, 'attach');
    },
  },
  workInFolder: {
    run: (context) =>
      context.app.attempt(async () => {
        // A session keeps its folder, so one that has messages is left.
        if (context.app.lookedAt !== null) await context.app.newSession.begin();
        await writeMessage(context);
        press(context.page, 'folder');
      }),
  },
  showRules: {
    isPossible: hasSession,
    run: (context) => inspect(context, 'rules'),
  },
  pinRule: {
    isPossible: hasSession,
    run: (context) => inspect(context, 'new-rule'),
  },
  exportMarkdown: {
    isPossible: hasSession,
    run: (context) => exportAs(context, 'markdown'),
  },
  exportLines: {
    isPossible: hasSession,
    run: (context) => exportAs(context, 'jsonl'),
  },
  deleteSession: {
    isPossible: hasSession,
    run: (context) =>
      onSession(context, async ({ sessionId }) => {
        const { sessions, route } = context.app;
        sessions.deleteSoon(sessionId);
        route.go('chat', sessions.visible[0]?.sessionId ?? null);
      }),
  },
});

export const turnCommands = commandsOf('turn', {
  stopTurn: {
    keys: everywhere('Alt+Shift+S'),
    isPossible: (context) => lastTurn(context)?.finishedAtMs === null,
    run: (context) =>
      onSession(context, async ({ sessionId }) => {
        const turn = context.app.conversation(sessionId).view.turns.findLast(({ finishedAtMs }) => finishedAtMs === null);
        if (turn !== undefined) await context.app.client.op('turn.cancel', { turnId: turn.turnId });
      }),
  },
  retryTurn: {
    isPossible: (context) => {
      const turn = lastTurn(context);
      return isEnded(turn) && turn.kind === 'chat' && !context.app.isCopied(context.app.route.place.sessionId ?? '', turn);
    },
    run: (context) => {
      const turn = lastTurn(context);
      return isEnded(turn) && context.app.attempt(() => context.app.client.op('turn.retry', { turnId: turn.turnId }));
    },
  },
  inspectTurn: {
    keys: instead('Mod+I', 'Alt+Shift+I'),
    isPossible: hasTurn,
    run: (context) => inspect(context, 'turn'),
  },
  showPack: {
    isPossible: (context) => (lastTurn(context)?.packs.length ?? 0) > 0,
    run: (context) => inspect(context, 'pack'),
  },
  previewRequest: {
    isPossible: ({ app }) => app.route.place.view === 'chat',
    run: ({ frame }) => void (frame.overlay = 'next'),
  },
  showTurn: {
    isPossible: hasTurn,
    run: (context) => context.app.route.go('activity', sessionInView(context)?.sessionId, lastTurn(context)?.turnId),
  },
});
