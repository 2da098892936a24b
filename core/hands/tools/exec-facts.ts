// Gathers the facts of a command for the gate and checks them again right before it starts: the same command runs from the same programs
// and files, or nothing runs. Decides nothing about permission.

import { basename } from 'node:path';
import { coversHost } from '../../base/hosts-in-text.ts';
import { isInside } from '../../base/inside-folder.ts';
import { canonicalJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import {
  bindingsOf,
  type CallFacts,
  type FactContext,
  type PathFact,
  readsAlone,
  readsOf,
  type ScriptBounds,
} from '../../contracts/tools.ts';
import { type CommandAnalysis, type CommandAnalyst, outsideFile, placesNamedBy } from '../../guard/command/command.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { childEnvironment, type Environment } from './child-environment.ts';
import type { Runnable } from './shell-command.ts';

export interface ExecFactsOptions {
  readonly paths: CheckedPaths;
  readonly analyst: CommandAnalyst;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** Returns why a command must not run with these files; null if it may. */
  readonly refuses?: (paths: readonly string[]) => string | null;
  /** Returns the bounds of the skill to which one of these files belongs; null if none does. */
  readonly boundsOf?: (paths: readonly string[]) => ScriptBounds | null;
}

export interface CommandCall {
  readonly command: string;
  readonly cwd: string;
}

/** The checked form in which a command is started. */
export interface ConfirmedCommand {
  readonly cwd: string;
  readonly run: Runnable;
  /** Set in addition to the variables that every child gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Describes what the command reads, if it is known to do nothing else and to run nothing of the project. */
  readonly reads: string | null;
  /** True if the command is useless while parts of the machine are hidden. */
  readonly needsWholeMachine: boolean;
  /** The program that may bring in text from outside this machine; null if there is none. */
  readonly foreign: string | null;
  /** The file outside the opened folders that the command may take text from, though it is not known to only read; null for none. */
  readonly outside: string | null;
  /** The bounds of the skill under whose name it runs; null for none, and if a person allowed more. */
  readonly bounds: ScriptBounds | null;
}

export class ExecFacts {
  readonly #options: ExecFactsOptions;
  readonly #shown = new WeakMap<object, CallFacts>();

  constructor(options: ExecFactsOptions) {
    this.#options = options;
  }

  /** The facts of a call, remembered by the call's own argument object. */
  of(args: object, call: CommandCall, context: FactContext): CallFacts {
    const { facts, cwd } = this.#look(call, context);
    this.#options.paths.remember(args, cwd);
    this.#shown.set(args, facts);
    return facts;
  }

  /** The current folder to run in. Fails with `tool_failed` if it is not the one in the facts. */
  folderOf(args: object, cwd: string, context: FactContext): string {
    return this.#options.paths.confirm(args, cwd, 'read', context).real;
  }

  /** The command to start now. Fails with `tool_failed` if it no longer matches the facts. */
  confirm(args: object, call: CommandCall, context: FactContext): ConfirmedCommand {
    // Checks only that the folder of the call is still the one shown; the command itself may enter another.
    this.folderOf(args, call.cwd, context);
    const { facts, analysis, bounds } = this.#look(call, context);
    const shown = this.#shown.get(args);
    if (shown !== undefined && canonicalJson(shown) !== canonicalJson(facts)) {
      throw new AppError('tool_failed', 'What this command would run or touch has changed since it was checked.', {
        hint: 'Nothing was done. Look again, then repeat the call.',
      });
    }
    const { launch, fact } = analysis;
    const { needsWholeMachine } = analysis;
    const kept = facts.beyond === undefined ? bounds : null;
    const brings =
      readsOf(fact) === null
        ? { foreign: analysis.foreign, outside: outsideFile(fact, this.#options.paths.commandPlaces(context)) }
        : { foreign: null, outside: null };
    const { environment } = launch;
    return { cwd: fact.cwd, run: launch, environment, reads: readsAlone(fact), needsWholeMachine, ...brings, bounds: kept };
  }

  #look(call: CommandCall, context: FactContext): Looked {
    const { paths, analyst, environment, platform } = this.#options;
    const places = paths.commandPlaces(context);
    const cwd = places.given(call.cwd);
    const child = childEnvironment(environment, {}, platform);
    const analysis = analyst.analyse({ line: call.command, cwd: cwd.real, environment: child }, places);
    const files = filesRunBy(analysis);
    const used = files === null ? [] : [...analysis.paths.map(({ real }) => real), ...files, ...placesNamedBy(analysis.fact)];
    const refused = this.#options.refuses?.(used) ?? null;
    const bounds = files === null ? null : (this.#options.boundsOf?.(files) ?? null);
    const beyond = bounds === null ? null : beyondBounds(bounds, analysis);
    const facts: CallFacts = {
      class: analysis.class,
      paths: [cwd, ...analysis.paths],
      command: analysis.fact,
      hosts: [...analysis.hosts],
      ...(analysis.risks.length === 0 ? {} : { risks: [...analysis.risks] }),
      ...(analysis.runsFetched ? { runsFetched: true as const } : {}),
      ...(analysis.does === null ? {} : { does: analysis.does, told: analysis.told }),
      ...(refused === null ? {} : { refused }),
      ...(beyond === null ? {} : { beyond }),
    };
    return { facts, cwd, analysis, bounds };
  }
}

interface Looked {
  readonly facts: CallFacts;
  readonly cwd: PathFact;
  readonly analysis: CommandAnalysis;
  readonly bounds: ScriptBounds | null;
}

/**
 * The files that decide what the command does, or the files it names if those are unknown. Null for a command that is known to only read,
 * which may open any file.
 */
function filesRunBy({ fact, paths }: CommandAnalysis): readonly string[] | null {
  if (readsOf(fact) !== null) return null;
  const bindings = bindingsOf(fact);
  if (bindings === null) return paths.map(({ real }) => real);
  return bindings.filter(({ kind }) => kind !== 'environment').map(({ name }) => name);
}

// Describes the effects of a command that exceed what the skill declares whose script it runs. Pure.

/** Programs that only start another program, which is checked as well. */
const starters: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'env']);

/** Null if the command stays within its bounds. */
function beyondBounds(bounds: ScriptBounds, analysis: CommandAnalysis): string | null {
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
