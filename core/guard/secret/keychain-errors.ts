// Interprets keytar's error messages on each system. The only module that reads them.

export type KeychainState = 'absent' | 'locked' | 'failed';

/**
 * The driver itself calls a missing library "native addon". The other texts are from libsecret 0.20 with gnome-keyring 42, from systems
 * without a bus, from the Security framework and from the Credential Manager.
 */
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
