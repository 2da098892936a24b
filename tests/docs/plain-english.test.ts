// Rejects phrases that made the documents, the window, comments and test names read like a translation: each hides its subject or has a
// plainer form.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { english } from '../../renderer/lib/i18n/english/whole.ts';
import { documentNames, projectRoot, readDocument, referenceNames } from './documents.ts';

/** Folders whose comments and test names are checked. */
const sourceFolders = ['build', 'core', 'main', 'preload', 'renderer', 'tests'];

/** A phrase, a sentence that contains it, and the same sentence in plain English. */
type Phrase = readonly [phrase: RegExp, riddle: string, plain: string];

const phrases: readonly Phrase[] = [
  [/\bof (?:its|their) own\b/i, 'Each works in a session of its own.', 'Each works in its own session.'],
  [/\bby (?:itself|themselves)\b/i, 'It is sent again by itself.', 'It is resent automatically.'],
  [/\bnobody\b/i, 'Nobody watches such a turn.', 'Such a turn is unattended.'],
  [/\b(?:whoever|somebody)\b/i, 'Whoever holds it can act as you.', 'Anyone with it can act as you.'],
  [/\banew\b/i, 'Read anew', 'Reload'],
  [/\bgo(?:es)? on\b/i, 'It goes on at the next start.', 'It continues at the next start.'],
  [/\bwords of others\b/i, 'It holds words of others.', 'It holds untrusted content.'],
  [/\bstands? (?:for|in|below|there)\b/i, 'It stands in config.yaml.', 'It is in config.yaml.'],
  [/\blooks? after\b/i, 'It looks after its subagents.', 'It manages its subagents.'],
  [/\bbrings? along\b/i, 'The app brings the command along; it can bring along more.', 'The app includes the command.'],
  [/\ball the same\b/i, 'It asks all the same.', 'It still asks.'],
  [
    /(?<!\b(?:there|here) )\b(?:is|was) no (?!(?:longer|more|less|larger|sooner|later|better|other|such|further|one|room|way)\b)[a-z]/i,
    'The file is no picture.',
    'The file is not a picture.',
  ],
  [/\b(?:earlier|wider) yes\b/i, 'Covered by an earlier yes.', 'Covered by a grant.'],
];

/** Phrases checked only in comments and test names. */
const sourcePhrases: readonly Phrase[] = [
  [/^What\b(?!.*\?)/, 'What the tool answers.', 'The answer of the tool.'],
  [/\b(?:is|are|was|were) told\b/i, 'The model is told of it.', 'The model sees it.'],
  [/\b(?:is|are|was|were) handed\b/i, 'It is handed the port.', 'It receives the port.'],
  [/\b(?:is|are|was|were) looked (?:at|for)\b/i, 'The file is looked at once.', 'The file is read once.'],
  [/\bbeside\b/i, 'A file is beside it.', 'A file is next to it.'],
  [/\blies? (?:in|below|above|there|beyond|outside|beside)\b/i, 'It lies in the workspace.', 'It is in the workspace.'],
  [/\bwhose words\b/i, 'It knows whose words these are.', 'It knows the source of the text.'],
  [/\b(?:comes?|came) in(?! (?:any|order|quotes))\b/i, 'A message came in.', 'A message arrived.'],
  [/\bown affair\b/i, 'Its body is its own affair.', 'Only it interprets its body.'],
];

/** The phrases found in a text, with their context. Skips code between backticks. */
function findPhrases(text: string, wanted = phrases): string[] {
  const prose = text
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
    .replaceAll(/\s+/g, ' ');
  return wanted.flatMap(([phrase]) => {
    const found = phrase.exec(prose);
    return found === null ? [] : [found.input.slice(Math.max(0, found.index - 40), found.index + 60)];
  });
}

/** Every text of a catalogue; for a function its source, which contains its text. */
function textsOf(words: object): string[] {
  return Object.values(words).flatMap((value: unknown) => {
    if (typeof value === 'string') return [value];
    if (typeof value === 'function') return [String(value)];
    return typeof value === 'object' && value !== null ? textsOf(value) : [];
  });
}

function sourcesIn(folder: string): string[] {
  const entries = readdirSync(join(projectRoot, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourcesIn(path);
    return /(?<!\.d)\.(?:ts|svelte|mjs)$/.test(entry.name) ? [path] : [];
  });
}

/** The comments and test names of a source file, one text each. */
function proseOf(source: string): string[] {
  const lines = source.replaceAll(/((?:^[ \t]*\/\/ .*\n)+)/gm, (block: string) => `/* ${block.replaceAll(/^[ \t]*\/\/ /gm, '')} */\n`);
  const comments = [...lines.matchAll(/^[ \t]*\/\*+([\s\S]*?)\*\/|<!--([\s\S]*?)-->|[;,{)] \/\/ (.*)$/gm)];
  const names = [...source.matchAll(/^[ \t]*(?:test\b[\w.]*|\]\)|\}?\)\)?)\(\s*(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1/gm)];
  const texts = [
    ...comments.map(([, ...groups]) => groups.find((group) => group !== undefined) ?? ''),
    ...names.map(([, , name = '']) => name),
  ];
  return texts.map((text) => text.replaceAll(/\n[ \t]*\*?[ \t]*/g, ' ').trim());
}

test.each([...documentNames, ...referenceNames])('%s has no phrase that reads like a translation', (name) => {
  expect(findPhrases(readDocument(name))).toEqual([]);
});

test('the texts of the window have none either', () => {
  const all = textsOf(english);
  expect(all.length).toBeGreaterThan(1_000);
  expect(all.filter((text) => findPhrases(text.replaceAll('`', ' ')).length > 0)).toEqual([]);
});

test.each(sourceFolders)('comments and test names in %s have none', (folder) => {
  const found = sourcesIn(folder).flatMap((path) =>
    proseOf(readFileSync(join(projectRoot, path), 'utf8'))
      .flatMap((text) => findPhrases(text, [...phrases, ...sourcePhrases]))
      .map((phrase) => `${path}: ${phrase}`),
  );
  expect(found).toEqual([]);
});

test('finds test names and comments of every form', () => {
  const source = [
    '// One',
    '// line.',
    "const a = 'no // comment'; // Two.",
    '  /** Three. */',
    '  /**\n   * Four\n   * lines.\n   */',
    '<!-- Five. -->',
    "test('six', () => {});",
    "test.each([\n  ['x'],\n])('seven', () => {});",
    "test(\n  'eight',\n  () => {},\n);",
    'test("nine\'s", () => {});',
    'test(`ten`, () => {});',
  ];
  expect(proseOf(`${source.join('\n')}\n`).toSorted()).toEqual(
    ['One line.', 'Two.', 'Three.', 'Four lines.', 'Five.', 'six', 'seven', 'eight', "nine's", 'ten'].toSorted(),
  );
});

test.each([...phrases, ...sourcePhrases])('%s matches where it should, and only there', (_phrase, riddle, plain) => {
  const count = (text: string): number => findPhrases(text, [...phrases, ...sourcePhrases]).length;
  expect([count(riddle), count(riddle.replace(' ', '\n')), count(plain)]).toEqual([1, 1, 0]);
});
