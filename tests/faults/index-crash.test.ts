// Kills at random moments while a folder is indexed, while it changes, and with vector search switched off and on in between: afterwards
// the index equals that of a program that was never killed. Few kills in every run, many in the long one.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbeddingServer } from '../doubles/hashed-embedder.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import { ChangingFolder, damage, hashesOf, live, pictureOf, type Life } from './index-crash-rig.ts';
import { TestHome } from './test-home.ts';
import { soak } from '../soak.ts';

const KILLS = soak(4, 100);
const FILES = KILLS > 10 ? 400 : 120;
/** Long enough for a change to be detected, read and embedded. */
const STAY_MS = 1_500;

interface Times {
  readonly beforeOpenMs: number;
  readonly wholeMs: number;
}

function nextLife(random: Random, folder: ChangingFolder, { beforeOpenMs, wholeMs }: Times): Life {
  const embeds = !random.chance(0.2);
  const kind = random.below(6);
  if (kind === 0) return { embeds, killAfterMs: -1 - random.below(Math.round(beforeOpenMs)) };
  if (kind <= 2) return { embeds, killAfterMs: random.below(STAY_MS), meanwhile: () => folder.change() };
  for (let i = 0; i < FILES / 4; i++) folder[random.chance(0.2) ? 'rename' : 'change']();
  return { embeds, killAfterMs: random.below(Math.round(wholeMs)) };
}

test(
  `${KILLS} kills during indexing leave the index of a program that was never killed`,
  async () => {
    const random = createRandom(Number(process.env['TRAYCLAW_SEED'] ?? 11));
    const server = await startEmbeddingServer();
    onTestFinished(() => server.close());
    server.answerAfterMs = 15;
    const homes = [new TestHome(), new TestHome(), new TestHome()] as const;
    onTestFinished(async () => void (await Promise.all(homes.map((home) => home.dispose()))));
    const [killed, never, fresh] = homes;
    mkdirSync(killed.workspace, { recursive: true });
    const folder = new ChangingFolder(join(killed.workspace, 'docs'), random, FILES);
    const wholeLife = { killAfterMs: null, embeds: true };

    const first = await live(never, folder.path, server, wholeLife);
    const times = { beforeOpenMs: first.livedMs - first.openMs, wholeMs: first.openMs };
    server.asked.length = 0;

    let kills = 0;
    let lost = 0;
    let onDisk = new Set<string>();
    for (let lives = 0; kills < KILLS && lives < KILLS * 3; lives++) {
      const life = nextLife(random, folder, times);
      if ((await live(killed, folder.path, server, life)).killed) kills += 1;
      const texts = server.asked.splice(0).flat();
      // In one run no text is sent twice, and no text whose vector was on the disk at the start.
      expect(texts.length).toBe(new Set(texts).size);
      expect(texts.filter((text) => hashesOf(text).some((one) => onDisk.has(one)))).toEqual([]);
      const { faults, vectors } = pictureOf(killed);
      expect({ lives, life, faults }).toEqual({ lives, life, faults: [] });
      lost += texts.filter((text) => !hashesOf(text).some((one) => vectors.has(one))).length;
      onDisk = new Set(vectors.keys());
    }
    expect(kills).toBe(KILLS);

    for (const home of homes) expect(await live(home, folder.path, server, wholeLife)).toMatchObject({ killed: false });
    const expected = pictureOf(fresh);
    expect(expected.documents).toHaveLength(folder.size);
    expect(pictureOf(never)).toEqual(expected);
    expect(pictureOf(killed)).toEqual(expected);
    if (KILLS > 10)
      process.stdout.write(`${JSON.stringify({ kills, documents: folder.size, passages: expected.passages.length, lost })}\n`);
  },
  60_000 + KILLS * 30_000,
);

test('the picture detects what it is meant to detect', async () => {
  const server = await startEmbeddingServer();
  onTestFinished(() => server.close());
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const folder = new ChangingFolder(join(home.workspace, 'docs'), createRandom(1), 3);
  await live(home, folder.path, server, { killAfterMs: null, embeds: true });
  expect(pictureOf(home).faults).toEqual([]);
  damage(home);
  expect(pictureOf(home).faults).toEqual([
    '1 passages that are there twice',
    '1 passages without words',
    '1 words of no passage',
    '1 signs of no passage',
    '1 passages that have signs and do not say so',
    '1 vectors of no text',
  ]);
});
