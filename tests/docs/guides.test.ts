// Checks README.md and the guides against the program: the commands, options, settings and tools they name exist, and the pages stay short.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { evalFileSchema } from '../../core/contracts/features/evals.ts';
import { pipelineFileSchema } from '../../core/contracts/features/pipelines.ts';
import { workFileSchema } from '../../core/contracts/features/work.ts';
import * as z from 'zod';
import type { Command } from 'commander';
import { settingsOf } from '../../build/reference/setting-page.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { eventTypes } from '../../core/contracts/events.ts';
import { opTable } from '../../core/contracts/ops.ts';
import { createProgram } from '../../core/doors/cli/cli.ts';
import { codeBlocks, codeWords, documentNames, guideNames, projectRoot, readDocument, referenceNames } from './documents.ts';

const pages = ['README.md', 'docs/command-line.md', 'docs/servers.md', ...guideNames];
let program: Command;

beforeAll(async () => {
  program = await createProgram('0', () => Promise.resolve());
});

test.each([['README.md', 200], ['ARCHITECTURE.md', 150], ...guideNames.map((name) => [name, 150] as const)] as const)(
  '%s has at most %i lines',
  (name, max) => {
    expect(readDocument(name).trimEnd().split('\n').length).toBeLessThanOrEqual(max);
  },
);

test('README.md links to every guide and every page of the reference', () => {
  const readme = readDocument('README.md');
  expect([...guideNames, ...referenceNames].filter((name) => !readme.includes(`](${name})`))).toEqual([]);
  expect(guideNames.length).toBeGreaterThan(10);
});

test('the images of the README are small', () => {
  const pictures = [...readDocument('README.md').matchAll(/(?:src|srcset)="([^"]+\.png)"/g)].map((match) => match[1] ?? '');
  expect(pictures.length).toBeGreaterThan(0);
  for (const picture of pictures) expect(statSync(join(projectRoot, picture)).size).toBeLessThan(200_000);
});

test('what README.md calls missing is missing, and what it claims exists', () => {
  const missing = readDocument('README.md').split('## What works, and where')[1]?.split('\n## ')[0]?.replaceAll(/\s+/g, ' ') ?? '';
  const tools = readDocument('docs/reference/tools.md');
  expect(missing).toMatch(/The browser is tested with .*, ssh with .*, and the MCP server and the A2A agent with/);
  expect(tools).toContain('\n## `browser`\n');
  expect(Object.keys(opTable)).toContain('a2a.card');
  const settings = settingsOf(z.toJSONSchema(configSchema, { io: 'input' })).map(({ path }) => path);
  expect(settings).toEqual(expect.arrayContaining(['ssh.hosts.NAME.host', 'doors.a2a.enabled', 'doors.mcp.enabled']));
  expect(missing).toMatch(/email with a real mail server and IRC with a real server of Debian/);
  const channels = settingsOf(z.toJSONSchema(configSchema, { io: 'input' })).filter(({ path }) => path.startsWith('channels.'));
  expect(new Set(channels.map(({ path }) => path.split('.')[1]))).toEqual(new Set(['telegram', 'discord', 'email']));
});

/** Command lines after the word `trayclaw`, from prose and code blocks. */
function commandLines(name: string): string[] {
  const text = readDocument(name);
  const sources = [...codeBlocks(text, 'sh').flatMap((block) => block.split('\n')), ...codeWords(text)];
  return sources.flatMap((source) => {
    const line = source.replace(/\s+#.*$/, '').replace(/(?<=;).*$/, '');
    return [...line.matchAll(/(?:^|[|`] ?|&& |npm run )trayclaw (?:-- )?(.+)$/g)].map((match) => match[1] ?? '');
  });
}

/** The part of a command line that the command tree does not contain; null if it is valid. */
function problemOf(line: string): string | null {
  // The words after two dashes belong to another program.
  const words = line.replace(/ -- .*$/, '').match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  let command = program;
  let at = 0;
  for (; at < words.length; at += 1) {
    const next = command.commands.find((sub) => sub.name() === words[at] || sub.aliases().includes(words[at] ?? ''));
    if (next === undefined) break;
    command = next;
  }
  const rest = words.slice(at);
  const options = [...command.options, ...program.options];
  const unknown = rest.filter((word) => /^--?[a-z]/.test(word) && !options.some((option) => option.long === word || option.short === word));
  if (unknown.length > 0) return `${unknown.join(' ')} in: ${line}`;
  if (command === program) return rest[0]?.startsWith('-') === true ? null : `no command: ${line}`;
  const plain = rest.find((word) => !word.startsWith('-'));
  // A command group without a subcommand, or with an unknown one.
  if (command.commands.length > 0 && plain !== undefined) return `no command: ${line}`;
  return plain !== undefined && command.registeredArguments.length === 0 && command.options.length === 0
    ? `takes no argument: ${line}`
    : null;
}

test.each(pages)('every command and option in %s exists', (name) => {
  expect(
    commandLines(name)
      .map(problemOf)
      .filter((problem) => problem !== null),
  ).toEqual([]);
});

/** zsh refuses a line with a pattern that matches no file, and quotes keep it from every shell. */
test.each(pages)('no command in %s has an unquoted pattern', (name) => {
  const lines = codeBlocks(readDocument(name), 'sh').flatMap((block) => block.split('\n'));
  const bare = (line: string): string => line.replaceAll(/'[^']*'|"[^"]*"/g, '').replace(/(?:^|\s)#.*$/, '');
  expect(lines.filter((line) => line.includes('trayclaw') && /[*?[\]]/.test(bare(line)))).toEqual([]);
});

test('the check of command lines sees many, and detects a wrong word', () => {
  expect(pages.flatMap(commandLines).length).toBeGreaterThan(120);
  expect(problemOf('memory promote ID')).toBeNull();
  expect(problemOf('memory promotes ID')).toBe('no command: memory promotes ID');
  expect(problemOf('ask "x" --colour red')).toBe('--colour in: ask "x" --colour red');
  expect(problemOf('paint')).toBe('no command: paint');
});

test.each(pages)('the tasks, evals and pipelines in %s match their schemas', (name) => {
  const schemas = { task: workFileSchema, evals: evalFileSchema, pipeline: pipelineFileSchema };
  const problems = codeBlocks(readDocument(name), 'yaml').flatMap((block) => {
    const kind = /^# (task|evals|pipeline) /.exec(block)?.[1];
    const checked = kind === undefined ? null : schemas[kind as keyof typeof schemas].safeParse(parse(block));
    return checked === null || checked.success ? [] : [`${kind ?? ''}: ${checked.error.message}`];
  });
  expect(problems).toEqual([]);
});

test.each(pages)('the YAML in %s is a valid config.yaml', (name) => {
  const blocks = codeBlocks(readDocument(name), 'yaml').filter((block) => !/^# (?:skill|task|evals|pipeline) /.test(block));
  const problems = blocks.map((block) => configSchema.safeParse(parse(block)).error?.message);
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

test('every setting, operation and event named in a document exists', () => {
  const settings = settingsOf(z.toJSONSchema(configSchema, { io: 'input' })).map(({ path }) => path);
  const sections = new Set(settings.map((path) => path.split('.')[0] ?? ''));
  const others = [...Object.keys(opTable), ...eventTypes];
  const wrong = (word: string): boolean => {
    const path = /^([a-z]\w*(?:\.\w+)+)(?::? .*)?$/.exec(word)?.[1];
    if (path === undefined || !sections.has(path.split('.')[0] ?? '') || /\.(?:ts|mjs|md|json|yaml|vault)$/.test(path)) return false;
    const own = path.replace(/^(prompts|providers)\.(?!NAME)\w+/, '$1.NAME');
    return !settings.some((setting) => setting === own || setting.startsWith(`${own}.`)) && !others.includes(path);
  };
  expect(wrong('limits.steps')).toBe(false);
  expect(wrong('limits.stepz')).toBe(true);
  expect(
    pages.flatMap((name) =>
      codeWords(readDocument(name))
        .filter(wrong)
        .map((word) => `${name}: ${word}`),
    ),
  ).toEqual([]);
});

/** Anchors as GitHub generates them. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

test.each([...documentNames, ...referenceNames])('every anchor that %s links to exists', (name) => {
  const links = [...readDocument(name).matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)].filter(([, target = '']) => !target.startsWith('http'));
  const missing = links.filter(([, target = '', anchor = '']) => {
    const file = target === '' ? join(projectRoot, name) : join(projectRoot, dirname(name), target);
    return !existsSync(file) || !anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});
