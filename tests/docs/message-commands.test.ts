// The commands that messages, hints and findings tell a person to run exist.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Command } from 'commander';
import { createProgram } from '../../core/doors/cli/cli.ts';
import { projectRoot } from './documents.ts';

let program: Command;

beforeAll(async () => {
  program = await createProgram('0', () => Promise.resolve());
});

/** Texts that begin with the name of the program but are not command lines. */
const prose = /trayclaw (?:bring their own|\d|could not)|\$\{program\} could not/;
const named = /(?:\btrayclaw|\$\{(?:context\.)?program\}) ([a-z\d][a-z\d-]*(?: [a-z][a-z-]*)*)/g;

function problemOf(line: string): string | null {
  let command = program;
  for (const word of line.split(' ')) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    // The words behind a command are its arguments, or the rest of the sentence. A group takes none.
    if (next === undefined) return command === program || command.commands.length > 0 ? line : null;
    command = next;
  }
  return null;
}

function commandsIn(folder: string): { readonly file: string; readonly line: string }[] {
  const files = readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(?:ts|svelte)$/.test(file) && !file.includes('.test.'))
    .flatMap((file) =>
      [...readFileSync(join(projectRoot, folder, file), 'utf8').matchAll(named)]
        .filter(([text]) => !prose.test(text))
        .map((match) => ({ file, line: match[1] ?? '' })),
    );
}

test('every command that a message names exists', () => {
  const found = ['core', 'main', 'renderer'].flatMap(commandsIn);
  expect(found.length).toBeGreaterThan(150);
  expect(found.filter(({ line }) => problemOf(line) !== null)).toEqual([]);
  expect([problemOf('schedules run ID'), problemOf('schedule runs'), problemOf('schedule run')]).toEqual([
    'schedules run ID',
    'schedule runs',
    null,
  ]);
});
