// One delayed action as a port, so that a test controls the time.

/**
 * Calls `action` once after at least `delayMs`; soon, if that is negative: the time has passed. Returns how to call it off. A pending one never
 * keeps the process alive.
 */
export type Later = (delayMs: number, action: () => void) => () => void;

export const systemLater: Later = (delayMs, action) => {
  const timer = setTimeout(action, Math.max(0, delayMs));
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
};
