// A repository that a git server offers over HTTPS: the current commit of a branch or tag, and the files of that commit. Implements version
// 2 of the git protocol on the guarded fetch, so that no git program, credential or other protocol is involved.

import { AppError } from '../../contracts/errors.ts';
import type { SkillSource } from '../../contracts/features/skill-store.ts';
import { refusal } from './package-paths.ts';
import { readEntries, type ReadPackage } from './read-package.ts';
import { filesOfCommit } from './read-pack.ts';
import { hostOf, type StoreWeb } from './store-web.ts';

export interface GitAddress {
  /** The address of the repository. */
  readonly url: string;
  /** The folder of the skill; null for the only skill in the repository. */
  readonly folder: string | null;
  /** A branch, a tag or a full commit id; null for the server's default branch. */
  readonly ref: string | null;
}

export interface GitCommit {
  readonly commit: string;
  /** As the server names it, such as `refs/tags/v1.2`; the commit id itself if one was given. */
  readonly ref: string;
}

const COMMIT = /^[0-9a-f]{40}$/;
const LINES_MAX = 100_000;
const flush = '0000';
const delimiter = '0001';

/**
 * Parses `https://host/repo.git#folder@ref`, optionally with the prefix `git+`. Null for other kinds of addresses. Fails with
 * invalid_params.
 */
export function gitAddressOf(text: string): GitAddress | null {
  const [, plus, url = '', rest = ''] = /^(git\+)?([^#]+)(?:#(.*))?$/s.exec(text) ?? [];
  if (/^(?:ssh|git|file):|^[\w.-]+@[\w.-]+:/.test(url)) throw notThere(text);
  if (plus === undefined && !/^https?:.*\.git\/?$/.test(url)) return null;
  if (!/^https?:\/\//.test(url)) throw notThere(text);
  const [, folder = '', ref = null] = /^\/*(.*?)\/*(?:@([\w./+-]+))?$/.exec(rest) ?? [];
  if (folder.includes('@')) throw notThere(text);
  return { url: url.replace(/\/+$/, ''), folder: folder === '' ? null : folder, ref };
}

function notThere(text: string): AppError {
  return new AppError('invalid_params', `${text.slice(0, 200)} is not a git address that skills are fetched from.`, {
    hint: 'Write https://HOST/REPOSITORY.git#FOLDER@TAG.',
  });
}

export class GitServer {
  readonly #web: StoreWeb;
  readonly #url: string;
  readonly #signal: AbortSignal;

  constructor(web: StoreWeb, url: string, signal: AbortSignal) {
    this.#web = web;
    this.#url = url;
    this.#signal = signal;
  }

  /** Fails with not_found if the repository has no such name, and with an AppError if the server cannot be used. */
  async resolve(ref: string | null): Promise<GitCommit> {
    if (ref !== null && COMMIT.test(ref)) return { commit: ref, ref };
    const base = await this.#base();
    const names = ref === null ? ['HEAD'] : [`refs/tags/${ref}`, `refs/heads/${ref}`, ref];
    const asked = ['peel\n', 'symrefs\n', ...names.map((name) => `ref-prefix ${name}\n`)];
    const lines = textLines(await this.#ask(base, 'ls-refs', asked));
    const all = new Map(lines.flatMap((line) => refIn(line)));
    for (const name of names) {
      const found = all.get(name);
      if (found !== undefined) return { commit: found.commit, ref: found.target ?? name };
    }
    throw new AppError('not_found', `${this.#url} has no branch or tag ${JSON.stringify(ref ?? 'HEAD')}.`, {
      hint: 'Name a branch, a tag or a whole commit id after the @.',
    });
  }

  async read(commit: string, folder: string | null): Promise<ReadPackage> {
    const wanted = ['no-progress\n', 'ofs-delta\n', 'deepen 1\n', `want ${commit}\n`, 'done\n'];
    const answer = await this.#ask(await this.#base(), 'fetch', wanted);
    return readEntries(filesOfCommit(packIn(answer), commit), { below: folder, commit, archiveSha256: null });
  }

  /** The address of the repository after redirects. Fails if the server does not support protocol version 2 with SHA-1 ids. */
  async #base(): Promise<string> {
    const { status, body, url } = await this.#web.ask(`${this.#url}/info/refs?service=git-upload-pack`, this.#signal, {
      headers: { 'git-protocol': 'version=2' },
    });
    if (status !== 200)
      throw new AppError('fetch_failed', `${hostOf(this.#url)} answered ${status} for the repository ${this.#url}.`, {
        hint: status === 401 || status === 403 || status === 404 ? 'It has to be public, and its address right.' : 'Nothing was changed.',
      });
    const lines = textLines(body);
    const isUsable =
      lines.includes('version 2') && lines.every((line) => !line.startsWith('object-format=') || line === 'object-format=sha1');
    if (!isUsable)
      throw new AppError('fetch_failed', `${hostOf(this.#url)} does not speak version 2 of git's protocol with SHA-1 ids.`, {
        hint: 'Name an archive of the repository instead.',
      });
    return url.replace(/\/info\/refs\?.*$/, '');
  }

  async #ask(base: string, command: string, args: readonly string[]): Promise<Buffer> {
    const body = [packet(`command=${command}\n`), delimiter, ...args.map(packet), flush].join('');
    const { status, body: answer } = await this.#web.ask(`${base}/git-upload-pack`, this.#signal, {
      method: 'POST',
      headers: { 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' },
      body,
    });
    if (status === 200) return answer;
    throw new AppError('fetch_failed', `${hostOf(base)} answered ${status} to git's ${command}.`, { hint: 'Nothing was changed.' });
  }
}

/** Describes the new commit of the source, or returns null if it is the installed one. */
export async function newCommitOf(
  { ref, commit }: Pick<SkillSource, 'ref' | 'commit'>,
  web: StoreWeb,
  signal: AbortSignal,
): Promise<string | null> {
  const address = gitAddressOf(ref);
  if (address === null) return null;
  const now = await new GitServer(web, address.url, signal).resolve(address.ref);
  return now.commit === commit ? null : `commit ${now.commit.slice(0, 12)}`;
}

function packet(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/**
 * The packets of an answer; null for separators. Fails if the answer is truncated, and with the server's message if it reports an error.
 */
function* packets(answer: Buffer): Generator<Buffer | null> {
  let left = LINES_MAX;
  for (let at = 0; at < answer.length; left -= 1) {
    const digits = answer.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length < 0 || length === 3 || at + length > answer.length || left === 0) throw refusal('the answer of the git server is damaged');
    const content = length < 4 ? null : answer.subarray(at + 4, at + length);
    if (content?.toString('latin1', 0, 4) === 'ERR ')
      throw new AppError('fetch_failed', `The git server refused: ${content.toString('utf8', 4, 300).trim()}`);
    yield content;
    at += Math.max(length, 4);
  }
}

function textLines(answer: Buffer): readonly string[] {
  return [...packets(answer)].flatMap((line) => (line === null ? [] : [line.toString('utf8').replace(/\n$/, '')]));
}

/** Parses `ID NAME symref-target:NAME peeled:ID`. */
function refIn(line: string): [string, { readonly commit: string; readonly target: string | null }][] {
  const [id = '', name, ...more] = line.split(' ');
  if (name === undefined || !COMMIT.test(id)) return [];
  const said = (key: string): string | null => more.find((one) => one.startsWith(key))?.slice(key.length) ?? null;
  return [[name, { commit: said('peeled:') ?? id, target: said('symref-target:') }]];
}

/** The pack in the answer to a fetch: the section `packfile`, in which the first byte of each packet names its channel. */
function packIn(answer: Buffer): Buffer {
  const parts: Buffer[] = [];
  let isPack = false;
  for (const content of packets(answer)) {
    if (content === null) continue;
    if (!isPack) isPack = content.toString('latin1') === 'packfile\n';
    else if (content[0] === 1) parts.push(content.subarray(1));
    else if (content[0] === 3) throw new AppError('fetch_failed', `The git server gave up: ${content.toString('utf8', 1, 300).trim()}`);
  }
  return Buffer.concat(parts);
}
