// Words of secrets and the place they are kept in.

export const secrets = {
  list: 'Secrets',
  absent:
    'This machine has no keychain that TrayClaw can use. A passphrase makes an encrypted vault in its place; secrets can also come from the environment or a file:',
  inKeychain: 'Kept in the keychain.',
  inVault: 'Kept in an encrypted vault.',
  lookAgain: 'Look again',
  newPassphrase: 'New vault passphrase',
  passphrase: 'Vault passphrase',
  repeat: 'The same once more',
  makeVault: 'Make vault',
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
