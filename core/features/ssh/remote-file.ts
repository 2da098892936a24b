// Files on a remote machine. A write first keeps what it replaces or removes, and its result, even after a partial failure, says how to
// restore the earlier content.

import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { SFTPWrapper, Stats } from 'ssh2';
import { AppError } from '../../contracts/errors.ts';
import type { ArtifactRef, ToolContext, ToolResult } from '../../contracts/tools.ts';

const FILE_BYTES_MAX = 10 * 1024 * 1024;
const NO_SUCH_FILE = 2;

export interface RemoteWrite {
  readonly host: string;
  readonly path: string;
  readonly content?: string | undefined;
  readonly artifact?: string | undefined;
  readonly remove?: true | undefined;
  readonly replaces?: string | undefined;
}

/** Returns null if there is no such file. */
export async function readRemote(sftp: SFTPWrapper, path: string): Promise<Buffer | null> {
  const stats = await new Promise<Stats | null>((resolve, reject) => {
    sftp.stat(path, (cause, found) => {
      if (cause === undefined) resolve(found);
      else if ((cause as { code?: unknown }).code === NO_SUCH_FILE) resolve(null);
      else reject(unreadable(path, cause));
    });
  });
  if (stats === null) return null;
  if (stats.isDirectory()) throw new AppError('tool_failed', `${path} is a folder.`);
  // Reading a pipe or a device would never end.
  if (!stats.isFile()) throw new AppError('tool_failed', `${path} is not a plain file.`, { hint: 'Use ssh_exec.' });
  if (stats.size > FILE_BYTES_MAX)
    throw new AppError('tool_failed', `${path} is larger than 10 MB.`, { hint: 'Use ssh_exec with head or tail.' });
  return new Promise((resolve, reject) => {
    sftp.readFile(path, (cause, bytes) => (cause === undefined ? resolve(bytes) : reject(unreadable(path, cause))));
  });
}

export async function writeRemote(sftp: SFTPWrapper, args: RemoteWrite, context: ToolContext): Promise<ToolResult> {
  const { host, path, replaces } = args;
  const before = await readRemote(sftp, path);
  if (replaces !== undefined && (before === null || sha256(before) !== replaces)) {
    throw new AppError('tool_failed', `${path} on ${host} was changed since; nothing was written.`, { hint: 'Read it first.' });
  }
  if (args.remove === true && before === null) throw new AppError('tool_failed', `There is no file ${path} on ${host}.`);
  const after = args.artifact === undefined ? Buffer.from(args.content ?? '') : Buffer.from(context.artifacts.read(args.artifact));
  const { callId, sessionId } = context;
  const about = { name: `${host}-before`, mediaType: 'application/octet-stream', callId, sessionId };
  const kept = before === null ? null : context.artifacts.put(before, about);
  const artifacts = kept === null ? [] : [kept];
  try {
    await (args.remove === true ? done((end) => sftp.unlink(path, end)) : replaced(sftp, path, after));
  } catch (cause) {
    if (before === null) assertFolder(args, cause);
    const text = failedText(args, cause, kept);
    return { forModel: text, isError: true, artifacts, ...(context.signal.aborted ? { endedBy: 'unknown' as const } : {}) };
  }
  if (args.remove === true) return { forModel: `Removed ${path} on ${host}. To undo: ${undo(args, kept)}`, artifacts };
  return { forModel: `Wrote ${after.length} bytes to ${path} on ${host}. To undo: ${undo(args, kept, sha256(after))}`, artifacts };
}

/** Fails if that is the cause: a new file was to be written where there is no folder. */
function assertFolder({ host, path }: RemoteWrite, cause: unknown): void {
  if ((cause as { code?: unknown }).code !== NO_SUCH_FILE) return;
  throw new AppError('tool_failed', `There is no folder ${posix.dirname(path)} on ${host}; nothing was written.`, {
    hint: 'Make it first, with ssh_exec and mkdir -p.',
  });
}

/** Writes in place, so that owner and permissions stay. */
async function replaced(sftp: SFTPWrapper, path: string, after: Buffer): Promise<void> {
  await done((end) => sftp.writeFile(path, after, end));
  const now = await readRemote(sftp, path);
  if (now === null || sha256(now) !== sha256(after)) throw new Error('it has other content now');
}

function failedText(args: RemoteWrite, cause: unknown, kept: ArtifactRef | null): string {
  const why = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause);
  const what = args.remove === true ? 'removed' : 'written whole';
  return `${args.path} on ${args.host} could not be ${what}: ${why}. It may be cut or gone; look there. To put back what was: ${undo(args, kept)}`;
}

export function contentHash({ content, artifact }: Pick<RemoteWrite, 'content' | 'artifact'>): string {
  return artifact ?? (content === undefined ? '' : sha256(Buffer.from(content)));
}

function undo({ host, path }: RemoteWrite, kept: ArtifactRef | null, replaces?: string): string {
  const back = kept === null ? { remove: true } : { artifact: kept.sha256 };
  return `ssh_write ${JSON.stringify({ host, path, ...back, ...(replaces === undefined ? {} : { replaces }) })}`;
}

function unreadable(path: string, cause: Error): AppError {
  return new AppError('tool_failed', `${path} could not be read: ${cause.message}.`);
}

function done(start: (end: (cause?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((cause) => (cause === undefined || cause === null ? resolve() : reject(cause))));
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
