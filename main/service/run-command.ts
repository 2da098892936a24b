// Runs a system program with exact arguments and a timeout. Never uses a shell.

import { execFile } from 'node:child_process';

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves to null if the program does not exist. */
export type RunCommand = (program: string, args: readonly string[]) => Promise<Answer | null>;

const TIMEOUT_MS = 60_000;

export function runWith(env: Readonly<Record<string, string | undefined>>): RunCommand {
  return (program, args) =>
    new Promise((resolve) => {
      execFile(program, [...args], { timeout: TIMEOUT_MS, env: { ...env, LC_ALL: 'C' } }, (cause, stdout, stderr) => {
        if (cause === null) resolve({ code: 0, stdout, stderr });
        else if (cause.code === 'ENOENT') resolve(null);
        else if (cause.killed === true) resolve({ code: 1, stdout, stderr: `no answer within ${TIMEOUT_MS / 1000} seconds` });
        else resolve({ code: typeof cause.code === 'number' ? cause.code : 1, stdout, stderr: stderr === '' ? cause.message : stderr });
      });
    });
}
