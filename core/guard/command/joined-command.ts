// Derives the known effects of a joined line from those of its parts. Unless the line only changes files, every part but the last must only
// read, so that the line itself cannot change what a later part does. Otherwise the whole line needs approval.

import { readsRepository, type JoinedCommand, type PathFact, type PlainCommand } from '../../contracts/tools.ts';
import type { JoinedPart } from './joined-line.ts';
import type { PlainLook } from './plain-command.ts';

/** A part, and the file that its first word resolves to. */
export interface LookedAt {
  readonly part: JoinedPart;
  readonly file: string;
  readonly look: PlainLook;
  /** Files that the part reads as its input. */
  readonly inputs: readonly PathFact[];
  /** Files that the part writes its output to. */
  readonly outputs: readonly PathFact[];
}

export interface JoinedLook {
  readonly joined: JoinedCommand;
  readonly paths: readonly PathFact[];
  readonly risks: readonly string[];
  /** The same commands, with each program replaced by the file that was checked. */
  readonly line: string;
  /** Added to the environment that every child process gets. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Returns null if the line is not as safe as its parts. `onlyChangesFiles` tells of a line that changes files, and nothing else. */
export function lookAtJoined(parts: readonly LookedAt[], onlyChangesFiles: boolean): JoinedLook | null {
  const plains = parts.map(({ look }) => look.plain);
  const writes = [
    ...plains.flatMap((plain) => plain.writes ?? []),
    ...parts.flatMap(({ outputs }) => outputs.map(() => 'writes output to files')),
  ];
  // No grant for a command that reads covers a line that writes.
  if (onlyChangesFiles) return wholeLook(parts, { reads: null, writes: listTexts(writes), needs: [], bindings: bindingsOf(plains) });
  if (parts.some(({ outputs }) => outputs.length > 0)) return null;
  // A git command that needs no approval still needs what every git command needs: its own environment, and confinement.
  const asked = plains.filter(({ reads, family }) => reads === null || readsRepository(family));
  const isPiped = parts.some(({ part }) => part.joint === '|');
  const looksOnly = asked.every(({ family }) => readsRepository(family));
  const last = plains.at(-1);
  const changesAtMostLast = asked.length === 1 && asked[0] === last && last?.family !== null && !isPiped;
  if (!looksOnly && !changesAtMostLast) return null;
  const needs = asked.flatMap(({ family, bindings }) => (family === null ? [] : [{ family, bindings }]));
  const reads = plains.every((plain) => plain.reads !== null) ? listTexts(plains.flatMap((plain) => plain.reads ?? [])) : null;
  return wholeLook(parts, { reads, needs, bindings: bindingsOf(needs.length > 0 ? needs : plains) });
}

function wholeLook(parts: readonly LookedAt[], joined: JoinedCommand): JoinedLook {
  return {
    joined,
    paths: parts.flatMap(({ look, inputs, outputs }) => [...inputs, ...look.paths, ...outputs]),
    risks: [...new Set(parts.flatMap(({ look }) => look.risks))],
    line: parts.map(writePart).join(' '),
    environment: Object.assign({}, ...parts.map(({ look }) => look.environment)) as Record<string, string>,
  };
}

function listTexts(texts: readonly string[]): string {
  const all = [...new Set(texts)];
  const last = all.pop() ?? '';
  return all.length === 0 ? last : `${all.join(', ')} and ${last}`;
}

function writePart({ part, file }: LookedAt): string {
  const [, ...args] = part.argv;
  const joint = part.joint === null ? [] : [part.joint];
  return [...joint, ...[file, ...args].map(quote), ...part.redirects].join(' ');
}

export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function bindingsOf(commands: readonly Pick<PlainCommand, 'bindings'>[]): PlainCommand['bindings'] {
  const bindings = commands.flatMap((command) => command.bindings);
  return [...new Map(bindings.map((binding) => [`${binding.kind} ${binding.name} ${binding.sha256}`, binding])).values()];
}
