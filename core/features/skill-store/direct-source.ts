// Skills that a person names directly: a folder, an archive, an address, a folder of a repository. Only reads; installs nothing.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { AppError } from '../../contracts/errors.ts';
import type { SkillSigner } from '../../contracts/features/skill-store.ts';
import { GitServer, gitAddressOf, type GitAddress } from './git-source.ts';
import type { IndexDeps } from './market-index.ts';
import { leftOutRisk, type Delivered } from './offer.ts';
import { refusal } from './package-paths.ts';
import { ARCHIVE_BYTES_MAX, readArchive, readFolder, sha256Of, type ReadPackage } from './read-package.ts';
import { fetched } from './store-web.ts';
import { risk } from './skill-scan.ts';

export interface DirectDeps extends IndexDeps {
  /** Folders with a SKILL.md at or below a path. */
  readonly below: (path: string) => readonly string[];
}

export interface DirectWish {
  readonly ref: string;
  /** The published hash; null if none is known. */
  readonly sha256: string | null;
  /** For a repository: fetch exactly this commit. */
  readonly commit?: string | null;
}

export function isRemote(ref: string): boolean {
  return /^(?:https?:\/\/|github:|git\+|(?:ssh|git|file):|[\w.-]+@[\w.-]+:)/.test(ref);
}

export function isDirect(ref: string): boolean {
  return isRemote(ref) || /^(?:\.{0,2}|~|[A-Za-z]:)[/\\]/.test(ref) || ref === '.';
}

/** Returns the skill that the wish names; for a folder, every skill at or below it. Fails with an AppError. */
export async function directSkills(wish: DirectWish, deps: DirectDeps, signal: AbortSignal): Promise<readonly Delivered[]> {
  const git = gitAddressOf(wish.ref);
  if (git !== null) return [await fromRepository(wish, git, deps, signal)];
  if (/^https?:\/\//.test(wish.ref)) return [await fromAddress(wish, wish.ref, deps, signal)];
  if (wish.ref.startsWith('github:')) return [await fromAddress(wish, addressOnGitHub(wish.ref), deps, signal)];
  const path = wish.ref.replace(/#.*$/, '');
  if (!existsSync(path))
    throw new AppError('not_found', `There is nothing at ${path}.`, { hint: 'Name a folder with a SKILL.md, or an archive.' });
  const real = realpathSync(path);
  if (!statSync(real).isDirectory()) return [await fromFile(wish, real, deps, signal)];
  const folders = deps.below(real);
  if (folders.length === 0)
    throw new AppError('not_found', `There is no SKILL.md in ${real} or below it.`, { hint: 'Name the folder that holds the SKILL.md.' });
  if (wish.sha256 !== null && folders.length > 1)
    throw new AppError('invalid_params', 'A hash belongs to one skill, and there are several in this folder.', {
      hint: 'Name the folder of the one.',
    });
  return folders.map((folder) => delivered(wish, { read: readFolder(folder), from: folder, kind: 'folder' }, deps));
}

async function fromFile(wish: DirectWish, path: string, deps: DirectDeps, signal: AbortSignal): Promise<Delivered> {
  if (statSync(path).size > ARCHIVE_BYTES_MAX) throw refusal('the archive is larger than 50 MB');
  const bytes = readFileSync(path);
  const signer = await deps.signer(bytes, path, signal);
  return signedBy(signer, delivered(wish, { read: readArchive(bytes, folderIn(wish.ref)), from: path, kind: 'archive' }, deps));
}

async function fromAddress(wish: DirectWish, address: string, deps: DirectDeps, signal: AbortSignal): Promise<Delivered> {
  const url = address.replace(/#.*$/, '');
  const bytes = await fetched(deps.web, url, signal);
  const isText = /\.md$/i.test(url);
  const read: ReadPackage = isText
    ? { files: new Map([['SKILL.md', bytes]]), folderName: '', archiveSha256: sha256Of(bytes), commit: null, leftOut: [] }
    : readArchive(bytes, folderIn(address));
  const signer = await deps.signer(bytes, url, signal);
  return signedBy(signer, delivered(wish, { read, from: url, kind: 'archive' }, deps));
}

function signedBy(signer: SkillSigner | null, { source, ...rest }: Delivered): Delivered {
  return { ...rest, source: { ...source, signer } };
}

async function fromRepository(wish: DirectWish, git: GitAddress, deps: DirectDeps, signal: AbortSignal): Promise<Delivered> {
  const server = new GitServer(deps.web, git.url, signal);
  const { commit, ref } = await server.resolve(wish.commit ?? git.ref);
  const read = await server.read(commit, git.folder);
  const from = git.folder === null ? git.url : `${git.url}#${git.folder}`;
  const { source, ...rest } = delivered(wish, { read, from, kind: 'git' }, deps);
  const name = ref === commit ? '' : ` ${ref.replace(/^refs\/(?:heads|tags)\//, '')}, now`;
  const kept = wish.sha256 === null ? `Its files are those of${name} commit ${commit}.` : source.verified;
  return { ...rest, source: { ...source, verified: kept }, isFixedRef: ref.startsWith('refs/tags/') || ref === commit };
}

/** `github:owner/repo/folder/of/skill@v1.2` means the archive that GitHub creates of that commit, tag or branch. */
function addressOnGitHub(ref: string): string {
  const [, owner, repo, folder = '', version = 'HEAD'] = /^github:([\w.-]+)\/([\w.-]+)((?:\/[\w. -]+)*)(?:@([\w./-]+))?$/.exec(ref) ?? [];
  if (owner === undefined || repo === undefined) {
    throw new AppError('invalid_params', `${ref} is not an address on GitHub.`, { hint: 'Write github:OWNER/REPO/FOLDER@TAG.' });
  }
  return `https://codeload.github.com/${owner}/${repo}/tar.gz/${version}${folder === '' ? '' : `#${folder.slice(1)}`}`;
}

function folderIn(ref: string): string | null {
  const folder = /#(.+)$/.exec(ref)?.[1] ?? null;
  return folder === null ? null : folder.replaceAll(/^\/+|\/+$/g, '');
}

function delivered(
  { ref, sha256 }: DirectWish,
  { read, from, kind }: { readonly read: ReadPackage; readonly from: string; readonly kind: 'folder' | 'archive' | 'git' },
  deps: DirectDeps,
): Delivered {
  const { archiveSha256, commit } = read;
  const verified = sha256 === null ? 'Nothing was published to compare it with.' : verify(sha256, read, deps);
  const source = {
    ref: kind === 'folder' ? from : ref,
    kind,
    market: null,
    from,
    publisher: null,
    commit,
    archiveSha256,
    verified,
    signer: null,
  };
  const open = from.startsWith('http:')
    ? [risk('warning', 'no-encryption', 'It was fetched without encryption: anyone on the way could have changed it.')]
    : [];
  return { read, source, risks: [...open, ...leftOutRisk(read.leftOut)] };
}

function verify(sha256: string, { files, archiveSha256 }: ReadPackage, deps: DirectDeps): string {
  const { content, layers } = deps.hashes(files);
  if (sha256 === archiveSha256) return 'The archive has the SHA-256 that you gave.';
  if (sha256 === content) return 'All its files have the SHA-256 that you gave.';
  const isCovered = [...files.keys()].every((path) => ['SKILL.md', 'skill.py', 'policy.yaml'].includes(path));
  if (sha256 === layers && isCovered) return 'Its three files have the SHA-256 that you gave.';
  throw refusal(`it is not what was published: the SHA-256 of its files is ${content}`);
}
