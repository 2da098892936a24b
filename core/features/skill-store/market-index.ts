// Markets that are a single list of skills with hashes: the index.json of the layers project, the well-known index of a site, and our own
// format, which extends the first with versions, requirements and withdrawals. The list is a file or an address. Only reads; installs
// nothing.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { isInside } from '../../base/inside-folder.ts';
import { parseJson } from '../../base/json.ts';
import { isLoopbackHost } from '../../base/loopback.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SkillRisk, SkillSigner, SkillSource } from '../../contracts/features/skill-store.ts';
import { leftOutRisk, matches, nameOfSkill, type Delivered, type Market, type Offer } from './offer.ts';
import { refusal, refusePath } from './package-paths.ts';
import { isArchive, readArchive, readFolder, sha256Of, type ReadPackage } from './read-package.ts';
import type { FindSigner } from './signer.ts';
import { fetched, hostOf, type StoreWeb } from './store-web.ts';
import { risk } from './skill-scan.ts';

const INDEX_BYTES_MAX = 10_000_000;
const ENTRIES_MAX = 20_000;
/** The files that the layers project's hash covers. */
export const layersFiles: readonly string[] = ['SKILL.md', 'skill.py', 'policy.yaml'];

const entrySchema = z.object({
  name: z.string().min(1).max(200),
  version: z.string().max(256).optional(),
  description: z.string().max(4_096).default(''),
  publisher: z.string().max(200).optional(),
  /** A folder or an archive, relative to the index. */
  path: z.string().min(1).max(1_000).optional(),
  url: z.string().min(1).max(2_000).optional(),
  type: z.string().max(40).optional(),
  sha256: z.string().max(200).optional(),
  digest: z.string().max(200).optional(),
  files: z.array(z.string().max(400)).max(500).optional(),
  requires: z.record(z.string(), z.string()).optional(),
  deprecated: z.object({ replacedBy: z.string().nullish(), removeAfter: z.string().nullish() }).optional(),
  revoked: z.string().max(500).optional(),
});
export const indexSchema = z.object({
  $schema: z.string().optional(),
  marketplace: z.string().max(200).optional(),
  skills: z.array(entrySchema).max(ENTRIES_MAX),
});
export type IndexEntry = z.infer<typeof entrySchema>;
export type MarketIndex = z.infer<typeof indexSchema>;

export interface IndexPlace {
  readonly name: string;
  readonly kind: SkillSource['kind'];
  /** The path of a file, or an address. */
  readonly at: string;
  readonly isFile: boolean;
}

export interface IndexDeps {
  readonly web: StoreWeb;
  readonly signer: FindSigner;
  /** The published hashes: over all files, and over the files that the layers project covers. */
  readonly hashes: (files: ReadonlyMap<string, Uint8Array>) => { readonly content: string; readonly layers: string };
}

export class IndexMarket implements Market {
  readonly name: string;
  readonly kind: SkillSource['kind'];
  readonly #place: IndexPlace;
  readonly #deps: IndexDeps;
  #index: MarketIndex | null = null;

  /** `index` is passed if it was already read to detect the kind of market. */
  constructor(place: IndexPlace, deps: IndexDeps, index: MarketIndex | null = null) {
    this.name = place.name;
    this.kind = place.kind;
    this.#place = place;
    this.#deps = deps;
    this.#index = index;
  }

  async search(query: string, signal: AbortSignal): Promise<readonly Offer[]> {
    const { skills } = await this.#read(signal);
    return skills.filter(({ name, description }) => matches(query, name, description)).flatMap((entry) => this.#offer(entry));
  }

  async offers(name: string, signal: AbortSignal): Promise<readonly Offer[]> {
    const { skills } = await this.#read(signal);
    return skills.filter((entry) => nameOfSkill(entry.name) === name).flatMap((entry) => this.#offer(entry));
  }

  async #read(signal: AbortSignal): Promise<MarketIndex> {
    const { at, isFile } = this.#place;
    this.#index ??= parseIndex(isFile ? readIndexFile(at) : await fetched(this.#deps.web, at, signal), this.name);
    return this.#index;
  }

  #offer(entry: IndexEntry): Offer[] {
    const name = nameOfSkill(entry.name);
    if (name === null) return [];
    const { deprecated, requires } = entry;
    return [
      {
        name,
        version: entry.version ?? null,
        description: entry.description,
        market: this.name,
        publisher: entry.publisher ?? null,
        verdict: null,
        deprecation:
          deprecated === undefined ? null : { replacedBy: deprecated.replacedBy ?? null, removeAfter: deprecated.removeAfter ?? null },
        revoked: entry.revoked ?? null,
        requires:
          requires === undefined ? null : Object.entries(requires).map(([other, range]) => ({ name: nameOfSkill(other) ?? other, range })),
        deliver: (signal) => this.#deliver(name, entry, signal),
      },
    ];
  }

  async #deliver(name: string, entry: IndexEntry, signal: AbortSignal): Promise<Delivered> {
    const pinned = pinOf(entry);
    if (pinned === null && this.kind === 'index') throw refusal(`the market ${this.name} publishes no SHA-256 for ${name}`);
    const from = this.#addressOf(entry);
    const { read, verified, signer } = await this.#verified(entry, { from, pinned }, signal);
    const { archiveSha256, commit } = read;
    const source: SkillSource = {
      ref: `${this.name}/${name}`,
      kind: this.kind,
      market: this.name,
      from,
      publisher: entry.publisher ?? null,
      commit,
      archiveSha256,
      verified,
      signer: signer ?? null,
    };
    return { read, source, risks: sourceRisks(read, { from, isPinned: pinned !== null }) };
  }

  async #verified(
    entry: IndexEntry,
    { from, pinned }: { readonly from: string; readonly pinned: string | null },
    signal: AbortSignal,
  ): Promise<{ read: ReadPackage; verified: string; signer?: SkillSigner | null }> {
    const nothing = 'Nothing was published to compare it with.';
    if (isArchive(from.replace(/[?#].*$/, '')) || entry.type === 'archive') {
      const bytes = await this.#bytes(from, signal);
      if (pinned !== null) assertSame(sha256Of(bytes), pinned);
      const signer = await this.#deps.signer(bytes, from, signal);
      return {
        read: readArchive(bytes),
        signer,
        verified: pinned === null ? nothing : 'The archive has the SHA-256 that the market publishes.',
      };
    }
    if (entry.type === 'skill-md' || /\.md$/i.test(from)) {
      const bytes = await this.#bytes(from, signal);
      if (pinned !== null) assertSame(sha256Of(bytes), pinned);
      return {
        read: oneFile(bytes, entry.name),
        verified: pinned === null ? nothing : 'The file has the SHA-256 that the market publishes.',
      };
    }
    const read = await this.#folder(entry, from, signal);
    return pinned === null ? { read, verified: nothing } : this.#coveredBy(pinned, read);
  }

  /**
   * The published hash covers either all files or the three files of the layers project. In the second case every other file is left out.
   */
  #coveredBy(pinned: string, read: ReadPackage): { read: ReadPackage; verified: string } {
    const { content, layers } = this.#deps.hashes(read.files);
    if (content === pinned) return { read, verified: 'All its files have the SHA-256 that the market publishes.' };
    assertSame(layers, pinned);
    const isCovered = ([path]: readonly [string, Uint8Array]): boolean => layersFiles.includes(path);
    const leftOut = [...read.files].filter((one) => !isCovered(one)).map(([path]) => path);
    const files = new Map([...read.files].filter(isCovered));
    return { read: { ...read, files, leftOut }, verified: 'Its files have the SHA-256 that the market publishes.' };
  }

  async #folder(entry: IndexEntry, from: string, signal: AbortSignal): Promise<ReadPackage> {
    if (this.#place.isFile) return readFolder(from);
    const files = new Map<string, Uint8Array>();
    for (const path of entry.files ?? layersFiles) {
      const why = refusePath(path);
      if (why !== null) throw refusal(`the name ${JSON.stringify(path.slice(0, 100))} ${why}`);
      const { status, body } = await this.#deps.web.ask(
        `${from.replace(/\/$/, '')}/${path.split('/').map(encodeURIComponent).join('/')}`,
        signal,
      );
      if (status === 200) files.set(path, body);
      else if (entry.files !== undefined || path === 'SKILL.md') throw refusal(`${hostOf(from)} answered ${status} for its ${path}`);
    }
    return { files, folderName: entry.name, archiveSha256: null, commit: null, leftOut: [] };
  }

  async #bytes(from: string, signal: AbortSignal): Promise<Buffer> {
    return this.#place.isFile ? readFileSync(from) : fetched(this.#deps.web, from, signal);
  }

  #addressOf({ path, url, name }: IndexEntry): string {
    const { at, isFile, kind } = this.#place;
    const given = path ?? url ?? (kind === 'well-known' ? name : null);
    if (given === null) throw refusal(`the market ${this.name} does not say where ${name} is`);
    const address = isFile ? fileBeside(at, given) : addressBeside(at, given, kind === 'well-known');
    if (address === null)
      throw refusal(`the market ${this.name} names ${JSON.stringify(given.slice(0, 100))}, which is not next to its index`);
    return address;
  }
}

/** The real path of a file; null if it is missing or outside the folder of the index. */
function fileBeside(at: string, given: string): string | null {
  const folder = realpathSync(dirname(at));
  const full = join(folder, given);
  if (!existsSync(full)) return null;
  const real = realpathSync(full);
  return isInside(real, folder) ? real : null;
}

/** The address of a file next to the index. A well-known index may also name other HTTPS addresses. Null for any other address. */
function addressBeside(at: string, given: string, mayBeElsewhere: boolean): string | null {
  const address = URL.canParse(given, at) ? new URL(given, at) : null;
  if (address === null) return null;
  const isElsewhere = mayBeElsewhere && (address.protocol === 'https:' || address.origin === new URL(at).origin);
  return address.href.startsWith(new URL('.', at).href) || isElsewhere ? address.href : null;
}

function sourceRisks({ leftOut }: ReadPackage, { from, isPinned }: { readonly from: string; readonly isPinned: boolean }): SkillRisk[] {
  const isOpen = from.startsWith('http:') && !isLoopbackHost(new URL(from).hostname);
  return [
    ...(isPinned ? [] : [risk('warning', 'no-hash', 'Its source publishes no hash, so it cannot be compared with what was published.')]),
    ...(isOpen
      ? [risk('warning', 'no-encryption', 'It was fetched without encryption: anyone on the way could have changed it, and its hash.')]
      : []),
    ...leftOutRisk(leftOut),
  ];
}

function readIndexFile(path: string): Buffer {
  if (!existsSync(path))
    throw new AppError('not_found', `There is no market at ${path}.`, { hint: 'Look at skills.markets in config.yaml.' });
  if (statSync(path).size > INDEX_BYTES_MAX) throw refusal('the index of the market is larger than 10 MB');
  return readFileSync(path);
}

/** Fails with fetch_failed if the index is invalid, and with denied if it lists one version twice with different content. */
export function parseIndex(bytes: Buffer, market: string): MarketIndex {
  const problem = (why: string) =>
    new AppError('fetch_failed', `The index of the market ${market} cannot be used: ${why}.`, { hint: 'Nothing was changed.' });
  if (bytes.length > INDEX_BYTES_MAX) throw problem('it is larger than 10 MB');
  const json = parseJson(bytes.toString('utf8'));
  if (!json.ok) throw problem('it is no JSON');
  const parsed = indexSchema.safeParse(json.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw problem(`${issue?.path.join('.') ?? ''} ${issue?.message ?? 'has another form'}`.trim());
  }
  const seen = new Map<string, string>();
  for (const entry of parsed.data.skills) {
    const key = `${nameOfSkill(entry.name) ?? entry.name} ${entry.version ?? ''}`;
    const says = pinOf(entry) ?? entry.url ?? '';
    if (seen.has(key) && seen.get(key) !== says) throw refusal(`the market ${market} says two things of ${key.trim()}`);
    seen.set(key, says);
  }
  return parsed.data;
}

/** The published hash, or null if there is none. Fails with denied if it is not a SHA-256. */
function pinOf({ sha256, digest }: IndexEntry): string | null {
  const given = sha256 ?? digest;
  if (given === undefined) return null;
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(given) ?? [];
  if (hex === undefined) throw refusal(`${JSON.stringify(given.slice(0, 80))} is no SHA-256`);
  return hex.toLowerCase();
}

function assertSame(actual: string, pinned: string): void {
  if (actual !== pinned) throw refusal(`it is not what was published: its SHA-256 is ${actual}, published is ${pinned}`);
}

function oneFile(bytes: Buffer, folderName: string): ReadPackage {
  return { files: new Map([['SKILL.md', bytes]]), folderName, archiveSha256: null, commit: null, leftOut: [] };
}
