// The place in the open session to which a person wants to go: set by a command or the find bar, followed and cleared by the conversation.

export type Goal = { readonly sessionId: string } &
  /** Draws every turn and prints them. */
  (
    | { readonly to: 'paper' }
    | { readonly to: 'end' }
    | { readonly to: 'approval'; readonly approvalId: string }
    /** Goes to the first turn since then. */
    | { readonly to: 'time'; readonly atMs: number }
    | { readonly to: 'place'; readonly seq: number; readonly keepsFocus: boolean }
  );

export class Reading {
  goal = $state.raw<Goal | null>(null);
}
