// Describes the effects of a command that exceed what the skill declares whose script it runs. Pure.

import { basename } from 'node:path';
import { coversHost } from '../../base/hosts-in-text.ts';
import { isInside } from '../../base/inside-folder.ts';
import { bindingsOf, type ScriptBounds } from '../../contracts/tools.ts';
import type { CommandAnalysis } from '../../guard/command/command.ts';

/** Programs that only start another program, which is checked as well. */
const starters: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'env']);

/** Null if the command stays within its bounds. */
export function beyondBounds(bounds: ScriptBounds, analysis: CommandAnalysis): string | null {
  const { skill, hosts, folders, undeclaredHosts, runsCommands } = bounds;
  const reached = new Set([...analysis.hosts.filter((host) => !coversHost(hosts, host)), ...undeclaredHosts]);
  const written = analysis.paths.filter(({ access, insideWorkspace, real }) => access === 'write' && !insideWorkspace && !folders.some((one) => isInside(real, one))); // prettier-ignore
  const programs = otherPrograms(bounds, analysis);
  const parts = [
    ...(runsCommands ? [] : ['runs commands']),
    ...(programs.length === 0 ? [] : [`starts ${programs.slice(0, 5).join(', ')}`]),
    ...(reached.size === 0 ? [] : [`may reach ${[...reached].slice(0, 5).join(', ')}`]),
    ...(written.length === 0 ? [] : [`changes ${written.map(({ given }) => given).slice(0, 3).join(', ')}`]), // prettier-ignore
  ];
  return parts.length === 0
    ? null
    : `It runs a script of the skill ${skill} and ${parts.join(' and ')}, which that skill does not declare.`;
}

function otherPrograms({ commands, ownFolder }: ScriptBounds, { fact }: CommandAnalysis): string[] {
  if (commands.length === 0) return [];
  const started = (bindingsOf(fact) ?? []).filter(({ kind, name }) => kind === 'program' && !isInside(name, ownFolder));
  const called = basename(fact.plain?.argv[0] ?? '');
  const isDeclared = (name: string): boolean =>
    starters.has(name) || commands.some((one) => name === one || called === one || (name.startsWith(one) && /^[\d.]+$/.test(name.slice(one.length)))); // prettier-ignore
  return [...new Set(started.map(({ name }) => basename(name)))].filter((name) => !isDeclared(name));
}
