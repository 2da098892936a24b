// The people who may talk to the agent over a chat service, and the codes by which others may. Each service has its own source of them.

export interface PairedPeople {
  /** The code that was shown last and has not been sent yet. */
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
