// Random git commands that show history: one that runs without approval must not show the key that the past of the repository holds.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { soak } from '../soak.ts';
import { canary } from './command-tree.ts';
import { CommandRig, isFree } from './fuzz-commands.ts';
import { createRandom } from './random.ts';

const RUNS = soak(120, 600);
const flags =
  '-p -u --stat -1 -2 -3 -n -n1 -n2 --max-count=2 -n-1 -n1k --oneline --all --branches --reverse --skip=1 -S CANARY -G CANARY --no-merges --cached --staged -R -a -U50 -W --follow --graph --first-parent --name-only -s --since=2000-01-01 --author=x --format=%H%n%b --raw --numstat -z --check --word-diff --pickaxe-all --root -m -c --cc --full-diff --merge-base --relative --no-renames -M --left-right --boundary --diff-filter=D -i -E --date=iso --no-notes'.split(
    ' ',
  );
const revisions =
  'HEAD HEAD~1 HEAD~2 HEAD~3 HEAD^ HEAD^^ @ @~1 main main~1 main..HEAD HEAD~1.. HEAD~2.. HEAD~3.. HEAD~3..HEAD~2 ..HEAD~1 HEAD~1...HEAD HEAD~2^! HEAD~1^@ HEAD^{tree} HEAD~2:sub HEAD~2:sub/.env :sub/.env src sub README.md . -- ^HEAD~3 --not refs/heads/main heads/main HEAD@{0} HEAD@{1} @{-1} --stdin'.split(
    ' ',
  );

let rig: CommandRig;
beforeAll(() => {
  rig = new CommandRig();
});
afterAll(() => rig.dispose());

test(`of ${RUNS} git commands that run without approval none shows a removed key`, { timeout: 600_000 }, async () => {
  const random = createRandom(31);
  const ids = (await rig.run('git log --format=%H')).match(/[0-9a-f]{40}/g) ?? [];
  expect(ids.length).toBe(4);
  const named = [...revisions, ...ids, ...ids.map((id) => id.slice(0, 7))];
  const seen = new Set<string>();
  const counts = { ran: 0, showedContent: 0, asked: 0 };
  while (counts.ran < RUNS) {
    const words = ['git', random.pick(['show', 'log', 'log -p', 'diff', 'show', 'log -p'])];
    for (let count = random.below(4); count > 0; count--) words.push(random.pick(flags));
    for (let count = random.below(3); count > 0; count--) words.push(random.pick(named));
    const line = words.join(' ');
    if (seen.has(line)) continue;
    seen.add(line);
    if (!isFree(rig.facts(line), [])) {
      counts.asked += 1;
      continue;
    }
    const output = await rig.run(line);
    expect({ line, shows: output.includes(canary) }).toEqual({ line, shows: false });
    counts.ran += 1;
    if (output.includes('diff --git')) counts.showedContent += 1;
  }
  expect(counts.showedContent).toBeGreaterThan(RUNS / 12);
  expect(counts.asked).toBeGreaterThan(RUNS);
});
