// The format of secrets.vault: one JSON document in which each value is sealed separately and bound to its name, and all entries are sealed
// together. Derives keys from passphrases, and seals and opens values. Does not access files.

import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto';
import * as z from 'zod';
import { canonicalJson } from '../../base/json.ts';

const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);

/** AES-256-GCM (NIST SP 800-38D): 96-bit nonce, 128-bit tag. */
const boxSchema = z.strictObject({ nonce: base64, tag: base64, data: base64 });
export type Box = z.infer<typeof boxSchema>;

const kdfSchema = z.strictObject({
  name: z.literal('scrypt'),
  /** RFC 7914. Bounded, so that a damaged file cannot use all memory. */
  cost: z
    .number()
    .int()
    .min(2 ** 12)
    .max(2 ** 20),
  blockSize: z.literal(8),
  parallel: z.literal(1),
  salt: base64,
});
export type VaultKdf = z.infer<typeof kdfSchema>;

export const vaultSchema = z.strictObject({
  format: z.literal('trayclaw-vault'),
  version: z.literal(1),
  kdf: kdfSchema,
  /** Opens with the right passphrase and contains nothing. */
  check: boxSchema,
  /** Contains nothing. Bound to every entry, so that entries cannot be removed, restored or swapped unnoticed. */
  seal: boxSchema,
  entries: z.record(z.string().regex(/^[A-Za-z0-9._-]{1,100}$/), boxSchema),
  /** SHA-256 of all fields above. Distinguishes a damaged file from a wrong passphrase. */
  checksum: z.string(),
});
export type VaultFile = z.infer<typeof vaultSchema>;
export type VaultContent = Omit<VaultFile, 'checksum'>;

const KEY_BYTES = 32;
/** 128 MiB and about half a second, as OWASP advises for scrypt (2025). */
export const scryptCostDefault = 2 ** 17;

export function newKdf(cost: number): VaultKdf {
  return { name: 'scrypt', cost, blockSize: 8, parallel: 1, salt: randomBytes(16).toString('base64') };
}

/** Runs off the main thread. Normalizes to Unicode NFKC, so that the same passphrase typed on another keyboard gives the same key. */
export function deriveKey(passphrase: string, kdf: VaultKdf): Promise<Buffer> {
  const options = { N: kdf.cost, r: kdf.blockSize, p: kdf.parallel, maxmem: kdf.cost * kdf.blockSize * 128 * 2 };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), Buffer.from(kdf.salt, 'base64'), KEY_BYTES, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

export function sealBox(key: Buffer, about: string, value: string): Box {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
  const data = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return { nonce: nonce.toString('base64'), tag: cipher.getAuthTag().toString('base64'), data: data.toString('base64') };
}

/** Returns null if the key is wrong, or the box or its associated data was changed. */
export function openBox(key: Buffer, about: string, box: Box): string | null {
  const tag = Buffer.from(box.tag, 'base64');
  const nonce = Buffer.from(box.nonce, 'base64');
  if (tag.length !== 16 || nonce.length !== 12) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 }).setAAD(Buffer.from(about)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(Buffer.from(box.data, 'base64')), decipher.final()]).toString('utf8');
  } catch {
    // The only possible failure is that the box does not authenticate.
    return null;
  }
}

/** Returns the associated data of a box: its kind, its name, and its header. */
export function aboutBox(kind: 'check' | 'entry', name: string, kdf: VaultKdf): string {
  return canonicalJson({ format: 'trayclaw-vault', version: 1, kind, name, kdf });
}

export function aboutSeal(kdf: VaultKdf, entries: VaultFile['entries']): string {
  return canonicalJson({ format: 'trayclaw-vault', version: 1, kind: 'seal', kdf, entries });
}

export function checksumOf(content: VaultContent): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
