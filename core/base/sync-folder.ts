// Makes a created, renamed or removed name durable: the file system keeps names in the folder, which reaches the disk separately from the
// file. Calls the file system only through its parameters.

/** The part of `node:fs` used here. */
export interface SyncCalls {
  openSync(path: string, flags: 'r'): number;
  fsyncSync(handle: number): void;
  closeSync(handle: number): void;
}

/** Fails with the error of the file system. Windows cannot open folders; there the file system's journal keeps a rename. */
export function syncFolder(fs: SyncCalls, folder: string): void {
  if (process.platform === 'win32') return;
  const handle = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}
