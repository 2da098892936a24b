// Reading and linting of SKILL.md: what is tolerated, what is refused, and that each finding says what is wrong.

import { expect, test } from 'vitest';
import { readSkillFile } from './skill-file.ts';
import { readHead, toSkillName } from './skill-head.ts';
import { lintTools, lintSkill } from './skill-lint.ts';

function read(source: string) {
  const result = readSkillFile(source);
  if (!result.ok) throw new Error(result.error.reason);
  return result.value;
}

function lint(source: string, { folderName = 'weather', files = ['SKILL.md'], fileName = 'SKILL.md' } = {}) {
  const file = read(source);
  const head = readHead(file.head, folderName, file.body);
  return [...lintSkill({ file, head, folderName, fileName, files }), ...lintTools(head, new Set(['exec']))];
}

const clean = '---\nname: weather\ndescription: Tells the weather of a place. Use for forecasts.\n---\n\nLook it up.\n';

test('a valid skill has no findings', () => {
  expect(lint(clean)).toEqual([]);
});

test.each([
  ['a byte order mark and Windows line ends', `\uFEFF${clean.replaceAll('\n', '\r\n')}`],
  ['an unquoted colon', clean.replace('Tells the weather', 'Use when: asked for the weather')],
  ['a key twice', clean.replace('description:', 'description: an older one\ndescription:')],
  [
    'metadata over several lines as JSON',
    clean.replace('---\n\n', 'metadata:\n  {\n    "openclaw": { "requires": { "bins": ["curl"], }, },\n  }\n---\n\n'),
  ],
])('is read in spite of %s', (_what, source) => {
  const file = read(source);
  expect(readHead(file.head, 'weather', file.body)).toMatchObject({ name: 'weather' });
  expect(file.body).toBe('Look it up.');
});

test('front matter that is not YAML is read line by line', () => {
  const file = read('---\nname: weather\ndescription: Tells it.\n  bad: [1, 2\n---\nGo.');
  expect(file.head).toMatchObject({ name: 'weather', description: 'Tells it.' });
  expect(file.flaws.map(({ rule }) => rule)).toEqual(['head-yaml', 'head-lines']);
});

test.each([
  ['no head', '# Weather\n\nText.', 'It has no head.'],
  ['a head without an end', '---\nname: x\n', 'Its head begins with --- and never ends.'],
  ['a binary file', '---\nname: x\n---\n\0', 'It is not a text file.'],
  ['an empty head', '---\n---\ntext', 'Nothing in its head could be read.'],
  [
    'the layers shape',
    '# error_budget\n\n## What it does\nCounts.',
    'It has the shape of the layers project (no head, sections such as "## What it does").',
  ],
])('%s is refused with a reason', (_what, source, reason) => {
  const result = readSkillFile(source);
  expect(result.ok ? 'read' : result.error.reason).toBe(reason);
  expect(result.ok ? '' : result.error.hint).not.toBe('');
});

test('YAML aliases cannot expand the front matter without limit', () => {
  const bomb = `---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\nname: bomb\ndescription: Bombs.\n---\ntext`;
  expect(read(bomb).head).toMatchObject({ name: 'bomb', description: 'Bombs.' });
});

test.each([
  ['name: Weather_Now\ndescription: Tells the weather of a place.', ['name-form', 'name-folder']],
  ['description: Tells the weather of a place.', ['name-missing']],
  ['name: weather', ['description-missing']],
  ['name: weather\ndescription: Short.', ['description-short']],
  [`name: weather\ndescription: ${'long '.repeat(250)}`, ['description-long']],
  ['name: weather\ndescription: Tells the weather of a place.\nhomepage: https://example.org', ['head-key']],
  ['name: weather\ndescription: Tells the weather of a place.\nmodel: big', ['head-key']],
  ['name: weather\ndescription: Tells the weather of a place.\nallowed-tools: [Read]', ['allowed-tools-form', 'allowed-tools']],
  ['name: weather\ndescription: Tells the weather of a place.\nmetadata:\n  other: {a: 1}', ['metadata-nested']],
  [
    'name: weather\ndescription: Tells the weather of a place.\nmetadata:\n  version: two\n  trayclaw-tools: exec fly',
    ['version-form', 'tool-unknown'],
  ],
  ['name: weather\ndescription: Tells the weather of a place.\nmetadata:\n  remove-after: soon', ['remove-after-form']],
  ['name: weather\ndescription: Tells the weather of a place.\ncompatibility: 3', ['compatibility-form']],
])('reports violations of the standard: %s', (head, rules) => {
  const findings = lint(`---\n${head}\n---\n\nText.\n`);
  expect(findings.map(({ rule }) => rule)).toEqual(rules);
  for (const { message } of findings) expect(message).toMatch(/^["\w].{15,}\.$/s);
});

test('dead, deep and outside links are reported with their line, without opening them', () => {
  const body =
    'See [a](a.md), [b](missing.md),\n[c](../other/x.md) and [d](deep/er/x.md).\n\n```\n[not](a link)\n```\n[web](https://example.org)';
  const source = `---\nname: weather\ndescription: Tells the weather of a place.\n---\n\n${body}\n`;
  const found = lint(source, { files: ['SKILL.md', 'a.md', 'deep/er/x.md'] });
  expect(found.map(({ rule, line }) => [rule, line])).toEqual([
    ['link-dead', 6],
    ['link-outside', 7],
    ['link-deep', 7],
  ]);
});

test('reads the extensions of OpenClaw, newest block first', () => {
  const file = read(
    `---\nname: weather\ndescription: d\nuser-invocable: false\ndisable-model-invocation: true\nmetadata: {"clawdbot":{"os":["win32"]},"openclaw":{"always":true,"os":["macos","linux"],"requires":{"bins":["curl"],"anyBins":["a","b"],"env":["KEY"],"config":["web.search"]},"envVars":[{"name":"TOKEN","required":true},{"name":"X"}],"install":[{"kind":"brew","formula":"curl","bins":["curl"]}]}}\n---\nb`,
  );
  expect(readHead(file.head, 'weather', file.body)).toMatchObject({
    userInvocable: false,
    modelInvocable: false,
    needs: {
      always: true,
      os: ['darwin', 'linux'],
      bins: ['curl'],
      anyBins: ['a', 'b'],
      env: ['KEY', 'TOKEN'],
      config: ['web.search'],
      install: [['curl', 'brew install curl']],
    },
  });
});

test('converts any name to a valid one, or to an empty one', () => {
  expect(['My Skill!', 'error_budget', 'Überblick', '--a--b--', '天气', 'x'.repeat(80)].map(toSkillName)).toEqual([
    'my-skill',
    'error-budget',
    'u-berblick',
    'a-b',
    '',
    'x'.repeat(64),
  ]);
});
