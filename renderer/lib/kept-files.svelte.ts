// Files attached to unsent messages, kept in the window's storage so that a reload or a restart does not lose them. Loaded after the first
// paint. Bounded: the newest drafts stay.

import type { DraftFile } from './draft-files.ts';

type Drafts = Record<string, DraftFile[]>;

const table = 'drafts';
const charsMax = 60_000_000;

/** Adds the kept files to the drafts, and keeps what changes from then on. Without a usable storage, files last as long as the page. */
export async function keepFiles(factory: IDBFactory, drafts: Drafts): Promise<void> {
  const opening = factory.open('trayclaw');
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(table));
  const db = await resultOf(opening);
  const kept = await resultOf<Drafts | undefined>(db.transaction(table).objectStore(table).get(table));
  // Files may have been attached meanwhile.
  for (const [key, files] of Object.entries(kept ?? {})) drafts[key] = [...files, ...(drafts[key] ?? [])];
  $effect.root(() => {
    $effect(() => {
      const put = db
        .transaction(table, 'readwrite')
        .objectStore(table)
        .put(newest($state.snapshot(drafts)), table);
      // A full storage keeps what it has; the files are still in the field.
      put.addEventListener('error', (event) => event.preventDefault());
    });
  });
}

/** The last drafts that fit. */
export function newest(drafts: Drafts, max = charsMax): Drafts {
  let left = max;
  const fitting = Object.entries(drafts)
    .filter(([, files]) => files.length > 0)
    .reverse()
    .filter(([, files]) => {
      const chars = files.reduce((sum, { base64 }) => sum + base64.length, 0);
      if (chars > left) return false;
      left -= chars;
      return true;
    });
  return Object.fromEntries(fitting.reverse());
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('No storage.')));
  });
}
