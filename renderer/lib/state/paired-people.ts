// The people who may talk to the agent over a chat service, and the codes by which others can pair. Each service has its own source.

export interface PairedPeople {
  /** The most recently shown code, not sent yet. */
  readonly code: { readonly code: string; readonly pairingId: string; readonly expiresAtMs: number } | null;
  readonly pairings: readonly {
    readonly pairingId: string;
    readonly expiresAtMs: number;
    readonly claimedBy: { readonly userId: string; readonly name: string } | null;
  }[];
  readonly people: readonly { readonly userId: string; readonly name: string; readonly pairedAtMs: number }[];
  pair(): Promise<void>;
  answer(pairingId: string, isConfirmed: boolean): Promise<void>;
  revoke(userId: string): Promise<void>;
}
