// The corpus of hostile command lines and a short run of the fuzzer, with controls that both detect a judge that is too lenient.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowedByCorpus, CommandRig, fuzzCommands, isFree, readCorpus } from './fuzz-commands.ts';
import { canary, CommandTree } from './command-tree.ts';
import { needs } from '../needs.ts';
import { soak } from '../soak.ts';

const confined = needs('bubblewrap');
const LINES = soak(4_000, 20_000);

const corpus = readCorpus();
let rig: CommandRig;
beforeAll(() => {
  rig = new CommandRig();
});
afterAll(() => rig.dispose());

function trapsSprung(workspace: string): string[] {
  // Without withFileTypes Node follows links, and a link of this tree leads back into it.
  return readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name === 'PWNED')
    .map(({ parentPath }) => parentPath);
}

/** The lines of the corpus that a judge decides wrongly. */
function wrongOf(judge: (line: string) => boolean): string[] {
  return corpus
    .filter(({ cmd, expect: wanted }) => judge(cmd) !== (wanted === 'allow'))
    .map(({ cmd, expect: wanted }) => `${wanted}: ${cmd}`);
}

test('every hostile line of the corpus needs approval, and no ordinary one does', () => {
  expect(corpus.length).toBeGreaterThan(60);
  expect(wrongOf((line) => isFree(rig.facts(line), allowedByCorpus))).toEqual([]);
  // A kind of check that was fooled elsewhere: it only compares the beginning of the line with the list.
  const naive = wrongOf((line) => allowedByCorpus.some((entry) => line === entry || line.startsWith(`${entry} `)));
  expect(naive.length).toBeGreaterThan(20);
});

test('allowed lines of the corpus run without traps, changes or secrets', async () => {
  const before = rig.tree.picture();
  let ran = 0;
  for (const { cmd } of corpus) {
    if (!isFree(rig.facts(cmd), allowedByCorpus)) continue;
    ran += 1;
    expect(await rig.run(cmd)).not.toContain(canary);
  }
  expect(ran).toBe(corpus.filter(({ expect: wanted }) => wanted === 'allow').length);
  expect({ sprung: trapsSprung(rig.tree.root), isSame: rig.tree.picture() === before }).toEqual({ sprung: [], isSame: true });
});

test('the traps of the corpus work: bash triggers them when it runs these lines', { ...confined, timeout: 60_000 }, () => {
  const tree = new CommandTree();
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-live-'));
  try {
    const sprung = corpus.filter(({ cmd, expect: wanted }, index) => {
      if (wanted !== 'ask') return false;
      // Background work of a line may still be running when the next one begins.
      const place = join(folder, String(index));
      cpSync(tree.workspace, place, { recursive: true, verbatimSymlinks: true });
      const sandbox = [
        '--ro-bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
        '--tmpfs',
        '/tmp',
        '--bind',
        place,
        '/tmp/run',
        '--unshare-all',
        '--die-with-parent',
        '--chdir',
        '/tmp/run',
      ];
      const shell = ['/bin/bash', '--noprofile', '--norc', '-c', cmd.replaceAll('\0', '')];
      spawnSync('bwrap', [...sandbox, ...shell], { stdio: 'ignore', timeout: 10_000, env: { PATH: '/usr/bin:/bin', HOME: '/tmp/run' } });
      return existsSync(join(place, 'PWNED')) || existsSync(join(place, 'calc.exe'));
    });
    expect(sprung.length).toBeGreaterThan(35);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    tree.dispose();
  }
});

test(`of ${LINES} lines none is wrongly allowed`, { ...confined, timeout: 600_000 }, async () => {
  const sample = soak(60, 200);
  const report = await fuzzCommands({ lines: LINES, seed: 20, sample, askedSample: sample / 10 }, rig);
  expect(report).toMatchObject({ comparedWithBash: sample, ran: sample, escapes: [] });
  expect(report.ranWriting).toBeGreaterThan(sample / 4);
  // A run that allows or refuses hardly anything would prove little.
  expect(report.free).toBeGreaterThan(LINES / 25);
  expect(report.plain - report.free).toBeGreaterThan(LINES / 25);
});

test('a judge that checks only the first word is detected', { ...confined, timeout: 120_000 }, async () => {
  const isListed = (line: string): boolean => allowedByCorpus.includes(line.split(/\s/)[0] ?? '');
  const report = await fuzzCommands(
    { lines: 1500, seed: 3, sample: 60, askedSample: 5, judge: (_, line) => isListed(line), runs: false },
    rig,
  );
  expect(report.escapes.length).toBeGreaterThan(20);
});
