import type { Words } from '../words.ts';

const ends: Readonly<Record<string, string>> = {
  done: 'erledigt',
  failed: 'gescheitert',
  cancelled: 'abgebrochen',
  stopped: 'angehalten',
  over_budget: 'am Budget beendet',
};

export const frame: Words['frame'] = {
  main: 'Hauptnavigation',
  views: {
    chat: 'Chat',
    activity: 'Aktivität',
    approvals: 'Freigaben',
    memory: 'Gedächtnis',
    schedules: 'Zeitpläne',
    agents: 'Agenten',
    skills: 'Fähigkeiten',
    artifacts: 'Artefakte',
    settings: 'Einstellungen',
    health: 'Zustand',
  },
  waiting: (count) => `${count} ${count === 1 ? 'wartet' : 'warten'} auf dich`,
  newSession: 'Neue Sitzung',
  sessionList: 'Sitzungsliste',
  rename: 'Umbenennen',
  renameSession: 'Sitzung umbenennen',
  stoppedTitle: 'Angehalten',
  skipToConversation: 'Zum Gespräch springen',
  skipToContent: 'Zum Inhalt springen',

  connection: 'Verbindung',
  connecting: 'Verbindung zu TrayClaw wird aufgebaut…',
  reconnecting: 'TrayClaw antwortet nicht. Neuer Versuch läuft…',
  outOfDate: 'Was hier steht, kann veraltet sein.',
  backOnline: 'Wieder verbunden.',

  notices: 'Mitteilungen',
  dismiss: 'Ausblenden',
  undo: 'Rückgängig',

  panicStop: 'Not-Halt',
  panicShort: 'Halt',
  releaseStop: 'Not-Halt aufheben',
  releaseShort: 'Aufheben',
  panicTitle: (keys) => `Beendet jeden Prozess und hält alles an (${keys})`,
  panicKeys: (here, anywhere) => (anywhere === null ? here : `${here}, in jedem Programm ${anywhere}`),
  stopped: 'Angehalten',
  everythingStopped: 'Alles ist angehalten.',
  beingEnded: 'Was läuft, wird gerade beendet.',
  nothingRan: 'Es lief kein Prozess.',
  ended: (count, ms) => `${count} ${count === 1 ? 'Prozess' : 'Prozesse'} in ${ms} ms beendet.`,
  untilReleased: 'Nichts läuft, bis der Halt aufgehoben wird.',
  since: (moment) => `Seit ${moment}`,

  linkNotOpened: 'Dieser Link wurde nicht geöffnet.',
  linkHint: 'Geöffnet werden nur Webseiten und Mailadressen. Kopiert lässt er sich anderswo ansehen.',
  questionGone: 'Diese Frage wartet nicht mehr.',
  questionHint: 'Was entschieden wurde, steht in der Liste unter den offenen Fragen.',
  approvalNeeded: (summary) => `Freigabe nötig: ${summary}`,
  turnEnded: (status) => `Runde ${ends[status] ?? status}.`,
};
