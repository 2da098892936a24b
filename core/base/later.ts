// One delayed action as a port, so that a test controls the time.

/**
 * Calls `action` once after at least `delayMs`, or soon if `delayMs` is negative because the time has passed. Returns a function that
 * cancels the action. A pending action never keeps the process alive.
 */
export type Later = (delayMs: number, action: () => void) => () => void;

export const systemLater: Later = (delayMs, action) => {
  const timer = setTimeout(action, Math.max(0, delayMs));
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
};
