import type { Words } from '../words.ts';

export const folders: Words['folders'] = {
  workIn: 'In einem Ordner arbeiten …',
  title: 'In einem Ordner arbeiten',
  trusted: 'Vertraute Ordner',
  path: 'Pfad des Ordners',
  example: '/home/ich/projekt',
  states: {
    configured: 'Der eingestellte Arbeitsordner:',
    data: 'Eigene Daten von TrayClaw, kein Arbeitsordner:',
    trusted: 'Vertraut:',
    new: 'Noch nicht vertraut:',
    replaced: 'Ersetzt, seit ihm vertraut wurde:',
    refused: 'Kann kein Arbeitsordner sein:',
    missing: 'Diesen Ordner gibt es nicht:',
  },
  meaning:
    'TrayClaw liest dann alles in diesem Ordner und darunter, ohne zu fragen, und das Gelesene geht an das gewählte Modell. ' +
    'Änderungen und Befehle folgen weiter den Regeln. Das gilt, bis es zurückgenommen oder der Ordner ersetzt wird.',
  others: 'Andere Benutzer dieses Computers können in diesen Ordner schreiben.',
  trust: 'Vertrauen und hier arbeiten',
  open: 'Hier arbeiten',
  cancel: 'Abbrechen',
  worksIn: (path) => `Arbeitet in ${path}`,
};
