// Waits for a condition, checked every ten milliseconds.

const WAIT_MAX_MS = 60_000;

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + WAIT_MAX_MS;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`it took too long until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
