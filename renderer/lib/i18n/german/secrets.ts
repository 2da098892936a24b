import type { Words } from '../words.ts';

export const secrets: Words['secrets'] = {
  list: 'Geheimnisse',
  absent:
    'Dieser Rechner hat keinen Schlüsselbund, den TrayClaw nutzen kann. Eine Passphrase legt stattdessen einen verschlüsselten Tresor an; Geheimnisse können auch aus der Umgebung oder einer Datei kommen:',
  inKeychain: 'Liegen im Schlüsselbund.',
  inVault: 'Liegen in einem verschlüsselten Tresor.',
  lookAgain: 'Noch einmal nachsehen',
  newPassphrase: 'Neue Passphrase des Tresors',
  passphrase: 'Passphrase des Tresors',
  repeat: 'Noch einmal dieselbe',
  makeVault: 'Tresor anlegen',
  unlockVault: 'Tresor öffnen',
  name: 'Name des Geheimnisses',
  value: 'Wert des Geheimnisses',
  store: 'Geheimnis ablegen',
  delete: 'Löschen',
  deleteOf: (name) => `Geheimnis ${name} löschen`,
  willGo: (name) => `${name} wird endgültig gelöscht.`,
  keepOf: (name) => `Rückgängig: ${name} behalten`,
  deleteNow: 'Endgültig löschen',
  deleteNowOf: (name) => `${name} endgültig löschen`,
};
