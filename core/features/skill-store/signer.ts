// Reads the Sigstore bundle next to an archive, `ARCHIVE.sigstore.json`, and returns the signer. The plan compares the signer with that of
// the installed version.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SkillSigner, SkillSource } from '../../contracts/features/skill-store.ts';
import { refusal } from './package-paths.ts';
import { hostOf, type StoreWeb } from './store-web.ts';

/**
 * `from` is the path or the address of the archive. Returns null if the archive is not signed. Fails with denied if the signature is
 * invalid.
 */
export type FindSigner = (archive: Buffer, from: string, signal: AbortSignal) => Promise<SkillSigner | null>;

const BUNDLE_BYTES_MAX = 1_000_000;
const ending = '.sigstore.json';

/** `roots` are the paths of additional trusted_root.json files. */
export function signerFinder(web: StoreWeb, roots: readonly string[]): FindSigner {
  return async (archive, from, signal) => {
    const bundle = /^https?:/.test(from) ? await fromWeb(web, from, signal) : fromFile(`${from}${ending}`);
    if (bundle === null) return null;
    if (bundle.length > BUNDLE_BYTES_MAX) throw refusal('the signature beside it is larger than 1 MB');
    const { signerOf } = await import('./sigstore.ts');
    return signerOf(archive, bundle, roots.map(readRoot));
  };
}

async function fromWeb(web: StoreWeb, from: string, signal: AbortSignal): Promise<Buffer | null> {
  if (/[?#]/.test(from)) return null;
  const { status, body } = await web.ask(`${from}${ending}`, signal);
  if (status === 200) return body;
  if (status === 404 || status === 410 || status === 403) return null;
  throw new AppError('fetch_failed', `${hostOf(from)} answered ${status} when asked for a signature.`, {
    hint: 'Nothing was changed. Try again later.',
  });
}

function fromFile(path: string): Buffer | null {
  if (!existsSync(path)) return null;
  return statSync(path).size > BUNDLE_BYTES_MAX ? Buffer.alloc(BUNDLE_BYTES_MAX + 1) : readFileSync(path);
}

function readRoot(path: string): unknown {
  const json = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : null;
  if (json?.ok === true) return json.value;
  throw new AppError('invalid_params', `${path} holds no trusted root of Sigstore.`, { hint: 'Look at skills.trustRoots in config.yaml.' });
}

/**
 * Refuses an unsigned or differently signed version if the installed one is signed. Builds of one workflow may differ only in their git
 * ref.
 */
export function assertSameSigner(name: string, old: SkillSource, now: SkillSource): void {
  if (old.signer === null) return;
  const publisherOf = ({ identity, issuer }: SkillSigner): string => `${identity.replace(/@refs\/.*$/s, '')} (${issuer})`;
  const had = publisherOf(old.signer);
  if (now.signer !== null && publisherOf(now.signer) === had) return;
  const what = now.signer === null ? 'is not signed' : `is signed by ${publisherOf(now.signer)}`;
  throw new AppError('denied', `${name} was signed by ${had}, and this ${what}.`, {
    hint: `Nothing was installed. If you know that its publisher changed: remove ${name}, then install it again.`,
  });
}
