// Signed skills in the whole program: the signature next to an archive is verified without a network, its publisher must stay the same, and
// an invalid one is refused.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';

interface Signed {
  readonly root: unknown;
  readonly archives: readonly string[];
  readonly bundles: readonly Readonly<Record<string, unknown>>[];
  readonly published: { readonly file: string; readonly bundle: unknown; readonly statement: unknown };
}

const signed = JSON.parse(readFileSync(new URL('../fixtures/signed-skills.json', import.meta.url), 'utf8')) as Signed;
const versions = ['1.0.0', '1.1.0', '1.2.0'];
const issuer = 'https://token.actions.githubusercontent.com';

let home: TestHome;
let market: string;

beforeEach(() => {
  home = new TestHome();
  market = mkdtempSync(join(tmpdir(), 'trayclaw-signed-'));
  writeFileSync(join(market, 'root.json'), JSON.stringify(signed.root));
});
afterEach(async () => {
  await home.dispose();
  rmSync(market, { recursive: true, force: true });
});

const open = (): Promise<TrayClaw> =>
  home.open({ config: { skills: { markets: [{ name: 'team', url: market }], trustRoots: [join(market, 'root.json')] } } });

/** Publishes the version with this signature next to it. */
function publish(which: number, bundle: unknown): void {
  const bytes = Buffer.from(signed.archives[which] ?? '', 'base64');
  const path = `notes-${which}.zip`;
  writeFileSync(join(market, path), bytes);
  if (bundle === undefined) rmSync(join(market, `${path}.sigstore.json`), { force: true });
  else writeFileSync(join(market, `${path}.sigstore.json`), JSON.stringify(bundle));
  const entry = { name: 'notes', version: versions[which], path, sha256: createHash('sha256').update(bytes).digest('hex') };
  writeFileSync(join(market, 'index.json'), JSON.stringify({ marketplace: 'team', skills: [entry] }));
}

async function install(claw: TrayClaw): Promise<unknown> {
  const plan = await claw.op('skill.plan', { wants: ['notes'] });
  if (plan.planId !== null) await claw.op('skill.install', { planId: plan.planId });
  return plan.skills[0]?.source.signer;
}

const denied = (why: string) => ({ code: 'denied', message: expect.stringContaining(why) as string });

test('later versions must be signed by the publisher of the first version', async () => {
  const claw = await open();
  publish(0, signed.bundles[0]);
  const identity = 'https://github.com/ann/skills/.github/workflows/release.yml@refs/tags/v1.0.0';
  expect(await install(claw)).toEqual({ identity, issuer });
  publish(1, undefined);
  await expect(install(claw)).rejects.toMatchObject(denied('this is not signed'));
  publish(2, signed.bundles[2]);
  await expect(install(claw)).rejects.toMatchObject(denied('github.com/mallory/skills'));
  publish(1, signed.bundles[1]);
  expect(await install(claw)).toEqual({ identity: identity.replace('1.0.0', '1.1.0'), issuer });
});

test('a signature that is invalid is refused, and a missing one is reported', async () => {
  const claw = await open();
  publish(0, signed.bundles[1]);
  await expect(install(claw)).rejects.toMatchObject(denied('does not hold'));
  publish(0, signed.published.statement);
  await expect(install(claw)).rejects.toMatchObject(denied('about another file'));
  publish(1, signed.bundles[0]);
  await expect(install(claw)).rejects.toMatchObject(denied('does not hold'));
  const changed = JSON.stringify(signed.bundles[0]).replace(/"signature":"(.{20})./, '"signature":"$1_');
  publish(0, JSON.parse(changed));
  await expect(install(claw)).rejects.toMatchObject(denied('does not hold'));
  publish(0, undefined);
  expect(await install(claw)).toBeNull();
});
