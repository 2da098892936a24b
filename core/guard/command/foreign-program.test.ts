import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookAtLine } from './line-risks.ts';

let folder = '';
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-foreign-')));
  for (const name of ['run.sh', 'main.py']) writeFileSync(join(folder, name), '');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { test: 'vitest', build: 'tsc' } }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const foreign = (line: string): string | null => lookAtLine(line, folder, null).foreign;

test.each([
  ['gh issue view 7', 'gh'],
  ['gh pr view 7 --comments', 'gh'],
  ['gh api repos/a/b', 'gh'],
  ['glab issue view 7', 'glab'],
  ['kubectl logs web', 'kubectl'],
  ['docker logs web', 'docker'],
  ['npm view left-pad', 'npm'],
  ['npm install', 'npm'],
  ['psql -c "select body from mails"', 'psql'],
  ['git clone https://example.org/a.git', 'git'],
  ['git pull', 'git'],
  ["sqlite3 a.db '.shell gh issue list'", 'sqlite3'],
  ['ip netns exec a gh issue list', 'ip'],
  ['hostnamectl -H far status', 'hostnamectl'],
  ['git fetch && git log', 'git'],
  ['curl -s https://example.org | tar xz', 'curl'],
  ['ls && sudo gh issue list', 'gh'],
  ['timeout 5 gh issue list', 'gh'],
  ["bash -c 'gh issue list'", 'gh'],
  ['find . -name a -exec gh issue view {} ;', 'gh'],
  ['echo "$(gh issue view 7)"', 'gh'],
  ['./cat README.md', 'cat'],
  ['node missing.mjs', 'node'],
  ['node ../fetch.mjs', 'node'],
  [`node -e "fetch('http://x')"`, 'node'],
  ['python3 -m http.client', 'python3'],
  ['npx cowsay', 'npx'],
  ['$TOOL issue view', '$TOOL'],
  ['bash fetch.sh', 'bash'],
  ['ssh box cat notes', 'ssh'],
])('%s may bring in text by %s', (line, program) => {
  expect(foreign(line)).toBe(program);
});

test.each([
  'npm test 2>&1 | tail -20',
  'npm run build',
  'cargo test --release',
  'go test ./...',
  'pytest -q',
  'make',
  'mkdir -p out && cp -r src out',
  "sed -i 's/a/b/' notes.md",
  'for f in *.md; do wc -l "$f"; done',
  'cd src && grep -rn TODO . | sort | uniq -c',
  'git add -A && git commit -m "Work"',
  'git log -p --stat',
  'gh --version',
  './run.sh --fast',
  'python3 main.py',
  'bash run.sh',
  'sudo rm -rf build',
  'echo done > log.txt',
])('%s is local', (line) => {
  expect(foreign(line)).toBeNull();
});
