import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SafetyChecks } from '../../guard/safety/safety.ts';
import { CheckedPaths } from './checked-paths.ts';
import { realPathFileSystem } from './file-system-port.ts';
import { createGrep } from './grep.ts';
import { PathFacts } from './path-facts.ts';
import { createToolBench } from '../../../tests/rigs/tool-bench.ts';

const bench = createToolBench();
afterAll(() => bench.dispose());

function put(path: string, content: string | Uint8Array): void {
  const file = join(bench.workspace, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

put('.gitignore', 'dist/\n*.log\n!keep.log\n');
put('src/a.ts', 'const Alpha = 1;\nconst beta = 2;\n');
put('src/deep/b.ts', 'import { Alpha } from "../a";\r\nalpha();\n');
put('src/deep/.gitignore', 'hidden.ts\n!special.log\n');
put('src/deep/hidden.ts', 'Alpha');
put('src/deep/special.log', 'Alpha\n');
put('src/.config.ts', 'x');
put('dist/out.ts', 'Alpha');
put('noise.log', 'Alpha');
put('keep.log', 'Alpha');
put('.git/HEAD', 'Alpha');
put('.env', 'ALPHA_KEY=Alpha');
put('.ssh/id', 'Alpha');
put('picture.png', Buffer.from('Alpha\0'));
put('lines.txt', Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join('\n'));
mkdirSync(join(bench.root, 'outside'));
writeFileSync(join(bench.root, 'outside/x.ts'), 'Alpha');
symlinkSync(join(bench.root, 'outside'), join(bench.workspace, 'link'));
symlinkSync('src/a.ts', join(bench.workspace, 'link.ts'));

const glob = async (args: Readonly<Record<string, unknown>>) => (await bench.call('glob', args)).forModel;
const grep = async (args: Readonly<Record<string, unknown>>) => (await bench.call('grep', args)).forModel;

test('glob finds files by pattern, obeying .gitignore at every depth', async () => {
  expect(await glob({ pattern: '**/*.ts' })).toBe('link.ts\nsrc/.config.ts\nsrc/a.ts\nsrc/deep/b.ts\n[1 protected folder left out]');
  expect(await glob({ pattern: '**/*.log' })).toMatch(/^keep.log\nsrc\/deep\/special.log\n/);
  expect(await glob({ pattern: '*.{ts,txt}' })).toMatch(/^lines.txt\nlink.ts\n/);
  expect(await glob({ pattern: './deep/*', path: 'src' })).toBe('src/deep/.gitignore\nsrc/deep/b.ts\nsrc/deep/special.log');
  expect(await glob({ pattern: '*', path: join(bench.root, 'outside') })).toBe(join(bench.root, 'outside/x.ts'));
  expect(await glob({ pattern: '*.none', path: join(bench.root, 'outside') })).toBe('No file matches.');
});

test('a pattern finds names in both Unicode forms', async () => {
  const folder = join(bench.root, 'outside', 'names');
  mkdirSync(folder);
  for (const name of ['re\u0301sume\u0301.md', 'r\u00e9sum\u00e9 2.md']) writeFileSync(join(folder, name), 'text');
  for (const pattern of ['r\u00e9*', 're\u0301*']) {
    expect((await glob({ pattern, path: folder })).split('\n')).toHaveLength(2);
    expect((await grep({ pattern: 'text', glob: pattern, path: folder })).split('\n')).toHaveLength(2);
  }
});

test('glob accepts no pattern that leaves its folder', () => {
  for (const pattern of ['../*', '/etc/*', 'a/../../*']) expect(bench.host.parse('glob', JSON.stringify({ pattern })).ok).toBe(false);
});

test('a search inside a repository obeys the rules above its folder', async () => {
  expect(await glob({ pattern: '*', path: 'src/deep' })).not.toContain('noise');
  put('src/deep/inner.log', 'x');
  expect(await glob({ pattern: '*.log', path: 'src/deep' })).toBe('src/deep/special.log');
});

test('grep shows path, line and text, and mentions what it left out', async () => {
  expect(await grep({ pattern: 'Alpha' })).toBe(
    [
      'keep.log:1:Alpha',
      'src/a.ts:1:const Alpha = 1;',
      'src/deep/b.ts:1:import { Alpha } from "../a";',
      'src/deep/special.log:1:Alpha',
      '[1 protected folder left out; 1 protected file left out]',
    ].join('\n'),
  );
  expect(await grep({ pattern: 'alpha', ignoreCase: true, glob: '*.ts', path: 'src' })).toBe(
    'src/a.ts:1:const Alpha = 1;\nsrc/deep/b.ts:1:import { Alpha } from "../a";\nsrc/deep/b.ts:2:alpha();',
  );
  expect(await grep({ pattern: '(?i)BETA', path: 'src/a.ts' })).toBe('src/a.ts:2:const beta = 2;');
  expect(await grep({ pattern: '^alpha\\(\\);$', path: 'src' })).toBe('src/deep/b.ts:2:alpha();');
  expect(await grep({ pattern: 'nowhere', path: join(bench.root, 'outside') })).toBe('No line matches.');
});

test('grep shows the context lines of a match once', async () => {
  expect(await grep({ pattern: 'line (3|4|10)$', path: 'lines.txt', context: 1 })).toBe(
    'lines.txt-2-line 2\nlines.txt:3:line 3\nlines.txt:4:line 4\nlines.txt-5-line 5\n--\nlines.txt-9-line 9\nlines.txt:10:line 10\nlines.txt-11-line 11',
  );
});

test('an ignored folder is searched if it was named explicitly, and is mentioned if nothing else was found', async () => {
  mkdirSync(join(bench.workspace, '.git'), { recursive: true });
  expect(await glob({ pattern: '**/*.ts', path: 'dist' })).toBe('dist/out.ts');
  expect(await grep({ pattern: 'Alpha', path: 'dist' })).toBe('dist/out.ts:1:Alpha');
  expect(await glob({ pattern: '*.ts', path: 'src/deep' })).toBe('src/deep/b.ts');
  expect(await glob({ pattern: 'dist/*.ts' })).toMatch(
    /^No file matches\.\n\[\d+ entries of \.gitignore left out; name such a folder as "path" to search in it/,
  );
});

test('a protected file is read if it was named explicitly', async () => {
  expect(await grep({ pattern: 'KEY', path: '.env' })).toBe('.env:1:ALPHA_KEY=Alpha');
});

test('grep reads long files and endless lines in pieces', async () => {
  const filler = `${'x'.repeat(99)}\n`.repeat(9000);
  put('big/long.txt', `${filler}needle ü at the end\n${'y'.repeat(1_200_000)}needle\nneedle again`);
  const found = await grep({ pattern: 'needle', path: 'big' });
  expect(found).toBe('big/long.txt:9001:needle ü at the end\nbig/long.txt:9003:needle again\n[1 very long line searched only in part]');
});

test('grep shows what surrounds a match far into a long line, without its secrets', async () => {
  const key = 'sk-ant-api03-' + 'Zq7'.repeat(30);
  put('big/records.jsonl', `{"pad":"${'😀'.repeat(200_000)}","key":"${key}","near":"needle","tail":"${'z'.repeat(900)}"}`);
  const safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  const redaction = { redact: (text: string) => safety.redact(text).text, unfinishedAt: (text: string) => safety.unfinishedAt(text) };
  const found = (await bench.call('grep', { pattern: 'needle', path: 'big/records.jsonl' }, { redaction })).forModel;
  expect(found).toMatch(/^big\/records\.jsonl:1:….{0,120}"near":"needle","tail":"z+…$/u);
  expect(found.length).toBeLessThan(560);
  expect(found).not.toContain('Zq7');
});

test('grep stops at its limit of lines', async () => {
  put('many/a.txt', 'hit\n'.repeat(400));
  put('many/b.txt', 'hit\n'.repeat(400));
  const lines = (await grep({ pattern: 'hit', path: 'many' })).split('\n');
  expect(lines.filter((line) => line.endsWith(':hit')).length).toBe(500);
  expect(lines.at(-1)).toBe('[stopped after 500 matching lines; use a narrower pattern, path or glob]');
});

test('an expression that never terminates is stopped, and the result says so', async () => {
  put('evil/a.txt', 'fine aaa\n');
  put('evil/b.txt', `${'a'.repeat(60)}!\n`);
  const paths = new CheckedPaths(new PathFacts({ files: realPathFileSystem, userHome: '/nowhere' }));
  bench.host.register({ ...createGrep({ paths, stallMs: 2000 }), name: 'quick_grep' });
  const result = await bench.call('quick_grep', { pattern: '(a+)+$', path: 'evil' });
  expect(result).toMatchObject({ outcome: 'error' });
  expect(result.forModel).toBe(
    'evil/a.txt:1:fine aaa\n[the pattern takes too long on evil/b.txt and was stopped there; use a simpler one]',
  );
});

test('a search that is cancelled ends at once', async () => {
  put('evil/b.txt', `${'a'.repeat(60)}!\n`);
  const controller = new AbortController();
  const running = bench.call('grep', { pattern: '(a+)+$', path: 'evil/b.txt' }, { signal: controller.signal });
  setImmediate(() => controller.abort());
  expect(await running).toMatchObject({ outcome: 'cancelled' });
});

test('a broken expression is explained', async () => {
  expect(await bench.call('grep', { pattern: '(' })).toMatchObject({
    outcome: 'error',
    forModel: 'The pattern is not a valid regular expression: /(/: Unterminated group',
  });
  expect((await bench.call('grep', { pattern: 'x', path: 'missing' })).forModel).toMatch(/there is nothing at this path/);
});
