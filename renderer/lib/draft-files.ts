// Files that a person attaches: accepted up to the host's limits, or refused with the reason. Sends nothing.

import { shrinkPicture } from './thumbnail.ts';

export interface DraftFile {
  readonly id: number;
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly base64: string;
  /** A small preview of an image, as a data address. */
  readonly thumbnail: string | null;
}

export interface FileLimits {
  readonly fileBytesMax: number;
  readonly messageBytesMax: number;
  readonly filesMax: number;
}

export type FileProblem =
  | { readonly kind: 'tooLarge'; readonly name: string; readonly sizeBytes: number; readonly max: number }
  | { readonly kind: 'tooMuch' | 'tooMany'; readonly name: string; readonly max: number }
  | { readonly kind: 'unreadable'; readonly name: string };

/** The part of a browser's File used here, as a separate type, so that tests need no browser. */
export type GivenFile = Pick<File, 'name' | 'type' | 'size' | 'arrayBuffer'>;

const thumbnailPx = 96;
/** Above those of an earlier page, whose files may be kept. */
let lastId = Date.now();

/** Accepts as many files as fit next to the existing ones, in order, and gives a reason for each other file. */
export async function takeFiles(
  given: readonly GivenFile[],
  held: readonly DraftFile[],
  limits: FileLimits,
): Promise<{ files: DraftFile[]; problems: FileProblem[] }> {
  const files: DraftFile[] = [];
  const problems: FileProblem[] = [];
  let left = limits.messageBytesMax - held.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  for (const file of given) {
    const { name, size } = file;
    if (held.length + files.length >= limits.filesMax) problems.push({ kind: 'tooMany', name, max: limits.filesMax });
    else if (size > limits.fileBytesMax) problems.push({ kind: 'tooLarge', name, sizeBytes: size, max: limits.fileBytesMax });
    else if (size > left) problems.push({ kind: 'tooMuch', name, max: limits.messageBytesMax });
    else {
      const read = await readFile(file);
      if (read === null) problems.push({ kind: 'unreadable', name });
      else files.push(read);
      left -= read?.sizeBytes ?? 0;
    }
  }
  return { files, problems };
}

async function readFile(file: GivenFile): Promise<DraftFile | null> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    // A dropped folder, or a file that was deleted meanwhile; the person sees a message.
    return null;
  }
  lastId += 1;
  const base64 = toBase64(bytes);
  const thumbnail = await shrinkPicture(bytes, file.type, thumbnailPx);
  return { id: lastId, name: file.name || 'file', mediaType: file.type, sizeBytes: bytes.length, base64, thumbnail };
}

/** Converts in pieces, because a call accepts only a limited number of arguments. */
function toBase64(bytes: Uint8Array): string {
  const piece = 0x80_00;
  let binary = '';
  for (let at = 0; at < bytes.length; at += piece) binary += String.fromCharCode(...bytes.subarray(at, at + piece));
  return btoa(binary);
}
