// Follows the time zone of the computer. Node reads it once, but the app runs for weeks, and a laptop travels: schedules, the budget of a
// day and the time in prompts would stay in the zone of the start.

const LOOK_EVERY_MS = 900_000;

/** Looks again from time to time, until the returned function is called. A zone that the environment names stays. */
export function followTimeZone(env: NodeJS.ProcessEnv, everyMs = LOOK_EVERY_MS): () => void {
  if (env['TZ'] !== undefined) return () => undefined;
  const timer = setInterval(() => {
    // Any change of the variable makes Node read the zone again, even this one.
    delete env['TZ'];
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
