// Skills of a ClawHub registry, through its HTTP API: search, versions, the registry's verdict, and the archive of a version, whose content
// the registry must confirm. Only reads; installs nothing.

import * as z from 'zod';
import { jsonIn } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SkillRisk } from '../../contracts/features/skill-store.ts';
import { leftOutRisk, nameOfSkill, type Delivered, type Market, type Offer } from './offer.ts';
import { refusal } from './package-paths.ts';
import { readArchive, sha256Of, type ReadPackage } from './read-package.ts';
import { fetched, hostOf, type StoreWeb } from './store-web.ts';
import { risk } from './skill-scan.ts';

const SEARCHED = 20;
const VERSIONS = 50;

const text = z.string().nullish();
const searchSchema = z.object({
  results: z.array(z.object({ slug: z.string(), displayName: text, summary: text, version: text, ownerHandle: text })),
});
const skillSchema = z.object({
  skill: z.object({ slug: z.string(), displayName: text, summary: text }),
  latestVersion: z.object({ version: z.string() }).nullish(),
  owner: z.object({ handle: text }).nullish(),
  moderation: z
    .object({
      isSuspicious: z.boolean().nullish(),
      isMalwareBlocked: z.boolean().nullish(),
      verdict: text,
      summary: text,
      reasonCodes: z.array(z.string()).nullish(),
    })
    .nullish(),
});
const versionsSchema = z.object({ items: z.array(z.object({ version: z.string() })) });
const resolveSchema = z.object({ match: z.object({ version: z.string() }).nullable() });
/** The answer of `download` for a skill that is hosted on GitHub. */
const elsewhereSchema = z.object({ repo: z.string(), commit: z.string(), path: z.string(), contentHash: z.string(), archiveUrl: z.url() });

type Listed = z.infer<typeof skillSchema>;

export class ClawHubMarket implements Market {
  readonly name: string;
  readonly kind = 'clawhub';
  readonly #base: string;
  readonly #web: StoreWeb;

  constructor(name: string, base: string, web: StoreWeb) {
    this.name = name;
    this.#base = base.replace(/\/+$/, '');
    this.#web = web;
  }

  async search(query: string, signal: AbortSignal): Promise<readonly Offer[]> {
    const { results } = await this.#ask(`search?q=${encodeURIComponent(query)}&limit=${SEARCHED}`, searchSchema, signal);
    return results.flatMap(({ slug, displayName, summary, version, ownerHandle }) => {
      const listed: Listed = { skill: { slug, displayName, summary }, owner: { handle: ownerHandle } };
      return this.#offer(listed, version ?? null);
    });
  }

  async offers(name: string, signal: AbortSignal): Promise<readonly Offer[]> {
    const slug = encodeURIComponent(name);
    const { status, body } = await this.#web.ask(`${this.#base}/api/v1/skills/${slug}`, signal);
    if (status === 404 || status === 410) return [];
    const listed = this.#parsed(status, body, skillSchema);
    const { items } = await this.#ask(`skills/${slug}/versions?limit=${VERSIONS}`, versionsSchema, signal);
    const versions = new Set([...(listed.latestVersion ? [listed.latestVersion.version] : []), ...items.map(({ version }) => version)]);
    return [...versions].flatMap((version) => this.#offer(listed, version));
  }

  #offer(listed: Listed, version: string | null): Offer[] {
    const { skill, owner, moderation } = listed;
    const name = nameOfSkill(skill.slug);
    if (name === null) return [];
    const isBlocked = moderation?.isMalwareBlocked === true;
    const verdict = moderation?.summary ?? moderation?.verdict ?? null;
    return [
      {
        name,
        version,
        description: skill.summary ?? skill.displayName ?? '',
        market: this.name,
        publisher: owner?.handle ?? null,
        verdict,
        deprecation: null,
        revoked: isBlocked ? `the registry blocked it as malware${verdict === null ? '' : ` (${verdict})`}` : null,
        requires: null,
        deliver: (signal) => this.#deliver(listed, version, signal),
      },
    ];
  }

  async #deliver({ skill, owner, moderation }: Listed, version: string | null, signal: AbortSignal): Promise<Delivered> {
    const slug = encodeURIComponent(skill.slug);
    const from = `${this.#base}/api/v1/download?slug=${slug}${version === null ? '' : `&version=${encodeURIComponent(version)}`}`;
    const { status, body, type } = await this.#web.ask(from, signal);
    if (status === 410) throw refusal('the registry has deleted it');
    const isElsewhere = status === 200 && /json/.test(type);
    const got = isElsewhere
      ? await this.#fromElsewhere(this.#parsed(status, body, elsewhereSchema), signal)
      : await this.#archive(skill.slug, { version, status, body }, signal);
    const { read, verified, place } = got;
    const source = { ref: `${this.name}/${skill.slug}`, kind: this.kind, market: this.name, from: place ?? from, publisher: owner?.handle ?? null, commit: read.commit, archiveSha256: read.archiveSha256, verified, signer: null } as const; // prettier-ignore
    return { read, source, risks: [...suspicions(moderation), ...leftOutRisk(read.leftOut)] };
  }

  /** The registry publishes no hashes in advance, so it is asked whether this content belongs to the version. */
  async #archive(slug: string, { version, status, body }: { version: string | null; status: number; body: Buffer }, signal: AbortSignal) {
    if (status !== 200) throw this.#failed(status, body);
    const read = readArchive(body);
    const print = fingerprint(read.files);
    const { match } = await this.#ask(`resolve?slug=${encodeURIComponent(slug)}&hash=${print}`, resolveSchema, signal);
    if (match === null || (version !== null && match.version !== version))
      throw refusal(`the registry does not know this content as version ${version ?? 'latest'}: its fingerprint is ${print}`);
    return { read, verified: `The registry confirmed its fingerprint as that of version ${match.version}.`, place: null };
  }

  async #fromElsewhere({ archiveUrl, contentHash, path, commit }: z.infer<typeof elsewhereSchema>, signal: AbortSignal) {
    const bytes = await fetched(this.#web, archiveUrl, signal);
    const read: ReadPackage = readArchive(bytes, path === '' || path === '.' ? null : path);
    const actual = contentHashOf(read.files);
    if (actual !== contentHash.replace(/^sha256:/, '')) throw refusal(`its content is not what the registry pinned: ${actual}`);
    return {
      read: { ...read, commit: read.commit ?? commit },
      verified: 'Its content has the hash that the registry pinned.',
      place: archiveUrl,
    };
  }

  async #ask<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const { status, body } = await this.#web.ask(`${this.#base}/api/v1/${path}`, signal);
    return this.#parsed(status, body, schema);
  }

  #parsed<T>(status: number, body: Buffer, schema: z.ZodType<T>): T {
    if (status !== 200) throw this.#failed(status, body);
    const parsed = schema.safeParse(jsonIn(body.toString('utf8')));
    if (!parsed.success) throw new AppError('fetch_failed', `${hostOf(this.#base)} answered in a form that is not ClawHub's.`);
    return parsed.data;
  }

  /** The registry reports errors as a sentence for people. */
  #failed(status: number, body: Buffer): AppError {
    const said = body.toString('utf8').trim().slice(0, 200);
    const hint = status === 429 ? 'Wait a minute; the registry limits how often it may be asked.' : 'Nothing was changed.';
    return new AppError('fetch_failed', `${hostOf(this.#base)} answered ${status}${said === '' ? '' : ` (${said})`}.`, { hint });
  }
}

function suspicions(moderation: Listed['moderation']): SkillRisk[] {
  if (moderation?.isSuspicious !== true) return [];
  const reasons = moderation.reasonCodes?.join(', ') ?? moderation.verdict ?? '';
  return [risk('danger', 'registry-suspects', `The registry calls it suspicious${reasons === '' ? '' : `: ${reasons}`}.`)];
}

/** ClawHub's fingerprint: the hash of the lines `path:sha256`, sorted by path, without paths that contain a part with a leading dot. */
export function fingerprint(files: ReadonlyMap<string, Uint8Array>): string {
  const lines = [...files].filter(([path]) => !path.split('/').some((part) => part.startsWith('.')));
  return sha256Of(
    sorted(lines)
      .map(([path, content]) => `${path}:${sha256Of(content)}`)
      .join('\n'),
  );
}

export function contentHashOf(files: ReadonlyMap<string, Uint8Array>): string {
  return sha256Of(
    sorted([...files])
      .map(([path, content]) => `${path}\0${content.length}\0${sha256Of(content)}`)
      .join('\n'),
  );
}

function sorted(files: readonly (readonly [string, Uint8Array])[]): readonly (readonly [string, Uint8Array])[] {
  return files.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
