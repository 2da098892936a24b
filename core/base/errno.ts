// The code of an operating system error, and what it means for a file.

/** Returns a code such as `ENOENT` if the error has one. */
export function errnoOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

/** Errors of disks that have no owners, no modes or no synced folders: sticks, network folders, phones. */
const unsupported: ReadonlySet<string | undefined> = new Set(['EPERM', 'EACCES', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/** Returns if the disk or the user's rights do not allow the step, and throws any other error. */
export function ignoreUnsupported(cause: unknown): void {
  if (!unsupported.has(errnoOf(cause))) throw cause;
}

/** The reason behind each code of a failed file call, without a full stop. */
export const fileMeanings: Readonly<Record<string, string>> = {
  ENOENT: 'there is nothing at this path',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'this is a folder, not a file',
  EACCES: 'this user may not do that here',
  EPERM: 'the system does not permit that here',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'the last part is a symbolic link that appeared just now, or links lead in circles',
  EIO: 'the disk reported an error',
  EBUSY: 'another program is using it',
  ETXTBSY: 'a running program is using it',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this computer',
  EFBIG: 'it would grow beyond the size that the system allows',
  EEXIST: 'something is already there',
  ENOTEMPTY: 'the folder is not empty',
  EINVAL: 'the system refuses this name',
};
