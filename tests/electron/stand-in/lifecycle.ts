// What all parts of the stand-in must know of where the app is in its life.

export const lifecycle = {
  isReady: false,
  isQuitting: false,
};

/** "… can only be used after the ready event": the same words for all parts. */
export function needsReady(what: string): void {
  if (!lifecycle.isReady) throw new Error(`${what} cannot be used before app is ready`);
}
