// Texts about secrets and where they are stored.

export const secrets = {
  list: 'Secrets',
  absent:
    'This computer has no keychain that TrayClaw can use. Set a passphrase to create an encrypted vault instead. Secrets can also come from the environment or a file:',
  inKeychain: 'Kept in the keychain.',
  inVault: 'Kept in an encrypted vault.',
  lookAgain: 'Look again',
  vaultWhy: 'This computer has no unlocked keychain, so secrets go into an encrypted vault with a passphrase.',
  newPassphrase: 'New vault passphrase',
  passphrase: 'Vault passphrase',
  repeat: 'Repeat passphrase',
  makeVault: 'Create vault',
  unlockVault: 'Unlock vault',
  name: 'Secret name',
  value: 'Secret value',
  store: 'Store secret',
  delete: 'Delete',
  deleteOf: (name: string) => `Delete secret ${name}`,
  willGo: (name: string) => `${name} will be deleted for good.`,
  keepOf: (name: string) => `Undo: keep ${name}`,
  deleteNow: 'Delete',
  deleteNowOf: (name: string) => `Delete ${name} for good`,
} as const;
