// Detects whether a service manager stores this process's output. The variables alone do not prove it: a terminal or a build server that is
// itself a service passes them to everything it starts.

export interface OwnOutput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly isTty: boolean;
  /** The file behind standard output, as `fstat` reports it. */
  readonly stat: () => { readonly dev: number; readonly ino: number };
}

export function isServiceLog({ env, pid, isTty, stat }: OwnOutput): boolean {
  if (isTty) return false;
  // systemd.exec(5): set to the pid of the process that systemd started, regardless of its output (systemd 248 and later).
  if (env['SYSTEMD_EXEC_PID'] === String(pid)) return true;
  const journal = env['JOURNAL_STREAM'] ?? '';
  if (journal === '') return false;
  try {
    const { dev, ino } = stat();
    return journal === `${dev}:${ino}`;
  } catch {
    // Standard output is closed, so nothing is stored.
    return false;
  }
}
