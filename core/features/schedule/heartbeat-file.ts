// HEARTBEAT.md in the workspace: read up to a size limit, created if missing. Links are not followed, because the file they lead to was not
// meant to instruct the agent.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { AppError } from '../../contracts/errors.ts';
import { heartbeatTemplate } from './heartbeat-text.ts';

const BYTES_MAX = 64 * 1024;

/** Fails with tool_failed if the path is not a plain file, or the file is too large. */
export async function readHeartbeatFile(path: string): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = await regularFile(file.stat());
      if (size > BYTES_MAX) throw new AppError('tool_failed', `HEARTBEAT.md is larger than ${BYTES_MAX / 1024} KB.`);
      const buffer = Buffer.alloc(BYTES_MAX);
      const { bytesRead } = await file.read(buffer, 0, BYTES_MAX, 0);
      return buffer.subarray(0, bytesRead).toString('utf8');
    } finally {
      await file.close();
    }
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ELOOP') throw notRegular();
    if (code !== 'ENOENT') throw cause;
    return makeTemplate(path);
  }
}

async function regularFile<T extends { isFile(): boolean }>(stat: Promise<T>): Promise<T> {
  const found = await stat;
  if (!found.isFile()) throw notRegular();
  return found;
}

function notRegular(): AppError {
  return new AppError('tool_failed', 'HEARTBEAT.md is not an ordinary file.');
}

/** Creates the file with the template. If another program has created it in the meantime, that file is read at the next beat. */
async function makeTemplate(path: string): Promise<string> {
  try {
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
    try {
      await file.writeFile(heartbeatTemplate);
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
  }
  return heartbeatTemplate;
}

function codeOf(cause: unknown): string | undefined {
  return (cause as NodeJS.ErrnoException | null)?.code;
}
