// Interprets the messages of keytar on each system. The only place that reads them.

export type KeychainState = 'absent' | 'locked' | 'failed';

/** The driver's own word for a missing library is "native addon"; the rest is from libsecret 0.20 with gnome-keyring 42 and without any bus, and the Security framework's and the Credential Manager's texts. */
const meanings: readonly (readonly [KeychainState, RegExp])[] = [
  [
    'absent',
    /native addon|D-Bus|dbus|ServiceUnknown|was not provided by any|libsecret|shared object|Cannot find module|Could not connect|No such interface|unsupported transport|address is empty/i,
  ],
  ['locked', /locked|Object does not exist at path|dismissed|cancel+ed|interaction is not allowed|user name or passphrase/i],
];

export function stateOfKeychain(cause: unknown): KeychainState {
  const text = cause instanceof Error ? cause.message : String(cause);
  return meanings.find(([, pattern]) => pattern.test(text))?.[0] ?? 'failed';
}
