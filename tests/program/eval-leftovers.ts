// Lists throwaway folders of evals that should be gone: those of this process, and of processes that have ended. Other test files may have
// their own.

import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isRunning } from '../../core/store/home/home.ts';

export function evalLeftovers(): string[] {
  return readdirSync(tmpdir()).filter((name) => {
    const pid = Number(/^trayclaw-eval-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    return name.startsWith('trayclaw-eval-') && (Number.isNaN(pid) || pid === process.pid || !isRunning(pid));
  });
}
