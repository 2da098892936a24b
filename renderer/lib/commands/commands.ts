// Every command of the window in one table: the palette lists it, the keyboard runs it, the key sheet and docs/reference show it.

import { isCommandLine } from '../../../core/contracts/command-line.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import { viewNames } from '../../../core/contracts/views.ts';
import { commandsOf, everywhere, instead, panicChord, type Command, type CommandContext, type CommandGroup } from './command.ts';
import { goToWaiting, sessionCommands, sessionInView, turnCommands, writeMessage } from './session-commands.ts';

const goCommands: readonly Command[] = [
  ...viewNames.map((view, index): Command => ({
    id: `go-${view}`,
    group: 'go',
    name: (words) => words.goTo[view],
    // There are ten digits, and Mod+0 resets the text size.
    ...(index < 9 ? { keys: instead(`Mod+${index + 1}`, `Alt+Shift+${index + 1}`) } : {}),
    ...(index === 9 ? { keys: everywhere('Alt+Shift+0') } : {}),
    run: ({ app }) => app.route.go(view, view === 'chat' || view === 'activity' ? app.route.lastSessionId : null),
  })),
  ...commandsOf('go', {
    goPolicy: { run: ({ app }) => app.route.go('approvals', 'policy') },
    goUsage: { run: ({ app }) => app.route.go('health', 'usage') },
    newSchedule: { run: ({ app }) => app.route.go('schedules', 'new') },
    goTelegram: { run: ({ app }) => app.route.go('settings', 'channels') },
    goUnfinished: { run: ({ app }) => app.route.go('health', 'unfinished') },
    goWaiting: {
      keys: instead('Mod+J', 'Alt+Shift+J'),
      isPossible: ({ app }) => app.approvals.waitingCount > 0,
      run: goToWaiting,
    },
  }),
];

const lookCommands: readonly Command[] = [
  ...(['system', 'light', 'dark'] as const).map((theme): Command => ({
    id: `theme-${theme}`,
    group: 'look',
    name: (words) => ({ system: words.themeSystem, light: words.themeLight, dark: words.themeDark })[theme],
    isPossible: ({ appearance }) => appearance.theme !== theme,
    run: ({ appearance }) => appearance.chooseTheme(theme),
  })),
  ...commandsOf('look', {
    moreContrast: {
      isPossible: ({ appearance }) => !appearance.hasMoreContrast,
      run: ({ appearance }) => appearance.chooseContrast(true),
    },
    usualContrast: {
      isPossible: ({ appearance }) => appearance.hasMoreContrast,
      run: ({ appearance }) => appearance.chooseContrast(false),
    },
    compact: {
      isPossible: ({ appearance }) => !appearance.isCompact,
      run: ({ appearance }) => appearance.chooseDensity(true),
    },
    comfortable: {
      isPossible: ({ appearance }) => appearance.isCompact,
      run: ({ appearance }) => appearance.chooseDensity(false),
    },
  }),
];

const hostCommands = commandsOf('host', {
  panicStop: {
    keys: everywhere(panicChord),
    isPossible: ({ app }) => !app.system.panic.engaged,
    run: ({ app }) => app.attempt(() => app.system.engagePanic()),
    asksAgain: true,
    isAlways: true,
  },
  releaseStop: {
    isPossible: ({ app }) => app.system.panic.engaged,
    // Leads to the confirmation; releases nothing.
    run: ({ app }) => void (app.system.asksRelease = true),
  },
  lookNow: { run: ({ app }) => app.attempt(() => app.schedules.beat()) },
  makeBackup: {
    run: ({ app, language }) =>
      app.attempt(async () => {
        const { file, sizeBytes } = await app.client.op('backup.create', {});
        app.notices.inform(language.words.commands.backupMade(file, language.format.size(sizeBytes)));
      }),
  },
  verifyLog: {
    run: ({ app, language }) =>
      app.attempt(async () => {
        const { words, format } = language;
        const { ok, events, firstBad } = await app.client.op('audit.verify', {});
        if (ok) app.notices.inform(words.commands.logSound(format.number(events)));
        else app.notices.tell(words.commands.logBroken(firstBad?.seq ?? 0), words.commands.logBrokenHint);
      }),
  },
});

const frameCommands: readonly Command[] = [
  ...commandsOf('host', {
    showPalette: {
      keys: everywhere('Mod+K'),
      run: ({ frame }) => frame.toggle('palette'),
      isAlways: true,
    },
    showKeys: {
      keys: everywhere('?', 'Mod+/'),
      run: ({ frame }) => frame.toggle('keys'),
    },
  }),
  ...commandsOf('session', {
    toggleList: {
      keys: instead('Mod+B', 'Alt+Shift+B'),
      isPossible: ({ app }) => app.route.place.view === 'chat',
      run: ({ frame }) => (frame.listShown = !frame.listShown),
    },
  }),
];

export const commandTable: readonly Command[] = [
  ...goCommands,
  ...sessionCommands,
  ...turnCommands,
  ...frameCommands,
  ...lookCommands,
  ...hostCommands,
];

/** A line of the palette. */
export interface Offer {
  readonly id: string;
  readonly group: CommandGroup;
  readonly name: string;
  readonly about: string;
  /** The first of the command's keys. */
  readonly keys: string | null;
  readonly asksAgain: boolean;
  readonly run: () => unknown;
}

export type SlashCommand = OpResult<'command.list'>['commands'][number];
export type FoundSession = OpResult<'session.search'>['hits'][number];

export interface OfferSources {
  /** The typed text. */
  readonly query: string;
  readonly slash: readonly SlashCommand[];
  readonly found: readonly FoundSession[];
}

/** The commands that are currently available. The palette itself is left out, because it is open. */
export function offersNow(context: CommandContext, { query, slash, found }: OfferSources): Offer[] {
  const { app, frame, language } = context;
  const fixed = commandTable
    .filter((command) => command.id !== 'show-palette' && (command.isPossible?.(context) ?? true))
    .map((command): Offer => ({
      id: command.id,
      group: command.group,
      name: command.name(language.words.commands),
      about: '',
      keys: command.keys?.[frame.place][0] ?? null,
      asksAgain: command.asksAgain ?? false,
      run: () => command.run(context),
    }));
  const offer = (part: Pick<Offer, 'id' | 'group' | 'name' | 'about' | 'run'>): Offer => ({ keys: null, asksAgain: false, ...part });
  const known = app.sessions.visible.slice(0, 200).map(({ sessionId, title, lastText }) =>
    offer({
      id: `session-${sessionId}`,
      group: 'open',
      name: title || language.words.frame.newSession,
      about: lastText,
      run: () => app.route.go('chat', sessionId),
    }),
  );
  const hits = found.map(({ sessionId, title, seq, excerpt }) =>
    offer({
      id: `hit-${sessionId}`,
      group: 'open',
      name: title || language.words.frame.newSession,
      about: excerpt,
      run: () => app.route.go('chat', sessionId, String(seq)),
    }),
  );
  const lines = slash.map(({ name, about, parameters }) =>
    offer({
      id: `slash-${name}`,
      group: 'slash',
      name: `/${name}`,
      about,
      // The person types its parameters in the message field, with completion.
      run: () => (parameters.length === 0 ? runLine(context, `/${name}`) : writeLine(context, `/${name} `)),
    }),
  );
  // A complete line typed here works like one in the message field.
  const isLine = isCommandLine(query) && /\s\S/.test(query.trim());
  const written = isLine
    ? [
        offer({
          id: 'line',
          group: 'slash',
          name: query.trim(),
          about: language.words.commands.runLine,
          run: () => runLine(context, query.trim()),
        }),
      ]
    : [];
  return [...written, ...fixed, ...modelOffers(context, offer), ...lines, ...known, ...hits];
}

function modelOffers(context: CommandContext, offer: (part: Pick<Offer, 'id' | 'group' | 'name' | 'about' | 'run'>) => Offer): Offer[] {
  const { app, language } = context;
  const session = sessionInView(context);
  if (session === undefined) return [];
  const choose = (model: string | null) =>
    app.attempt(async () => {
      await app.sessions.chooseModel(session.sessionId, model);
      app.notices.inform(language.words.commands.modelChosen(model ?? app.system.defaultModel ?? ''));
    });
  const words = language.words.commands;
  const models = app.system.models
    .filter(({ ref }) => ref !== session.model)
    .map(({ ref }) => offer({ id: `model-${ref}`, group: 'session', name: words.useModel(ref), about: '', run: () => choose(ref) }));
  if (session.model === null) return models;
  return [
    offer({
      id: 'model-default',
      group: 'session',
      name: words.useDefaultModel,
      about: app.system.defaultModel ?? '',
      run: () => choose(null),
    }),
    ...models,
  ];
}

/** Starts a line in the message field, where the person types the parameters. */
async function writeLine(context: CommandContext, line: string): Promise<void> {
  await writeMessage(context);
  const { app } = context;
  app.drafts[app.newSession.draftKey(app.route.place.sessionId)] = line;
}

/** Its result is shown in the conversation. */
async function runLine(context: CommandContext, line: string): Promise<void> {
  await writeMessage(context);
  await context.app.attempt(() => context.app.runCommand(context.app.lookedAt, line));
}
