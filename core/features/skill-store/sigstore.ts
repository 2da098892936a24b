// Verifies who signed an archive: checks a Sigstore bundle against the certificates and logs it must come from, without network access.
// Loaded only if there is a bundle.

import { bundleFromJSON, type Bundle } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import type { SkillSigner } from '../../contracts/features/skill-store.ts';
import { refusal } from './package-paths.ts';
import { sha256Of } from './read-package.ts';
import { publicRoot } from './sigstore-root.ts';

const statementSchema = z.object({ subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })).max(10_000) });

/** `roots` are trusted in addition to the public services. Fails with denied if the bundle is not valid for this archive. */
export function signerOf(archive: Buffer, bundleText: Buffer, roots: readonly unknown[]): SkillSigner {
  const problems: string[] = [];
  for (const root of [publicRoot, ...roots]) {
    try {
      return verified(archive, bundleFromJSON(parsed(bundleText)), root);
    } catch (cause) {
      problems.push(cause instanceof Error ? cause.message : 'it cannot be read');
    }
  }
  throw refusal(`the signature beside it does not hold (${[...new Set(problems)].join('; ')})`);
}

function verified(archive: Buffer, bundle: Bundle, root: unknown): SkillSigner {
  const material = toTrustMaterial(TrustedRoot.fromJSON(root));
  const { identity } = new Verifier(material).verify(toSignedEntity(bundle, archive));
  if (bundle.content.$case === 'dsseEnvelope') assertNames(bundle.content.dsseEnvelope, sha256Of(archive));
  const who = identity?.subjectAlternativeName;
  const issuer = identity?.extensions?.issuer;
  if (who === undefined || issuer === undefined) throw new Error('it does not say who signed');
  return { identity: who, issuer };
}

/** If a statement about files was signed instead of the file itself, it must name this archive. */
function assertNames({ payload, payloadType }: { readonly payload: Buffer; readonly payloadType: string }, sha256: string): void {
  const statement = payloadType === 'application/vnd.in-toto+json' ? statementSchema.safeParse(parsed(payload)) : null;
  const isAbout = statement?.data?.subject.some(({ digest }) => digest['sha256'] === sha256) === true;
  if (!isAbout) throw new Error('it is about another file');
}

function parsed(text: Buffer): unknown {
  const json = parseJson(text.toString('utf8'));
  if (!json.ok) throw new Error('it is no JSON');
  return json.value;
}
