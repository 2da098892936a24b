// Attached files: validated, stored as artifacts, and labelled by their origin. Opens only files that a person named.

import { counted } from '../../base/counted.ts';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, isAbsolute, join } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { decodeText } from '../../base/text-encoding.ts';
import { knownMediaType } from '../../base/media-type.ts';
import type { Attachment } from '../../contracts/attachments.ts';
import type { Config } from '../../contracts/config.ts';
import { AppError, noPath } from '../../contracts/errors.ts';
import type { ArtifactRef, ArtifactSink, FactContext, TaintSource } from '../../contracts/tools.ts';
import type { Workspaces } from '../../guard/workspace/workspace.ts';
import { isOwnData } from '../../hands/tools/tools.ts';

export interface AttachmentDeps {
  readonly artifacts: Pick<ArtifactSink, 'put'>;
  readonly config: Pick<Config, 'attachments'>;
  readonly facts: FactContext;
  readonly workspaces: Pick<Workspaces, 'contextOf'>;
}

interface AttachmentPlace {
  readonly sessionId: string;
  readonly mayNamePaths: boolean;
  /** The session's folder, against which relative file names are resolved. */
  readonly workspace: string | null;
}

interface Loaded {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
  readonly where: string;
}

/**
 * Stores all files or none. Fails with `payload_too_large`, `not_found` (no such file), `forbidden` (a path from a channel that may not
 * name one, or TrayClaw's own data), `invalid_params` (not a file, not absolute) or a store error.
 */
export function keepAttachments(
  deps: AttachmentDeps,
  attachments: readonly Attachment[],
  place: AttachmentPlace,
): { files: ArtifactRef[]; sources: TaintSource[] } {
  const { filesMax, messageBytesMax } = deps.config.attachments;
  if (attachments.length > filesMax) throw tooLarge(`A message takes at most ${counted(filesMax, 'file')}.`, 'attachments.filesMax');
  const loaded = attachments.map((attachment) => load(deps, attachment, place));
  const sizeBytes = loaded.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (sizeBytes > messageBytesMax)
    throw tooLarge(`The files of a message take at most ${messageBytesMax} bytes.`, 'attachments.messageBytesMax');
  return {
    files: loaded.map(({ bytes, name, mediaType }) => deps.artifacts.put(bytes, { name, mediaType, sessionId: place.sessionId })),
    sources: loaded.map(({ where }) => ({ kind: 'file', where })),
  };
}

function load(deps: AttachmentDeps, { name, mediaType, base64, path }: Attachment, place: AttachmentPlace): Loaded {
  const { fileBytesMax } = deps.config.attachments;
  const real = path === undefined ? null : findFile(deps, path, place);
  const shown = name ?? basename(path ?? 'file');
  const sizeBytes = real?.sizeBytes ?? Math.floor(((base64?.length ?? 0) * 3) / 4) - 2;
  if (sizeBytes > fileBytesMax) throw tooLarge(`"${shown}" is larger than ${fileBytesMax} bytes.`, 'attachments.fileBytesMax');
  const bytes = real === null ? Buffer.from(base64 ?? '', 'base64') : readFileSync(real.path);
  if (bytes.length > fileBytesMax) throw tooLarge(`"${shown}" is larger than ${fileBytesMax} bytes.`, 'attachments.fileBytesMax');
  return { name: shown, mediaType: typeOf(bytes, shown, mediaType), bytes, where: real?.path ?? `attached:${shown}` };
}

function findFile(deps: AttachmentDeps, given: string, place: AttachmentPlace): { path: string; sizeBytes: number } {
  const { facts } = deps;
  if (!place.mayNamePaths) throw new AppError('forbidden', 'A file of this computer can only be chosen at this computer.');
  const folder = isAbsolute(given) ? null : deps.workspaces.contextOf(place.workspace).workspace;
  const path = folder === null ? given : join(folder, given);
  let real: string;
  try {
    real = realpathSync(path);
  } catch (cause) {
    throw noPath('file', path, cause);
  }
  if (folder !== null && !isInside(real, folder))
    throw new AppError('forbidden', `${given} leads out of ${folder}.`, { hint: 'Name such a file by its whole path.' });
  if (isOwnData(real, facts)) throw new AppError('forbidden', "That is TrayClaw's own data, which is not sent to a model.");
  const found = statSync(real);
  if (!found.isFile()) throw new AppError('invalid_params', `${path} is not a file.`);
  return { path: real, sizeBytes: found.size };
}

function tooLarge(message: string, setting: string): AppError {
  return new AppError('payload_too_large', message, { hint: `Send less, or raise ${setting} in config.yaml.` });
}

const textTypes: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.json': 'application/json',
};

/** Determined by the content first. */
function typeOf(bytes: Buffer, name: string, claimed: string | undefined): string {
  const known = knownMediaType(bytes);
  if (known !== null) return known;
  const decoded = decodeText(bytes);
  if (decoded?.isExact !== true || decoded.text.includes('\0'))
    return claimed?.startsWith('image/') === true ? 'application/octet-stream' : (claimed ?? 'application/octet-stream');
  if (claimed !== undefined && !/^(image|audio|video)\//.test(claimed)) return claimed;
  return textTypes[extname(name).toLowerCase()] ?? 'text/plain';
}
