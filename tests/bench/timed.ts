// Measures how long a piece of work takes and how much processor time this process used meanwhile.

export async function timed(work: () => Promise<void>): Promise<{ readonly wallMs: number; readonly cpuMs: number }> {
  const startMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}
