// Verification of real signatures: made with the public services, and made by a service that is not trusted.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { signerOf } from './sigstore.ts';

interface Signed {
  readonly archives: readonly string[];
  readonly bundles: readonly unknown[];
  readonly published: { readonly file: string; readonly bundle: unknown; readonly statement: unknown };
}

const signed = JSON.parse(readFileSync(new URL('../../../tests/fixtures/signed-skills.json', import.meta.url), 'utf8')) as Signed;
const issuer = 'https://token.actions.githubusercontent.com';

test('a bundle of an untrusted service is refused', () => {
  const bundle = Buffer.from(JSON.stringify(signed.bundles[0]));
  expect(() => signerOf(Buffer.from(signed.archives[0] ?? '', 'base64'), bundle, [])).toThrow('does not hold');
});

test('a file signed with the public services is verified with the built-in keys', () => {
  const file = Buffer.from(signed.published.file, 'base64');
  const [bundle, statement] = [signed.published.bundle, signed.published.statement].map((one) => Buffer.from(JSON.stringify(one)));
  if (bundle === undefined || statement === undefined) throw new Error('no bundle');
  expect(signerOf(file, bundle, [])).toEqual(signerOf(file, statement, []));
  expect(signerOf(file, bundle, [])).toEqual({
    identity: 'https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main', // prettier-ignore
    issuer,
  });
  expect(() => signerOf(Buffer.concat([file, Buffer.of(0)]), bundle, [])).toThrow('does not hold');
});
