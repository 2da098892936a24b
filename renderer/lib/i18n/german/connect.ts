import type { Words } from '../words.ts';

export const connect: Words['connect'] = {
  needsToken: 'Dieses Fenster braucht das Zugangswort des laufenden Programms. Neben der Adresse gibt es aus:',
  refused: 'Dieses Zugangswort wurde nicht angenommen. Bitte das nehmen, das das laufende Programm ausgegeben hat.',
  token: 'Zugangswort',
  connect: 'Verbinden',
};
